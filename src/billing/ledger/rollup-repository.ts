import { answerOf, commitOnce } from '../../storage/commit-once.ts'
import type { Database } from '../../storage/database.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import type { CaptureRow } from './capture-row.ts'
import type { LedgerStatement, LedgerValue } from './ledger-statement.ts'

/** How far the roll-up has come. */
export interface RollupCursor {
  /** Number of roll-up units so far. */
  position: number
  /** Milliseconds since the last unit, by the database's clock; negative when that clock was set back. */
  idleMs: number
}

/** Reads the tail and moves it into the roll-ups. All methods reject with `storage_unavailable`. */
export interface RollupRepository {
  loadCursor(): Promise<RollupCursor>
  /** The oldest rows of the tail. Read the cursor before it, never after: the database may reuse the ids of deleted rows. */
  listTail(limit: number): Promise<number[]>
  /** Rolls these rows up. False, and nothing changed, when another process has moved the cursor. */
  rollUp(position: number, tailIds: readonly number[]): Promise<boolean>
}

export function createRollupRepository(database: Database): RollupRepository {
  return {
    async loadCursor() {
      const [row] = await database.query<{ position: number; idle_ms: number }>(
        `select position, now_ms() - moved_at_ms as idle_ms from rollup_cursors where name = 'usages'`,
      )
      return { position: row?.position ?? 0, idleMs: row?.idle_ms ?? 0 }
    },
    async listTail(limit) {
      const rows = await database.query<{ tail_id: number }>(
        'select tail_id from usage_tail order by tail_id limit $1',
        [limit],
      )
      return rows.map((row) => row.tail_id)
    },
    async rollUp(position, tailIds) {
      const statements = rollUp(position, tailIds)
      const unit = { name: commitPoints.rollUp, statements, rowsEstimate: tailIds.length }
      const answer = answerOf(await commitOnce(database, unit))
      if (answer.type === 'refused' && answer.guard !== cursorGuard) throw answer.error
      return answer.type === 'committed'
    },
  }
}

/** The summed columns. The tail and the roll-ups have these in common, beside `groupColumns`. */
const sumColumns = [
  'requests',
  'input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_milliseconds',
  'characters',
  'estimated_count',
  'cost_nanocredits',
] as const

/**
 * The columns by which roll-ups are grouped. None of them may be a value that a caller chooses freely, such as the end
 * user (`user_id`) or the session: the number of rows would grow with the calls. Workspace, member and credential add
 * few rows, because a key has one of each.
 */
export const groupColumns = [
  'organization_id',
  'hour',
  'key_id',
  'model',
  'provider',
  'workspace_id',
  'member_id',
  'credential_id',
] as const

/** Columns of the roll-ups by the hour. */
export const rollupColumns = [...groupColumns, ...sumColumns]

/** The groups of the roll-ups by quarters of an hour, from which a day of any time zone is summed. */
export const quarterColumns = groupColumns.map((column) => (column === 'hour' ? 'quarter' : column))

/** Columns of the tail, in the order of the values here. */
const tailColumns = ['quarter', ...rollupColumns]

const quarterMs = 900_000
const quartersPerHour = 4

/** SQL for the quarter of an hour of a usage row. */
export const usageQuarter = `usages.created_at_ms / ${quarterMs} as quarter`

/** SQL for the group of a usage row, in the order of `groupColumns`. An unknown value is an empty text. */
export const usageGroup = [
  'usages.organization_id as organization_id',
  `usages.created_at_ms / ${quarterMs * quartersPerHour} as hour`,
  'usages.key_id as key_id',
  'usages.model as model',
  'usages.provider as provider',
  'usages.workspace_id as workspace_id',
  "coalesce(usages.member_id, '') as member_id",
  "coalesce(usages.credential_id, '') as credential_id",
].join(', ')

const insertTailSql = `insert into usage_tail (${tailColumns.join(', ')})
  values (${tailColumns.map((_, index) => `$${index + 1}`).join(', ')})`

/**
 * What a unit's captures add to the tail of the roll-ups, one row for each different group. Must be in the unit that
 * inserts the usages: at every moment, usage is the sum of the roll-ups and the tail.
 */
export function insertUsageTail(rows: readonly CaptureRow[]): LedgerStatement {
  const groups = new Map<string, Group>()
  let last: Group | undefined
  for (const row of rows) {
    // Consecutive rows are nearly always of one group; the key of a group is built only when it changes.
    if (last === undefined || !isAlike(last, row)) last = findGroup(groups, row)
    addTo(last, row)
  }
  return { sql: insertTailSql, rows: [...groups.values()].map(valuesOf) }
}

interface Group {
  readonly first: CaptureRow
  readonly quarter: number
  requests: number
  inputTokens: number
  outputTokens: number
  reasoningTokens: number
  audioMilliseconds: number
  characters: number
  estimated: number
  cost: bigint
}

function isAlike({ first, quarter }: Group, row: CaptureRow): boolean {
  return (
    row.organizationId === first.organizationId &&
    row.keyId === first.keyId &&
    row.model === first.model &&
    row.provider === first.provider &&
    row.workspaceId === first.workspaceId &&
    row.memberId === first.memberId &&
    row.credentialId === first.credentialId &&
    quarterOf(row) === quarter
  )
}

function findGroup(groups: Map<string, Group>, row: CaptureRow): Group {
  const quarter = quarterOf(row)
  const name = JSON.stringify(groupOf(row, quarter))
  const found = groups.get(name)
  if (found !== undefined) return found
  const sums = { requests: 0, inputTokens: 0, outputTokens: 0, reasoningTokens: 0 }
  const group = { first: row, quarter, ...sums, audioMilliseconds: 0, characters: 0, estimated: 0, cost: 0n }
  groups.set(name, group)
  return group
}

function addTo(group: Group, { usage, source, costNanocredits }: CaptureRow): void {
  group.requests += 1
  group.inputTokens += usage.inputTokens ?? 0
  group.outputTokens += usage.outputTokens ?? 0
  group.reasoningTokens += usage.reasoningTokens ?? 0
  group.audioMilliseconds += usage.audioMilliseconds ?? 0
  group.characters += usage.characters ?? 0
  group.estimated += source === 'estimated' ? 1 : 0
  group.cost += costNanocredits
}

/** The quarter, then in the order of `groupColumns`. Columns of a primary key take no null. */
function groupOf(row: CaptureRow, quarter: number): LedgerValue[] {
  const { organizationId, keyId, model, provider, workspaceId, memberId, credentialId } = row
  const hour = Math.floor(quarter / quartersPerHour)
  return [quarter, organizationId, hour, keyId, model, provider, workspaceId, memberId ?? '', credentialId]
}

/** In the order of `tailColumns`. */
function valuesOf(group: Group): LedgerValue[] {
  return [
    ...groupOf(group.first, group.quarter),
    group.requests,
    group.inputTokens,
    group.outputTokens,
    group.reasoningTokens,
    group.audioMilliseconds,
    group.characters,
    group.estimated,
    group.cost,
  ]
}

function quarterOf(row: CaptureRow): number {
  return Math.floor(row.createdAtMs / quarterMs)
}

/** Subtracts a refund from the roll-ups, in the quarter of its original. Must be in the unit that writes the refund. */
export function insertRefundTail(refund: {
  generationId: string
  day: number
  amountNanocredits: bigint
}): LedgerStatement {
  const nothing = sumColumns.slice(0, -1).map(() => '0')
  return {
    sql: `insert into usage_tail (${tailColumns.join(', ')})
      select ${usageQuarter}, ${usageGroup}, ${nothing.join(', ')},
        -cast($3 as bigint) from usages where day = $1 and generation_id = $2`,
    params: [refund.day, refund.generationId, refund.amountNanocredits],
  }
}

/** The guard that fails when another process rolled up meanwhile. */
export const cursorGuard = 'rollup:cursor'

const sums = sumColumns.map((column) => `cast(sum(${column}) as bigint)`).join(', ')

/** Adds these rows of the tail to a table of sums, which has one row for each of these groups. */
function addSums(
  table: 'usage_rollups' | 'usage_quarters',
  columns: readonly string[],
  chosen: string,
): string {
  const groups = columns.join(', ')
  const additions = sumColumns.map((column) => `${column} = ${table}.${column} + excluded.${column}`)
  return `insert into ${table} (${groups}, ${sumColumns.join(', ')})
    select ${groups}, ${sums} from usage_tail where ${chosen} group by ${groups}
    on conflict (${groups}) do update set ${additions.join(', ')}`
}

/**
 * Moves rows of the tail into the roll-ups, each exactly once: nothing happens unless the cursor is where it was read
 * and every row still exists. Lists of equal length have the same SQL text, so that the database prepares it once.
 */
export function rollUp(position: number, tailIds: readonly number[]): LedgerStatement[] {
  const chosen = `tail_id in (${tailIds.map((_, index) => `$${index + 1}`).join(', ')})`
  return [
    {
      sql: `update rollup_cursors set position = position + 1, moved_at_ms = now_ms()
        where name = 'usages' and position = $1`,
      params: [position],
      expect: 1,
      guard: cursorGuard,
    },
    { sql: addSums('usage_rollups', groupColumns, chosen), params: tailIds },
    { sql: addSums('usage_quarters', quarterColumns, chosen), params: tailIds },
    {
      sql: `insert into usage_days (subject, day, cost_nanocredits)
        select subject, hour / 24, cast(sum(cost_nanocredits) as bigint) from (
          select 'organization:' || organization_id as subject, hour, cost_nanocredits from usage_tail where ${chosen}
          union all select 'key:' || key_id as subject, hour, cost_nanocredits from usage_tail where ${chosen}
        ) as costs where true group by subject, hour / 24
        on conflict (subject, day) do update set cost_nanocredits = usage_days.cost_nanocredits + excluded.cost_nanocredits`,
      params: tailIds,
    },
    {
      sql: `delete from usage_tail where ${chosen}`,
      params: tailIds,
      expect: tailIds.length,
      guard: cursorGuard,
    },
  ]
}

/** The subject under which `usage_days` has an organization's spending. */
export function organizationSubject(organizationId: string): string {
  return `organization:${organizationId}`
}

/** The subject under which `usage_days` has a key's spending. */
export function keySubject(keyId: string): string {
  return `key:${keyId}`
}

/**
 * A query of `day` and `cost_nanocredits` for all usage of an organization or a key: the days that were rolled up, and
 * the tail. It is one statement, so it reads both at the same moment. `subject` and `id` are parameters, such as `$1`.
 */
export function spendingByDay(of: 'organization_id' | 'key_id', subject: string, id: string): string {
  return `select day, cost_nanocredits from usage_days where subject = ${subject}
    union all select hour / 24 as day, cost_nanocredits from usage_tail where ${of} = ${id}`
}
