import { outcomes, type LoggedOutcome, beganAtMs } from '../../insight/log/log-row.ts'
import { type Search, searchRequests } from '../../insight/log/request-search.ts'
import {
  createRequestSearchRepository,
  type LogFilter,
  type LoggedCall,
  type RequestSearchRepository,
} from '../../insight/log/request-search-repository.ts'
import { createNamesRepository } from '../../insight/names-repository.ts'
import { dollars, duration, durationOf, timestamp } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import type { CliStorage, CommandContext } from '../context.ts'
import { usageFailure } from '../failure.ts'
import { listenForInterruption } from '../interruption.ts'
import { findOrganization, withStorage } from '../local-storage.ts'
import { createPaint, printable } from '../paint.ts'
import { suggestionFor } from '../suggestion.ts'
import { renderTable } from '../table.ts'

/** Rows that are printed at most, and unless told otherwise. */
const rowsMax = 100_000
const rowsUsual = 50
/** Rows that one search returns. */
const pageRows = 1_000
/** How often `--follow` looks, and the newest rows that it looks at. */
const followEveryMs = 1_000
const followRows = 200

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const options = {
  since: text,
  outcome: text,
  status: text,
  model: text,
  provider: text,
  key: text,
  user: text,
  session: text,
  error: text,
  batch: text,
  limit: text,
  json: flag,
  follow: flag,
  org: text,
} as const

type Arguments = ReturnType<typeof parseArguments>

/** `headrace requests`: prints the log of calls, the newest first; works on the database directly. */
export async function runRequests(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('requests', args, options, 0)
  const fromMs = sinceOf(parsed.text('since') ?? '24h')
  const limit = limitOf(parsed.text('limit'))
  const outcome = outcomesOf(parsed.text('outcome'))
  const statuses = statusesOf(parsed.text('status'))
  await withStorage(context, async (storage) => {
    const { organizationId } = await findOrganization(storage, parsed.text('org'))
    const filter = await filterOf(parsed, { organizationId, outcome, statuses }, storage)
    const search = { filter, fromMs, toMs: Number.POSITIVE_INFINITY, order: 'desc', cursor: null } as const
    const repository = createRequestSearchRepository(storage.database)
    if (parsed.isOn('follow'))
      return follow({ ...search, limit: followRows }, repository, parsed.isOn('json'), context)
    const rows = await findRows(search, limit, repository)
    if (parsed.isOn('json')) for (const row of rows) context.write(jsonLine(row))
    else context.write(renderTable(heads, rows.map(cellsOf), createPaint(context.isTty, context.env)))
    if (rows.length === limit) context.writeError(`The newest ${limit} are shown; --limit shows more.\n`)
  })
  return 0
}

async function findRows(
  search: Omit<Search, 'limit'>,
  limit: number,
  repository: RequestSearchRepository,
): Promise<LoggedCall[]> {
  const rows: LoggedCall[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof searchRequests>> = await searchRequests(
      { ...search, cursor, limit: Math.min(pageRows, limit - rows.length) },
      repository,
    )
    rows.push(...page.rows)
    cursor = page.cursor
  } while (cursor !== null && rows.length < limit)
  return rows
}

/** Prints calls as they end, until interrupted. A row comes when its call ends, so the newest rows are read again and again. */
async function follow(
  search: Search,
  repository: RequestSearchRepository,
  isJson: boolean,
  context: CommandContext,
): Promise<void> {
  const interruption = listenForInterruption()
  let seen = new Set<string>()
  let isFirst = true
  while (!interruption.signal.aborted) {
    const { rows } = await searchRequests(search, repository)
    const fresh = rows.filter(({ requestId }) => !seen.has(requestId)).toReversed()
    const shown = isFirst ? fresh.slice(-10) : fresh
    for (const row of shown) context.write(isJson ? jsonLine(row) : `${cellsOf(row).join('  ')}\n`)
    seen = new Set(rows.map(({ requestId }) => requestId))
    isFirst = false
    await Bun.sleep(followEveryMs)
  }
  interruption.stop()
}

async function filterOf(
  parsed: Arguments,
  base: Pick<LogFilter, 'organizationId' | 'statuses'> & { outcome: readonly LoggedOutcome[] },
  { database }: CliStorage,
): Promise<LogFilter> {
  const list = (name: string) => (parsed.text(name) ?? '').split(',').filter((value) => value !== '')
  const { organizationId, statuses, outcome } = base
  return {
    organizationId,
    outcomes: outcome,
    statuses,
    models: list('model'),
    providers: list('provider'),
    keyIds: await createNamesRepository(database).keyIds(organizationId, list('key')),
    userId: parsed.text('user') ?? null,
    sessionId: parsed.text('session') ?? null,
    batchId: parsed.text('batch') ?? null,
    errorTypes: list('error'),
    operations: [],
  }
}

function outcomesOf(value = ''): LoggedOutcome[] {
  return value
    .split(',')
    .filter((word) => word !== '')
    .map((word) => {
      const found = outcomes.find((one) => one === word)
      if (found) return found
      const meant = suggestionFor(word, [...outcomes])
      throw usageFailure(`--outcome takes ${outcomes.join(', ')}, not "${word}".${meant}`, 'requests')
    })
}

function statusesOf(value = ''): { from: number; to: number }[] {
  return value
    .split(',')
    .filter((word) => word !== '')
    .map((word) => {
      if (/^[1-5]xx$/.test(word)) return { from: Number(word[0]) * 100, to: Number(word[0]) * 100 + 99 }
      if (/^[1-5]\d\d$/.test(word)) return { from: Number(word), to: Number(word) }
      throw usageFailure(
        `--status is a status such as 429, or a class such as 5xx, not "${word}".`,
        'requests',
      )
    })
}

function sinceOf(value: string): number {
  const agoMs = durationOf(value)
  if (agoMs !== null && agoMs > 0) return Date.now() - agoMs
  const atMs = Date.parse(value)
  if (!Number.isNaN(atMs)) return atMs
  throw usageFailure(
    `--since is a time ago such as 2h or 7d, or a time such as 2026-11-01, not "${value}".`,
    'requests',
  )
}

function limitOf(value: string | undefined): number {
  if (value === undefined) return rowsUsual
  const limit = /^\d{1,6}$/.test(value) ? Number(value) : 0
  if (limit >= 1 && limit <= rowsMax) return limit
  throw usageFailure(`--limit is a whole number from 1 to ${rowsMax}, not "${value}".`, 'requests')
}

const heads = [
  'time (UTC)',
  'status',
  'outcome',
  'model',
  'deployment',
  'key',
  'tokens',
  'first',
  'total',
  'cost',
  'error',
  'id',
]

function cellsOf(row: LoggedCall): string[] {
  return [
    timestamp(beganAtMs(row.requestId)),
    String(row.status),
    row.outcome,
    printable(row.model ?? '-'),
    printable(row.deployment ?? '-'),
    row.keyId || '-',
    `${row.inputTokens}/${row.outputTokens}`,
    row.firstByteMs === null ? '-' : duration(row.firstByteMs),
    duration(row.totalMs),
    row.costNanocredits === null ? '-' : dollars(row.costNanocredits),
    row.errorType ?? '-',
    row.requestId,
  ]
}

function jsonLine(row: LoggedCall): string {
  const { costNanocredits, ...rest } = row
  const created_at = new Date(beganAtMs(row.requestId)).toISOString()
  return `${JSON.stringify({ created_at, ...rest, costNanocredits: costNanocredits?.toString() ?? null })}\n`
}
