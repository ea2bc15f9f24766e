import type { ReservedSQL, SQL } from 'bun'
import {
  createMigrationsTable,
  firstVersionWithKinds,
  isExclusive,
  pendingMigrations,
  recordMigration,
  selectExclusiveVersionSql,
  selectVersionSql,
} from '../migrations.ts'
import type { SchemaState } from '../migrations.ts'
import { migrationLock } from './advisory-locks.ts'
import { createFixedPartitions } from './partitions.ts'
import { Pool } from './pool.ts'

/** How long a migration may take: it goes through every row once, some hundred thousand in a second. */
const migrationMsMax = 3_600_000

/** What the migration needs. */
export interface PostgresMigration {
  url: string
  /** For the usual start, which only reads the schema. */
  pool: Pool
  mayMigrate: boolean
  translate: (sql: string) => string
  /** Throws `SchemaOccupied` when other processes run on the database. */
  refuseOccupied: (sql: SQL) => Promise<void>
}

/**
 * Brings the schema up to date in one transaction under a lock, so that one of several processes does it. Rejects with
 * `SchemaOccupied` when another process must end before.
 */
export async function migratePostgres(migration: PostgresMigration): Promise<void> {
  const state = await migration.pool.use((sql) => readState(sql))
  if (pendingMigrations(state, migration.mayMigrate).length === 0) return
  // A connection of its own, because no other work may take this long.
  const patient = new Pool({ url: migration.url, connectionsMax: 1, patienceMs: migrationMsMax })
  try {
    await patient.use(async (sql) => {
      const connection = await sql.reserve()
      try {
        await runPending(connection, migration)
      } finally {
        // When a connection is released inside a transaction, the driver closes it and the server rolls back.
        void connection.release()
      }
    })
  } finally {
    await patient.close()
  }
}

async function runPending(
  connection: ReservedSQL,
  { mayMigrate, translate, refuseOccupied }: PostgresMigration,
): Promise<void> {
  await connection.unsafe('begin')
  await connection.unsafe(`set local statement_timeout = ${migrationMsMax}`)
  await connection.unsafe('select pg_advisory_xact_lock($1)', [migrationLock])
  await connection.unsafe(createMigrationsTable)
  const state = await readState(connection)
  const pending = pendingMigrations(state, mayMigrate)
  const needsAll = isExclusive(state, pending)
  if (needsAll) await refuseOccupied(connection)
  for (const migration of pending) {
    for (const statement of migration.statements('postgres')) await connection.unsafe(translate(statement))
    const { sql, params } = recordMigration(migration)
    await connection.unsafe(translate(sql), params)
  }
  await createFixedPartitions(connection)
  // Version 0.1 reads the schema a moment before it takes its owner id, so a starting one is looked for here.
  if (needsAll) await refuseOccupied(connection)
  await connection.unsafe('commit')
}

/** Reads the schema once more, while no process migrates it. Rejects with `SchemaMismatch`. */
export async function requireSchema(pool: Pool, mayMigrate: boolean): Promise<void> {
  await pool.use(async (sql) => {
    const connection = await sql.reserve()
    try {
      await connection.unsafe('begin')
      await connection.unsafe('select pg_advisory_xact_lock_shared($1)', [migrationLock])
      pendingMigrations(await readState(connection), mayMigrate)
    } finally {
      await connection.unsafe('rollback').catch(() => undefined)
      void connection.release()
    }
  })
}

/** The database's record of its schema. */
async function readState(sql: SQL): Promise<SchemaState> {
  const tables = await sql.unsafe(`select to_regclass('schema_migrations') as name`)
  if (tables[0]?.name === null) return { version: 0, exclusiveVersion: 0 }
  const read = async (text: string): Promise<number> => Number((await sql.unsafe(text))[0]?.version ?? 0)
  const version = await read(selectVersionSql)
  const hasKinds = version >= firstVersionWithKinds
  return { version, exclusiveVersion: hasKinds ? await read(selectExclusiveVersionSql) : version }
}
