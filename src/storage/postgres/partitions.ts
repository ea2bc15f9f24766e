import type { ReservedSQL, SQL } from 'bun'
import { undatedDay } from '../../core/ids.ts'
import { partitionLock } from './advisory-locks.ts'
import type { Pool } from './pool.ts'

/** Days for which PostgreSQL has partitions in advance. */
export const partitionDaysAhead = 7

/** How long creating a partition waits for a lock, while reads of all partitions wait behind it. */
const partitionLockMs = 2_000

/** Tables with a partition for every day. The names of partitions begin with the table's, see `withoutPartition`. */
const partitionedTables = ['usages', 'postings']

interface Partition {
  name: string
  table: string
  day: number
}

/** The table of a partition, or the table's name for a partition's constraint; other names are returned unchanged. */
export function withoutPartition(name: string | null): string | null {
  return name?.replace(/^(\w+?)_(?:p\d+|undated|default)(?=_|$)/, '$1') ?? null
}

/**
 * Creates the permanent partitions: one for rows without a day of their own, and a default one for days without a
 * partition, so that no insert fails for lack of one. Runs within the caller's transaction.
 */
export async function createFixedPartitions(connection: ReservedSQL): Promise<void> {
  for (const table of partitionedTables) {
    const beginning = `create table if not exists ${table}`
    await connection.unsafe(`${beginning}_default partition of ${table} default`)
    const range = `from (${undatedDay}) to (${undatedDay + 1})`
    await connection.unsafe(`${beginning}_undated partition of ${table} for values ${range}`)
  }
}

/**
 * Creates the missing partitions of today and the coming days; costs one read when none is missing. Rejects with the
 * driver's error. A day whose first rows are in the default partition stays there.
 */
export async function createDayPartitions(pool: Pool, translate: (sql: string) => string): Promise<void> {
  await pool.use(async (sql) => {
    if ((await listMissing(sql, translate)).length === 0) return
    const connection = await sql.reserve()
    let isOpen = true
    try {
      await connection.unsafe(`begin`)
      await connection.unsafe(`set local lock_timeout = ${partitionLockMs}`)
      await connection.unsafe('select pg_advisory_xact_lock($1)', [partitionLock])
      for (const partition of await listMissing(connection, translate)) {
        await attachPartition(connection, partition)
      }
      await connection.unsafe('commit')
      isOpen = false
    } finally {
      if (isOpen) await connection.unsafe('rollback').catch(() => undefined)
      void connection.release()
    }
  })
}

async function listMissing(sql: SQL, translate: (sql: string) => string): Promise<Partition[]> {
  const parents = partitionedTables.map((table) => `'${table}'::regclass`).join(', ')
  const [clock] = await sql.unsafe(translate('select now_ms() / 86400000 as today'))
  const rows: { name: string }[] = await sql.unsafe(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent in (${parents})`,
  )
  const present = new Set(rows.map((row) => row.name))
  const today = Number(clock?.today)
  return Array.from({ length: partitionDaysAhead + 1 }, (_, ahead) => today + ahead)
    .filter((day) => day > undatedDay)
    .flatMap((day) => partitionedTables.map((table) => ({ name: `${table}_p${day}`, table, day })))
    .filter((partition) => !present.has(partition.name))
}

/** Creates the partition as a separate table and then attaches it: creating it in place would lock out all writers. */
async function attachPartition(connection: ReservedSQL, { name, table, day }: Partition): Promise<void> {
  await connection.unsafe('savepoint attach')
  try {
    await connection.unsafe(`create table ${name} (like ${table} including all)`)
    await connection.unsafe(
      `alter table ${table} attach partition ${name} for values from (${day}) to (${day + 1})`,
    )
  } catch (error) {
    if (!isDayTaken(error)) throw error
    await connection.unsafe('rollback to savepoint attach')
  }
}

/** The default partition has rows of that day. */
function isDayTaken(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && error.errno === '23514'
}
