import { fieldError } from '../../core/errors.ts'
import { toCredits } from '../../core/money.ts'
import { parseField } from '../../formats/field-error.ts'
import { parseJsonBody } from '../../json/json-body.ts'
import { percentileOf } from '../../insight/log/latency-bins.ts'
import type {
  CallColumn,
  CallSums,
  ColumnFilter,
  UsageColumn,
  UsageSums,
} from '../../insight/spend/sums-repository.ts'
import { cutSpan } from '../../insight/spend/time-buckets.ts'
import { csvLine } from '../csv.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { type Authenticated, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'
import { readBody, requireJson } from '../request-body.ts'
import {
  analyticsDimensions,
  analyticsGranularities,
  type AnalyticsMetric,
  analyticsMetrics,
  analyticsOperators,
  analyticsQuerySchema,
  analyticsRowsUsual,
} from '../schemas/analytics.ts'

const questionBytesMax = 262_144
const usualMs = 30 * 86_400_000

type Parts = Pick<HttpDependencies, 'insight' | 'clock'>
type Question = ReturnType<typeof analyticsQuerySchema.parse>

/** Sums for programs, for management keys. */
export function analyticsRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { group: 'settings', access: 'management' } as const
  return [
    {
      ...common,
      method: 'GET',
      path: '/analytics/meta',
      name: 'analytics_meta',
      handle: withPrincipal(() => jsonResponse(meta)),
    },
    {
      ...common,
      method: 'POST',
      path: '/analytics/query',
      name: 'analytics_query',
      handle: withPrincipal((exchange) => query(exchange, dependencies)),
    },
  ]
}

/** The whole vocabulary of a question. */
export const meta = {
  data: {
    metrics: Object.entries(analyticsMetrics).map(([name, { label, format, isRate }]) => ({
      name,
      display_label: label,
      display_format: format,
      is_rate: isRate,
    })),
    dimensions: Object.entries(analyticsDimensions).map(([name, { label }]) => ({
      name,
      display_label: label,
    })),
    granularities: Object.entries(analyticsGranularities).map(([name, label]) => ({
      name,
      display_label: label,
    })),
    operators: Object.entries(analyticsOperators).map(([name, type]) => ({ name, value_type: type })),
  },
}

type Row = Record<string, string | number | null>

async function query({ principal, request }: Authenticated, { insight, clock }: Parts): Promise<Response> {
  requireJson(request)
  const question = parseField(
    analyticsQuerySchema,
    '',
    parseJsonBody(await readBody(request, questionBytesMax)),
  )
  const startedMs = clock.monotonicMs()
  const { organizationId } = principal
  const zone = question.headrace?.time_zone ?? 'UTC'
  // Without a granularity there is one bucket: a month long enough for any span would still be cut.
  const buckets = cutSpan({
    ...spanOf(question, clock.nowMs()),
    bucket: question.granularity ?? 'month',
    zone,
    names: {
      bucket: question.granularity === undefined ? 'time_range' : 'granularity',
      zone: 'headrace.time_zone',
    },
  })
  const columns = (question.dimensions ?? []).map((name) => analyticsDimensions[name].column)
  const filters = await filtersOf(question, organizationId, insight)
  const asked = { organizationId, runs: buckets.runs }
  // One after the other, as in an overview.
  const usages = await insight.sums.sumUsage({ ...asked, columns, filters })
  const calls = needsCalls(question)
    ? await insight.sums.sumCalls({ ...asked, ...callParts(columns, filters) })
    : []
  const cells = joinSums(usages, calls, question.granularity !== undefined)
  const { rows, isCut } = orderRows(
    [...cells.values()].map((cell) => toRow(cell, buckets.starts, question)),
    question,
  )
  const isCsv =
    question.headrace?.format === 'csv' || request.headers.get('accept')?.includes('text/csv') === true
  if (isCsv) return csvOf(rows, question)
  return jsonResponse({
    data: {
      data: rows,
      metadata: {
        query_time_ms: Math.round(clock.monotonicMs() - startedMs),
        row_count: rows.length,
        truncated: isCut,
      },
      warnings: [],
    },
  })
}

function spanOf({ time_range: range }: Question, nowMs: number): { fromMs: number; toMs: number } {
  if (range === undefined) return { fromMs: nowMs - usualMs, toMs: nowMs }
  const span = { fromMs: Date.parse(range.start), toMs: Date.parse(range.end) }
  if (span.fromMs >= span.toMs) throw fieldError('time_range.start', 'must be before "time_range.end".')
  return span
}

async function filtersOf(
  { filters = [] }: Question,
  organizationId: string,
  { names }: Parts['insight'],
): Promise<ColumnFilter<UsageColumn>[]> {
  const known: ColumnFilter<UsageColumn>[] = []
  for (const [index, { field, operator, value, include_unset }] of filters.entries()) {
    const { column } = analyticsDimensions[field]
    const takesList = analyticsOperators[operator] === 'array'
    if (takesList !== Array.isArray(value))
      throw fieldError(
        `filters[${index}].value`,
        takesList ? `must be a list for ${operator}.` : `must be one value for ${operator}.`,
      )
    const texts = (Array.isArray(value) ? value : [value]).map(String)
    const isNegated = operator === 'neq' || operator === 'not_in'
    const values = column === 'key_id' ? await names.keyIds(organizationId, texts) : texts
    // Rows without a value have an empty one.
    known.push({ column, isNegated, values: include_unset === true && !isNegated ? [...values, ''] : values })
  }
  return known
}

const callMetrics: ReadonlySet<AnalyticsMetric> = new Set([
  'error_count',
  'error_rate',
  'latency_p50',
  'latency_p95',
])

function needsCalls({ metrics }: Question): boolean {
  return metrics.some((metric) => callMetrics.has(metric))
}

/** The log of calls has sums by fewer columns than the ledger. Throws `invalid_request` where it lacks one. */
function callParts(columns: readonly UsageColumn[], filters: readonly ColumnFilter<UsageColumn>[]) {
  const other = [...columns, ...filters.map(({ column }) => column)].find((column) => !isKept(column))
  if (other !== undefined)
    throw fieldError(
      'metrics',
      'of errors and times are kept by model, provider and key alone; leave out the other dimensions and filters.',
    )
  return {
    columns: columns.filter(isKept),
    filters: filters.flatMap((filter) =>
      isKept(filter.column) ? [{ ...filter, column: filter.column }] : [],
    ),
  }
}

function isKept(column: UsageColumn): column is CallColumn {
  return column === 'key_id' || column === 'model' || column === 'provider'
}

interface Cell {
  bucket: number
  values: readonly string[]
  usage: UsageSums | null
  calls: CallSums | null
}

/** Joins both sums by bucket and group; without a granularity all buckets are one. */
function joinSums(
  usages: readonly UsageSums[],
  calls: readonly CallSums[],
  byTime: boolean,
): Map<string, Cell> {
  const cells = new Map<string, Cell>()
  const cellOf = ({ bucket, values }: UsageSums | CallSums): Cell => {
    const name = JSON.stringify(byTime ? [bucket, ...values] : values)
    const cell = cells.get(name) ?? { bucket, values, usage: null, calls: null }
    cells.set(name, cell)
    return cell
  }
  for (const usage of usages) {
    const cell = cellOf(usage)
    cell.usage = cell.usage === null ? usage : addUsage(cell.usage, usage)
  }
  for (const sums of calls) {
    const cell = cellOf(sums)
    cell.calls = cell.calls === null ? sums : addCalls(cell.calls, sums)
  }
  return cells
}

function addUsage(left: UsageSums, right: UsageSums): UsageSums {
  return {
    ...left,
    requests: left.requests + right.requests,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    reasoningTokens: left.reasoningTokens + right.reasoningTokens,
    audioMilliseconds: left.audioMilliseconds + right.audioMilliseconds,
    characters: left.characters + right.characters,
    costNanocredits: left.costNanocredits + right.costNanocredits,
  }
}

function addCalls(left: CallSums, right: CallSums): CallSums {
  return {
    ...left,
    requests: left.requests + right.requests,
    failed: left.failed + right.failed,
    refused: left.refused + right.refused,
    cancelled: left.cancelled + right.cancelled,
    bins: left.bins.map((count, index) => count + (right.bins[index] ?? 0)),
  }
}

function toRow(
  cell: Cell,
  starts: readonly number[],
  { dimensions = [], metrics, granularity }: Question,
): Row {
  const row: Row = {}
  if (granularity !== undefined) row['date'] = new Date(starts[cell.bucket] ?? 0).toISOString()
  for (const [index, name] of dimensions.entries()) row[name] = cell.values[index] || null
  for (const metric of metrics) row[metric] = measure[metric](cell)
  // The sum to the last digit: a number of credits may be rounded.
  if (metrics.includes('usage')) row['usage_nanocredits'] = (cell.usage?.costNanocredits ?? 0n).toString()
  return row
}

const errorsOf = ({ calls }: Cell): number => (calls === null ? 0 : calls.failed + calls.refused)

const measure: Readonly<Record<AnalyticsMetric, (cell: Cell) => number | null>> = {
  usage: ({ usage }) => toCredits(usage?.costNanocredits ?? 0n),
  request_count: ({ usage }) => usage?.requests ?? 0,
  tokens_prompt: ({ usage }) => usage?.inputTokens ?? 0,
  tokens_completion: ({ usage }) => usage?.outputTokens ?? 0,
  tokens_total: ({ usage }) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
  tokens_reasoning: ({ usage }) => usage?.reasoningTokens ?? 0,
  audio_seconds: ({ usage }) => (usage?.audioMilliseconds ?? 0) / 1_000,
  characters: ({ usage }) => usage?.characters ?? 0,
  error_count: errorsOf,
  error_rate: (cell) =>
    cell.calls === null || cell.calls.requests === 0 ? null : errorsOf(cell) / cell.calls.requests,
  latency_p50: ({ calls }) => (calls === null ? null : percentileOf(calls.bins, 0.5)),
  latency_p95: ({ calls }) => (calls === null ? null : percentileOf(calls.bins, 0.95)),
}

/** By time, then by falling first metric, unless asked otherwise; bounded. */
function orderRows(rows: readonly Row[], question: Question): { rows: Row[]; isCut: boolean } {
  const { metrics, dimensions = [], order_by: asked, limit = analyticsRowsUsual } = question
  const known: readonly string[] = [
    ...metrics,
    ...dimensions,
    ...(question.granularity === undefined ? [] : ['date']),
  ]
  if (asked !== undefined && !known.includes(asked.field))
    throw fieldError('order_by.field', `must be of the question: ${known.join(', ')}.`)
  const compare = (field: string, sign: number) => (left: Row, right: Row) =>
    sign * compareCells(left[field], right[field])
  const usual = compare(metrics[0] ?? 'usage', -1)
  const first = asked ? compare(asked.field, asked.direction === 'asc' ? 1 : -1) : compare('date', 1)
  const sorted = rows.toSorted((left, right) => first(left, right) || usual(left, right))
  const kept =
    question.group_limit === undefined ? sorted : withinGroups(sorted, dimensions, question.group_limit)
  return { rows: kept.slice(0, limit), isCut: kept.length > limit || kept.length < sorted.length }
}

function withinGroups(rows: readonly Row[], dimensions: readonly string[], most: number): Row[] {
  if (dimensions.length === 0) return [...rows]
  const counts = new Map<string, number>()
  return rows.filter((row) => {
    const name = JSON.stringify(dimensions.map((dimension) => row[dimension]))
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count <= most
  })
}

function compareCells(left: Row[string] | undefined, right: Row[string] | undefined): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  const [first, second] = [String(left ?? ''), String(right ?? '')]
  if (first === second) return 0
  return first < second ? -1 : 1
}

function csvOf(rows: readonly Row[], { dimensions = [], metrics, granularity }: Question): Response {
  const heads = [
    ...(granularity === undefined ? [] : ['date']),
    ...dimensions,
    ...metrics,
    ...(metrics.includes('usage') ? ['usage_nanocredits'] : []),
  ]
  const lines = rows.map((row) => csvLine(heads.map((head) => row[head] ?? null)))
  return new Response([csvLine(heads), ...lines].join(''), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="analytics.csv"',
    },
  })
}
