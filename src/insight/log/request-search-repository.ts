import { generationBeganAtMs } from '../../core/ids.ts'
import type { Database, SqlValue } from '../../storage/database.ts'
import { type LogDetails, readDetails } from './log-details.ts'
import { firstIdAt, type LoggedOutcome } from './log-row.ts'
import type { AnonymousCount } from './request-log-repository.ts'

/** Which rows are wanted. Members that are null or empty restrict nothing. */
export interface LogFilter {
  organizationId: string
  outcomes: readonly LoggedOutcome[]
  statuses: readonly { from: number; to: number }[]
  models: readonly string[]
  /** Slugs of providers, or ids of deployments. */
  providers: readonly string[]
  keyIds: readonly string[]
  userId: string | null
  sessionId: string | null
  batchId: string | null
  errorTypes: readonly string[]
  operations: readonly string[]
}

/** Ids of requests: `after` excluded, `before` excluded. */
export interface LogSpan {
  after: string
  before: string
}

/** One logged call, as it is shown. */
export interface LoggedCall {
  requestId: string
  organizationId: string
  generationId: string | null
  keyId: string
  outcome: LoggedOutcome
  status: number
  errorType: string | null
  operation: string | null
  model: string | null
  provider: string | null
  deployment: string | null
  userId: string | null
  sessionId: string | null
  batchId: string | null
  streamed: boolean
  attempts: number
  inputTokens: number
  outputTokens: number
  firstByteMs: number | null
  totalMs: number
  costNanocredits: bigint | null
  isEstimated: boolean
}

/** A logged call with what only its own view shows. */
export interface LoggedCallStory extends LoggedCall {
  clientAddress: string | null
  details: LogDetails
}

/** The order in which rows are read. */
export type LogOrder = 'desc' | 'asc'

/** Reads the log of calls, aside. All methods reject with `storage_unavailable`. */
export interface RequestSearchRepository {
  /** The id of the row that is `rows` rows further in this span and order; null when the span has fewer. */
  idAhead(filter: LogFilter, span: LogSpan, order: LogOrder, rows: number): Promise<string | null>
  /** Rows of the span that pass the filter, at most `limit`. */
  list(filter: LogFilter, span: LogSpan, order: LogOrder, limit: number): Promise<LoggedCall[]>
  findByRequest(organizationId: string, requestId: string): Promise<LoggedCallStory | null>
  /**
   * The row of a generation, looked for near the time in its id. Nearly every answered call has usage, which names its
   * request: this is for the others. A call that was answered is found if its generation began within seconds of its
   * request; one that failed, within an hour.
   */
  findByGeneration(organizationId: string, generationId: string): Promise<LoggedCallStory | null>
  /** Requests without a valid key, the newest minute first. Times are Unix milliseconds. */
  listAnonymous(span: { fromMs: number; toMs: number }, limit: number): Promise<AnonymousCount[]>
  /** The id of the organization's oldest row. */
  oldestId(organizationId: string): Promise<string | null>
}

/** How much later than in its generation's id a request can seem to begin: that id has whole seconds, and clocks are set. */
const generationLateMs = 2_000
/**
 * How long before its generation a request may have begun: moments, or as long as its upload took. In the longer span only
 * what was not answered is read, along the index that such rows have.
 */
const generationSearches: readonly { beforeMs: number; more: string }[] = [
  { beforeMs: 2_000, more: '' },
  { beforeMs: 3_600_000, more: " and outcome <> 'answered'" },
]
/** Rows that one such search reads, the nearest first. */
const generationRowsMax = 20_000

export function createRequestSearchRepository(database: Database): RequestSearchRepository {
  const find = async (sql: string, params: readonly SqlValue[]): Promise<LoggedCallStory | null> => {
    const [row] = await database.queryAside<StoryRow>(sql, params)
    if (!row) return null
    const details = readDetails(row.details_json, row)
    return { ...toLoggedCall(row), clientAddress: row.client_address, details }
  }
  return {
    async idAhead(filter, span, order, rows) {
      const { sql, params } = walked(filter, span)
      const [row] = await database.queryAside<{ request_id: string }>(
        `select request_id from request_log where ${sql} order by request_id ${order} limit 1 offset ${rows - 1}`,
        params,
      )
      return row?.request_id ?? null
    },
    async list(filter, span, order, limit) {
      const { sql, params } = narrowed(filter, span)
      const rows = await database.queryAside<ShownRow>(
        `select ${shownColumns} from request_log where ${sql} order by request_id ${order} limit ${limit}`,
        params,
      )
      return rows.map(toLoggedCall)
    },
    findByRequest: (organizationId, requestId) =>
      find(`select ${storyColumns} from request_log where organization_id = $1 and request_id = $2`, [
        organizationId,
        requestId,
      ]),
    async findByGeneration(organizationId, generationId) {
      const beganAtMs = generationBeganAtMs(generationId)
      if (beganAtMs === null) return null
      for (const { beforeMs, more } of generationSearches) {
        const found = await find(
          `select ${storyColumns} from (select ${storyColumns} from request_log where organization_id = $1
              and request_id > $2 and request_id < $3${more} order by request_id desc limit ${generationRowsMax}) as near
            where generation_id = $4 order by request_id desc limit 1`,
          [
            organizationId,
            firstIdAt(beganAtMs - beforeMs),
            firstIdAt(beganAtMs + generationLateMs),
            generationId,
          ],
        )
        if (found !== null) return found
      }
      return null
    },
    async listAnonymous({ fromMs, toMs }, limit) {
      const rows = await database.queryAside<{ minute: number; client_address: string; requests: number }>(
        `select minute, client_address, requests from anonymous_refusals where minute >= $1 and minute < $2
          order by minute desc, requests desc, client_address limit $3`,
        [Math.floor(fromMs / 60_000), Math.ceil(toMs / 60_000), limit],
      )
      return rows.map((row) => ({ ...row, clientAddress: row.client_address }))
    },
    async oldestId(organizationId) {
      const [row] = await database.queryAside<{ request_id: string | null }>(
        'select min(request_id) as request_id from request_log where organization_id = $1',
        [organizationId],
      )
      return row?.request_id ?? null
    },
  }
}

interface Condition {
  sql: string
  params: SqlValue[]
}

/**
 * The condition that an index has: rows are walked along it, and the rest of the filter is asked of what was walked. A
 * search for failures walks the failures alone.
 */
function walked(filter: LogFilter, { after, before }: LogSpan): Condition {
  const params: SqlValue[] = [filter.organizationId, after, before]
  let sql = 'organization_id = $1 and request_id > $2 and request_id < $3'
  if (isOfFailures(filter)) sql += " and outcome <> 'answered'"
  if (filter.sessionId !== null) {
    params.push(filter.sessionId)
    sql += ` and session_id = $${params.length}`
  }
  return { sql, params }
}

/** Whether nothing that was answered can pass: every answered call has a status below 400 and no error. */
function isOfFailures({ outcomes, statuses, errorTypes }: LogFilter): boolean {
  if (outcomes.length > 0 && !outcomes.includes('answered')) return true
  if (errorTypes.length > 0) return true
  return statuses.length > 0 && statuses.every(({ from }) => from >= 400)
}

function narrowed(filter: LogFilter, span: LogSpan): Condition {
  const { sql, params } = walked(filter, span)
  const parts = [sql]
  const among = (column: string, values: readonly string[]): string => {
    const places = values.map((value) => `$${params.push(value)}`)
    return `${column} in (${places.join(', ')})`
  }
  if (filter.outcomes.length > 0) parts.push(among('outcome', filter.outcomes))
  if (filter.models.length > 0) parts.push(among('model', filter.models))
  if (filter.keyIds.length > 0) parts.push(among('key_id', filter.keyIds))
  if (filter.errorTypes.length > 0) parts.push(among('error_type', filter.errorTypes))
  if (filter.operations.length > 0) parts.push(among('operation', filter.operations))
  if (filter.providers.length > 0)
    parts.push(`(${among('provider', filter.providers)} or ${among('deployment', filter.providers)})`)
  if (filter.userId !== null) parts.push(among('user_id', [filter.userId]))
  if (filter.batchId !== null) parts.push(among('batch_id', [filter.batchId]))
  if (filter.statuses.length > 0) {
    const ranges = filter.statuses.map(
      ({ from, to }) => `status between $${params.push(from)} and $${params.push(to)}`,
    )
    parts.push(`(${ranges.join(' or ')})`)
  }
  return { sql: parts.join(' and '), params }
}

interface ShownRow {
  request_id: string
  organization_id: string
  generation_id: string | null
  key_id: string
  outcome: LoggedOutcome
  status: number
  error_type: string | null
  operation: string | null
  model: string | null
  provider: string | null
  deployment: string | null
  user_id: string | null
  session_id: string | null
  batch_id: string | null
  streamed: number
  attempts: number
  input_tokens: number
  output_tokens: number
  first_byte_ms: number | null
  total_ms: number
  cost_nanocredits: bigint | null
  is_estimated: number
}

interface StoryRow extends ShownRow {
  client_address: string | null
  details_json: string
}

const shownColumns = [
  'request_id',
  'organization_id',
  'generation_id',
  'key_id',
  'outcome',
  'status',
  'error_type',
  'operation',
  'model',
  'provider',
  'deployment',
  'user_id',
  'session_id',
  'batch_id',
  'streamed',
  'attempts',
  'input_tokens',
  'output_tokens',
  'first_byte_ms',
  'total_ms',
  'cost_nanocredits',
  'is_estimated',
].join(', ')

const storyColumns = `${shownColumns}, client_address, details_json`

function toLoggedCall(row: ShownRow): LoggedCall {
  return {
    requestId: row.request_id,
    organizationId: row.organization_id,
    generationId: row.generation_id,
    keyId: row.key_id,
    outcome: row.outcome,
    status: row.status,
    errorType: row.error_type,
    operation: row.operation,
    model: row.model,
    provider: row.provider ?? row.deployment,
    deployment: row.deployment,
    userId: row.user_id,
    sessionId: row.session_id,
    batchId: row.batch_id,
    streamed: row.streamed === 1,
    attempts: row.attempts,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    firstByteMs: row.first_byte_ms,
    totalMs: row.total_ms,
    costNanocredits: row.cost_nanocredits,
    isEstimated: row.is_estimated === 1,
  }
}
