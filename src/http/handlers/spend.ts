import { fieldError } from '../../core/errors.ts'
import { sumSpend, type SpendFigures, type SpendGroup } from '../../insight/spend/spend.ts'
import type { CallColumn, ColumnFilter } from '../../insight/spend/sums-repository.ts'
import { type BucketName, bucketNames, cutSpan } from '../../insight/spend/time-buckets.ts'
import { sumUsersSpend, usersExactMs } from '../../insight/spend/users.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { choiceOf, spanOf, textOf, valuesOf, wholeOf } from '../list-query.ts'
import { type Authenticated, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'

const dayMs = 86_400_000
const weekMs = 7 * dayMs
const topMax = 20
const topUsual = 8

type Parts = Pick<HttpDependencies, 'insight' | 'clock'>

/** What was spent, over time and by group, for management keys. */
export function spendRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog', access: 'management' } as const
  return [
    {
      ...common,
      path: '/headrace/spend',
      name: 'spend',
      handle: withPrincipal((exchange) => readSpend(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/spend/ledger',
      name: 'spend_ledger',
      handle: withPrincipal((exchange) => compareWithLedger(exchange, dependencies)),
    },
  ]
}

const columnOf = { model: 'model', key: 'key_id', provider: 'provider' } as const satisfies Record<
  string,
  CallColumn
>

async function readSpend({ principal, query }: Authenticated, { insight, clock }: Parts): Promise<Response> {
  const given = query()
  const { organizationId } = principal
  const span = spanOf(given, { nowMs: clock.nowMs(), usualMs: weekMs })
  const zone = textOf(given, 'zone') ?? 'UTC'
  const usual: BucketName = span.toMs - span.fromMs > 3 * dayMs ? 'day' : 'hour'
  const bucket = choiceOf(given, 'bucket', bucketNames, usual)
  const by = choiceOf(given, 'by', ['model', 'key', 'provider', 'user', 'none'], 'model')
  const top = wholeOf(given, 'top', { min: 1, max: topMax, usual: topUsual })
  const buckets = cutSpan({ ...span, bucket, zone })
  const filters = await filtersOf(given, organizationId, insight)
  if (by === 'user' && filters.length > 0)
    throw fieldError('by', 'takes "user" only without filters: users are summed over all keys and models.')
  const column = by === 'none' || by === 'user' ? null : columnOf[by]
  const spend = await sumSpend({ organizationId, buckets, by: column, filters, top }, insight.sums)
  const users =
    by === 'user'
      ? await sumUsersSpend(
          { organizationId, buckets, top, nowMs: clock.nowMs(), total: spend.total },
          insight.users,
        )
      : null
  const groups = users ?? spend.groups
  const names = await groupNames(by, groups, organizationId, insight)
  const [fromMs = span.fromMs] = buckets.starts
  const lengthMs = buckets.endMs - fromMs
  const before = cutSpan({
    fromMs: Math.max(0, fromMs - lengthMs),
    toMs: fromMs,
    bucket: 'month',
    zone: 'UTC',
  })
  const earlier = await sumSpend({ organizationId, buckets: before, by: null, filters, top }, insight.sums)
  return jsonResponse({
    data: {
      from: new Date(fromMs).toISOString(),
      to: new Date(buckets.endMs).toISOString(),
      bucket,
      zone,
      by,
      buckets: buckets.starts.map((atMs) => new Date(atMs).toISOString()),
      total: shownFigures(spend.total),
      before: shownFigures(earlier.total),
      over_time: overTime(spend.total),
      groups: groups.map((group) => ({
        id: group.id,
        name: group.id === null ? 'Other' : (names.get(group.id) ?? (group.id === '' ? 'None' : group.id)),
        is_other: group.id === null,
        ...(by === 'user' ? withoutErrors(group) : { ...shownFigures(group), over_time: overTime(group) }),
      })),
      warnings: by === 'user' ? userWarnings(fromMs, clock.nowMs()) : [],
    },
  })
}

async function filtersOf(
  query: URLSearchParams,
  organizationId: string,
  { names }: Parts['insight'],
): Promise<ColumnFilter<CallColumn>[]> {
  const filters: ColumnFilter<CallColumn>[] = []
  for (const name of ['model', 'key', 'provider'] as const) {
    const values = valuesOf(query, name)
    if (values.length === 0) continue
    const known = name === 'key' ? await names.keyIds(organizationId, values) : values
    filters.push({ column: columnOf[name], isNegated: false, values: known })
  }
  return filters
}

async function groupNames(
  by: string,
  groups: readonly SpendGroup[],
  organizationId: string,
  { names, providerNames }: Parts['insight'],
): Promise<ReadonlyMap<string, string>> {
  if (by === 'provider') return providerNames
  if (by !== 'key') return new Map()
  return names.keyNames(
    organizationId,
    groups.flatMap(({ id }) => (id === null ? [] : [id])),
  )
}

function userWarnings(fromMs: number, nowMs: number): string[] {
  const charged =
    'Users are summed over calls that were charged. Calls that failed or were refused are in the total alone.'
  const exact =
    'Users are exact in the last 7 days. Before that, each day (UTC) tells its 1,000 largest; the others are one group.'
  return fromMs < nowMs - usersExactMs ? [charged, exact] : [charged]
}

/** Figures of an end user, whose failed calls are not known. */
function withoutErrors(group: SpendGroup) {
  const time = overTime(group)
  return {
    ...shownFigures(group),
    errors: null,
    over_time: { ...time, errors: time.errors.map(() => null) },
  }
}

function shownFigures(figures: SpendFigures) {
  return {
    cost_nanocredits: figures.costNanocredits.toString(),
    charged_requests: figures.chargedRequests,
    requests: figures.requests,
    errors: figures.errors,
    p50_ms: figures.p50Ms,
    p95_ms: figures.p95Ms,
    prompt_tokens: figures.inputTokens,
    completion_tokens: figures.outputTokens,
  }
}

function overTime({ overTime: cells }: SpendGroup) {
  return {
    cost_nanocredits: cells.map(({ costNanocredits }) => costNanocredits.toString()),
    requests: cells.map(({ requests }) => requests),
    errors: cells.map(({ errors }) => errors),
    p50_ms: cells.map(({ p50Ms }) => p50Ms),
    p95_ms: cells.map(({ p95Ms }) => p95Ms),
  }
}

/** Whole days (UTC) whose postings may be summed at once: they are read one by one. */
const ledgerDaysMax = 31

/** Whether the sums of whole days (UTC) equal the postings of the ledger, which are summed one by one for it. */
async function compareWithLedger(
  { principal, query }: Authenticated,
  { insight, clock }: Parts,
): Promise<Response> {
  const { organizationId } = principal
  const span = spanOf(query(), { nowMs: clock.nowMs(), usualMs: weekMs })
  const fromDay = Math.floor(span.fromMs / dayMs)
  const toDay = Math.ceil(span.toMs / dayMs)
  if (toDay - fromDay > ledgerDaysMax)
    throw fieldError('from', `and "to" may be at most ${ledgerDaysMax} days (UTC) apart.`)
  const buckets = cutSpan({ fromMs: fromDay * dayMs, toMs: toDay * dayMs, bucket: 'day', zone: 'UTC' })
  const asked = { organizationId, runs: buckets.runs, columns: [], filters: [] }
  const sumNow = async () => {
    let cost = 0n
    for (const { costNanocredits } of await insight.sums.sumUsage(asked)) cost += costNanocredits
    return cost
  }
  // Two reads at two moments: calls that are charged between them make the first differ, so both sides are read again.
  for (let tries = 1; ; tries++) {
    const before = await sumNow()
    const ledger = await insight.postings.sumCharged(organizationId, fromDay, toDay)
    const after = await sumNow()
    if (before !== after && tries < comparisonsMax) continue
    return jsonResponse({
      data: {
        from: new Date(fromDay * dayMs).toISOString(),
        to: new Date(toDay * dayMs).toISOString(),
        rollups_nanocredits: before.toString(),
        ledger_nanocredits: ledger.toString(),
        equals: ledger >= before && ledger <= after,
      },
    })
  }
}

const comparisonsMax = 3
