import type { Database, SqlValue, Statement } from '../../storage/database.ts'
import { binColumns } from './latency-bins.ts'
import { firstIdAt, type LogRow } from './log-row.ts'
import type { HourSum, LogSum, LogSums, WholeSum } from './log-sums.ts'

/** Requests without a valid key, from one address within one minute. */
export interface AnonymousCount {
  minute: number
  clientAddress: string
  requests: number
}

/** What one unit of the log writes. */
export interface LogUnit {
  rows: readonly LogRow[]
  sums: LogSums
  anonymous: readonly AnonymousCount[]
}

/** Writes the log of calls and its sums. All methods reject with `storage_unavailable`. */
export interface RequestLogRepository {
  write(unit: LogUnit): Promise<void>
  /** The organizations that have rows. */
  nextOrganization(after: string): Promise<string | null>
  /** Deletes at most `limit` rows of requests that began before this time; returns how many. */
  deleteRows(organizationId: string, beforeMs: number, limit: number): Promise<number>
  deleteSums(organizationId: string, beforeMs: number, limit: number): Promise<number>
  deleteAnonymous(beforeMs: number, limit: number): Promise<number>
}

export function createRequestLogRepository(database: Database): RequestLogRepository {
  const remove = async (sql: string, params: readonly SqlValue[]): Promise<number> => {
    const [rows = []] = await database.commit({ name: 'request_log.delete', statements: [{ sql, params }] })
    return rows.length
  }
  return {
    async write(unit) {
      await database.commit({ name: 'request_log.write', statements: statementsOf(unit) })
    },
    async nextOrganization(after) {
      const [row] = await database.query<{ organization_id: string | null }>(
        'select min(organization_id) as organization_id from request_log where organization_id > $1',
        [after],
      )
      return row?.organization_id ?? null
    },
    deleteRows: (organizationId, beforeMs, limit) =>
      remove(
        `delete from request_log where organization_id = $1 and request_id in (select request_id from request_log
          where organization_id = $1 and request_id < $2 order by request_id limit $3) returning 1 as gone`,
        [organizationId, firstIdAt(beforeMs), limit],
      ),
    async deleteSums(organizationId, beforeMs, limit) {
      let gone = 0
      for (const minutes of [15, 60]) {
        gone += await remove(
          `delete from request_rollups where organization_id = $1 and minutes = $2 and slot in (select slot
            from request_rollups where organization_id = $1 and minutes = $2 and slot < $3
            order by slot limit $4) returning 1 as gone`,
          [organizationId, minutes, Math.floor(beforeMs / 60_000 / minutes), limit],
        )
      }
      for (const scope of ['models', 'keys']) {
        gone += await remove(
          `delete from request_hours where organization_id = $1 and scope = $2 and hour in (select hour
            from request_hours where organization_id = $1 and scope = $2 and hour < $3
            order by hour limit $4) returning 1 as gone`,
          [organizationId, scope, Math.floor(beforeMs / 3_600_000), limit],
        )
      }
      return gone
    },
    deleteAnonymous: (beforeMs, limit) =>
      remove(
        `delete from anonymous_refusals where minute in (select minute from anonymous_refusals where minute < $1
          order by minute limit $2) returning 1 as gone`,
        [Math.floor(beforeMs / 60_000), limit],
      ),
  }
}

/** In the order of `valuesOf`. */
const rowColumns: readonly string[] = [
  'organization_id',
  'request_id',
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
  'client_address',
  'details_json',
]

// A request id is written once; a unit whose answer was lost is not repeated.
const insertRowsSql = `insert into request_log (${rowColumns.join(', ')})
  values (${rowColumns.map((_, index) => `$${index + 1}`).join(', ')}) on conflict do nothing`

const sumCounts = ['requests', 'failed', 'refused', 'cancelled', ...binColumns]
const wholeKey = ['organization_id', 'minutes', 'slot', 'key_id', 'model', 'provider']
const hourKey = ['organization_id', 'scope', 'hour', 'key_id', 'model', 'provider']

const addWholeSql = addingTo('request_rollups', wholeKey)
const addHoursSql = addingTo('request_hours', hourKey)

/** Adds counts to the row of this key of the table, or makes that row. */
function addingTo(table: string, key: readonly string[]): string {
  const columns = [...key, ...sumCounts]
  return `insert into ${table} (${columns.join(', ')})
    values (${columns.map((_, index) => `$${index + 1}`).join(', ')})
    on conflict (${key.join(', ')}) do update set
      ${sumCounts.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')}`
}

const addAnonymousSql = `insert into anonymous_refusals (minute, client_address, requests) values ($1, $2, $3)
  on conflict (minute, client_address) do update set requests = anonymous_refusals.requests + excluded.requests`

function statementsOf({ rows, sums, anonymous }: LogUnit): Statement[] {
  const statements: Statement[] = []
  if (rows.length > 0) statements.push({ sql: insertRowsSql, rows: rows.map(valuesOf) })
  const { whole, hours } = sums
  if (whole.length > 0) statements.push({ sql: addWholeSql, rows: whole.map(wholeValuesOf) })
  if (hours.length > 0) statements.push({ sql: addHoursSql, rows: hours.map(hourValuesOf) })
  if (anonymous.length > 0) {
    const values = anonymous.map(({ minute, clientAddress, requests }) => [minute, clientAddress, requests])
    statements.push({ sql: addAnonymousSql, rows: values })
  }
  return statements
}

function valuesOf(row: LogRow): SqlValue[] {
  return [
    row.organizationId,
    row.requestId,
    row.generationId,
    row.keyId,
    row.outcome,
    row.status,
    row.errorType,
    row.operation,
    row.model,
    // A deployment that is named after its provider tells both.
    row.provider === row.deployment ? null : row.provider,
    row.deployment,
    row.userId,
    row.sessionId,
    row.batchId,
    row.streamed ? 1 : 0,
    row.attempts,
    row.inputTokens,
    row.outputTokens,
    row.firstByteMs,
    row.totalMs,
    row.costNanocredits,
    row.isEstimated ? 1 : 0,
    row.clientAddress,
    row.detailsJson,
  ]
}

function wholeValuesOf(sum: WholeSum): SqlValue[] {
  const { organizationId, minutes, slot, keyId, model, provider } = sum
  return [organizationId, minutes, slot, keyId, model, provider, ...countsOf(sum)]
}

function hourValuesOf(sum: HourSum): SqlValue[] {
  const { organizationId, scope, slot, keyId, model, provider } = sum
  return [organizationId, scope, slot, keyId, model, provider, ...countsOf(sum)]
}

function countsOf({ requests, failed, refused, cancelled, bins }: LogSum): SqlValue[] {
  return [requests, failed, refused, cancelled, ...bins]
}
