import type { ReservedSQL, SQL } from 'bun'
import { postgresConnectMs } from '../../core/limits/storage.ts'
import { GuardFailed } from '../database.ts'
import type { Row, SqlValue, Statement, Unit } from '../database.ts'
import { normaliseRows } from '../rows.ts'
import { toStorableText } from '../storable-text.ts'
import { toBulkQueries } from './bulk-insert.ts'
import type { Query } from './bulk-insert.ts'
import type { Pool } from './pool.ts'
import { classify, unavailable } from './postgres-failures.ts'

/** Times a PostgreSQL transaction is tried that deadlocked, could not be serialised or lost its connection; pauses double. */
const transactionTriesMax = 5
const transactionPauseMs = 20

/** The result array of the driver, with the number of rows returned or affected. */
type Result = Row[] & { count: number | null }

/**
 * Commits units in one transaction, all or none; returns the rows of every statement of every unit. A transaction that
 * lost against another one, or lost its connection before the commit was sent, is tried again a few times. Rejects with
 * `GuardFailed`, with the driver's error, or with an uncertain `storage_unavailable` when the commit got no answer.
 */
export async function commitUnits(
  pool: Pool,
  units: readonly Unit[],
  translate: (sql: string) => string,
): Promise<Row[][][]> {
  for (let tries = 1; ; tries++) {
    try {
      return await pool.use((sql) => attempt(sql, units, translate))
    } catch (error) {
      if (!isRetriable(error) || tries >= transactionTriesMax) throw error
      // A random wait: transactions that conflicted once would conflict again if they came back at the same time.
      await Bun.sleep(transactionPauseMs * 2 ** (tries - 1) * (0.5 + Math.random()))
    }
  }
}

async function attempt(
  sql: SQL,
  units: readonly Unit[],
  translate: (sql: string) => string,
): Promise<Row[][][]> {
  const connection = await sql.reserve({ signal: AbortSignal.timeout(postgresConnectMs) })
  let isOpen = true
  try {
    const returned = await runStatements(connection, units, translate)
    isOpen = false
    await commit(connection)
    return returned
  } finally {
    if (isOpen) await connection.unsafe('rollback').catch(() => undefined)
    void connection.release()
  }
}

/** Sends all statements at once and reads the answers afterwards: one round trip, however many statements. */
async function runStatements(
  connection: ReservedSQL,
  units: readonly Unit[],
  translate: (sql: string) => string,
): Promise<Row[][][]> {
  const begun = connection.unsafe('begin').execute()
  const sent = units.map((unit) => unit.statements.map((statement) => send(connection, statement, translate)))
  const settled = await Promise.allSettled([begun, ...sent.flat(2)])
  // The first failure is the reason; the statements after it fail only because the transaction is aborted.
  for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
  return Promise.all(
    units.map((unit, index) =>
      Promise.all(
        unit.statements.map((statement, position) => receive(statement, unit, sent[index]?.[position] ?? [])),
      ),
    ),
  )
}

function send(
  connection: ReservedSQL,
  statement: Statement,
  translate: (sql: string) => string,
): Promise<Result>[] {
  const { sql, params, rows } = statement
  const queries: Query[] = rows ? toBulkQueries(sql, rows) : [{ sql, params: [...(params ?? [])] }]
  return queries.map((query) =>
    connection.unsafe<Result>(translate(query.sql), toParams(query.params)).execute(),
  )
}

async function receive(
  statement: Statement,
  unit: Unit,
  answers: readonly Promise<Result>[],
): Promise<Row[]> {
  const results = await Promise.all(answers)
  const count = results.reduce((sum, result) => sum + (result.count ?? 0), 0)
  if (statement.expect !== undefined && statement.expect !== count)
    throw new GuardFailed(statement.guard ?? 'rows', unit.name)
  return normaliseRows(results.flatMap((result) => Array.from(result)))
}

async function commit(connection: ReservedSQL): Promise<void> {
  try {
    await connection.unsafe('commit')
  } catch (error) {
    // A refusal is an answer. No answer is not: the server may have committed before the connection broke.
    throw classify(error) === 'unavailable' ? unavailable(error, true) : error
  }
}

function isRetriable(error: unknown): boolean {
  const kind = classify(error)
  return kind === 'conflict' || kind === 'unavailable'
}

/** Parameters as the server expects them: booleans are integers, integers are eight bytes, texts are storable. */
export function toParams(params: readonly SqlValue[]): SqlValue[] {
  return params.map((value) => {
    if (typeof value === 'string') return toStorableText(value)
    if (typeof value === 'boolean') return BigInt(value)
    return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
  })
}
