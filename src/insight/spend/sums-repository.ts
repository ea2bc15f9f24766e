import { binColumns } from '../log/latency-bins.ts'
import type { Database, SqlValue } from '../../storage/database.ts'
import type { BucketRun } from './time-buckets.ts'

/** What usage is grouped by. */
export type UsageColumn = 'key_id' | 'model' | 'provider' | 'workspace_id' | 'member_id'
/** What calls, answered or not, are grouped by. */
export type CallColumn = Extract<UsageColumn, 'key_id' | 'model' | 'provider'>

/** A condition on one column. */
export interface ColumnFilter<Column extends string> {
  column: Column
  isNegated: boolean
  values: readonly string[]
}

/** What is summed. */
export interface SumsQuestion<Column extends string> {
  organizationId: string
  runs: readonly BucketRun[]
  columns: readonly Column[]
  filters: readonly ColumnFilter<Column>[]
}

/** Usage of one group in one bucket: what the ledger charged for. */
export interface UsageSums {
  /** The place of the bucket. */
  bucket: number
  /** In the order of the columns. */
  values: readonly string[]
  requests: number
  inputTokens: number
  outputTokens: number
  reasoningTokens: number
  audioMilliseconds: number
  characters: number
  costNanocredits: bigint
}

/** Calls of one group in one bucket, answered or not. */
export interface CallSums {
  bucket: number
  values: readonly string[]
  requests: number
  failed: number
  refused: number
  cancelled: number
  bins: readonly number[]
}

/** Reads sums, aside. All methods reject with `storage_unavailable`. */
export interface SumsRepository {
  /** From the roll-ups of the ledger and their tail, read at one moment: exact to the nanocredit. */
  sumUsage(question: SumsQuestion<UsageColumn>): Promise<UsageSums[]>
  /** From the log of calls. */
  sumCalls(question: SumsQuestion<CallColumn>): Promise<CallSums[]>
}

const usageCounts = [
  'requests',
  'input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_milliseconds',
  'characters',
  'cost_nanocredits',
] as const
const callCounts = ['requests', 'failed', 'refused', 'cancelled', ...binColumns]

export function createSumsRepository(database: Database): SumsRepository {
  return {
    async sumUsage(question) {
      const { sql, params } = sumOf(question, usageCounts, usagePieces)
      const rows = await database.queryAside<UsageRow>(sql, params)
      return rows.map((row) => ({
        bucket: row.bucket,
        values: question.columns.map((column) => row[column] ?? ''),
        requests: row.requests,
        inputTokens: row.input_tokens,
        outputTokens: row.output_tokens,
        reasoningTokens: row.reasoning_tokens,
        audioMilliseconds: row.audio_milliseconds,
        characters: row.characters,
        costNanocredits: row.cost_nanocredits,
      }))
    },
    async sumCalls(question) {
      const { sql, params } = sumOf(question, callCounts, (run, condition) =>
        callPieces(run, condition, scopeOf(question)),
      )
      const rows = await database.queryAside<Record<string, string | number>>(sql, params)
      return rows.map((row) => ({
        bucket: Number(row['bucket']),
        values: question.columns.map((column) => String(row[column] ?? '')),
        requests: Number(row['requests']),
        failed: Number(row['failed']),
        refused: Number(row['refused']),
        cancelled: Number(row['cancelled']),
        bins: binColumns.map((column) => Number(row[column])),
      }))
    },
  }
}

/** The hours that answer a question: those of models or those of keys; null where it asks of both. */
function scopeOf({ columns, filters }: SumsQuestion<CallColumn>): 'models' | 'keys' | null {
  const asked = [...columns, ...filters.map(({ column }) => column)]
  if (!asked.includes('key_id')) return 'models'
  return asked.every((column) => column === 'key_id') ? 'keys' : null
}

type UsageRow = { bucket: number } & Partial<Record<UsageColumn, string>> & {
    [count in Exclude<(typeof usageCounts)[number], 'cost_nanocredits'>]: number
  } & { cost_nanocredits: bigint }

/** A part of a table. */
interface Piece {
  from: string
  /** The column with its place in time, and how many quarters of an hour that counts for. */
  column: string
  quarters: number
  /** The columns that its key has after that one, and that tell most of its rows apart. */
  key: readonly string[]
}

const callKey = ['key_id', 'model', 'provider']

/** One statement, so that all parts are read at the same moment. Each is summed by itself first. */
function sumOf(
  { organizationId, runs, columns, filters }: SumsQuestion<string>,
  counts: readonly string[],
  piecesOf: (run: BucketRun, condition: string) => Piece[],
): { sql: string; params: SqlValue[] } {
  const params: SqlValue[] = [organizationId]
  const conditions = filters.map(({ column, isNegated, values }) => {
    const places = values.map((value) => `$${params.push(value)}`)
    return ` and ${column} ${isNegated ? 'not ' : ''}in (${places.join(', ')})`
  })
  const condition = `organization_id = $1${conditions.join('')}`
  const grouped = ['bucket', ...columns].join(', ')
  const sums = counts.map((count) => `cast(sum(${count}) as bigint) as ${count}`).join(', ')
  const parts = runs.flatMap((run) =>
    piecesOf(run, condition).map(({ from, column, quarters, key }) => {
      const place = quarters === 1 ? column : `${column} * ${quarters}`
      const bucket = `(${place} - ${run.start}) / ${run.length} + ${run.first}`
      const by = [sumsInOrder(columns, key) ? column : bucket, ...columns].join(', ')
      return `select ${[`${bucket} as bucket`, ...columns, sums].join(', ')} from ${from} group by ${by}`
    }),
  )
  const sql = `select ${grouped}, ${sums} from (${parts.join(' union all ')}) as parts group by ${grouped}`
  return { sql, params }
}

/**
 * Whether rows are summed in the order of their key, which needs no sorting, into sums of which few are left to be sorted.
 * The last column of a key leaves about as many as there were rows.
 */
function sumsInOrder(columns: readonly string[], key: readonly string[]): boolean {
  return columns.length < key.length - 1 && columns.every((name, index) => name === key[index])
}

function usagePieces(run: BucketRun, condition: string): Piece[] {
  const { start, end } = endsOf(run)
  const quarter = { column: 'quarter', quarters: 1, key: callKey }
  return [
    ...hoursAndQuarters(run, {
      hours: { from: `usage_rollups where ${condition}`, column: 'hour', quarters: 4, key: callKey },
      quarters: { from: `usage_quarters where ${condition}`, ...quarter },
    }),
    {
      ...quarter,
      from: `usage_tail where ${condition} and quarter >= ${start} and quarter < ${end}`,
      key: [],
    },
  ]
}

function callPieces(run: BucketRun, condition: string, scope: 'models' | 'keys' | null): Piece[] {
  const slots = { column: 'slot', key: callKey }
  return hoursAndQuarters(run, {
    hours:
      scope === null
        ? { from: `request_rollups where ${condition} and minutes = 60`, ...slots, quarters: 4 }
        : {
            from: `request_hours where ${condition} and scope = '${scope}'`,
            column: 'hour',
            quarters: 4,
            key: [],
          },
    quarters: { from: `request_rollups where ${condition} and minutes = 15`, ...slots, quarters: 1 },
  })
}

/**
 * Whole hours are summed from the hours, of which there are a quarter as many. Where a zone is half an hour away, the
 * hours at the edges of its buckets are summed from their quarters.
 */
function hoursAndQuarters(run: BucketRun, { hours, quarters }: { hours: Piece; quarters: Piece }): Piece[] {
  const { start, end } = endsOf(run)
  const { length } = run
  const within = (piece: Piece, least: number, beyond: number): Piece => ({
    ...piece,
    from: `${piece.from} and ${piece.column} >= ${least} and ${piece.column} < ${beyond}`,
  })
  if (start % 4 === 0 && length % 4 === 0) return [within(hours, start / 4, end / 4)]
  if (length < longBucket) return [within(quarters, start, end)]
  const whole = within(hours, Math.ceil(start / 4), Math.floor(end / 4))
  const inner = `(${hours.column} * 4 - ${start}) % ${length} <= ${length - 4}`
  return [
    { ...whole, from: `${whole.from} and ${inner}` },
    { ...quarters, from: `${quarters.from} and ${quarters.column} in (${edgeQuarters(run).join(', ')})` },
  ]
}

/** Buckets of at least this many quarters have hours of their own beside those at their edges. */
const longBucket = 16

/** The quarters of a run that lie in an hour which is not wholly in one bucket. */
function edgeQuarters({ start, length, count }: BucketRun): number[] {
  const edges: number[] = []
  for (let bucket = 0; bucket < count; bucket++) {
    const from = start + bucket * length
    const to = from + length
    for (let quarter = from; quarter < Math.ceil(from / 4) * 4; quarter++) edges.push(quarter)
    for (let quarter = Math.floor(to / 4) * 4; quarter < to; quarter++) edges.push(quarter)
  }
  return edges
}

function endsOf({ start, length, count }: BucketRun): { start: number; end: number } {
  return { start, end: start + length * count }
}
