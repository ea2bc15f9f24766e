import type { ReservedSQL } from 'bun'
import { createMigrationsTable, pendingMigrations } from '../migrations.ts'
import { createFixedPartitions } from './partitions.ts'
import type { Pool } from './pool.ts'

/** Any number that nothing else in the database uses as an advisory lock. */
const migrationLock = 7_236_147_001n

/** Brings the schema up to date, in one transaction under a lock, so that of many processes one does it. */
export async function migratePostgres(
  pool: Pool,
  mayMigrate: boolean,
  translate: (sql: string) => string,
): Promise<void> {
  await pool.use(async (sql) => {
    const connection = await sql.reserve()
    try {
      if (pendingMigrations(await readVersion(connection), mayMigrate).length === 0) return
      await connection.unsafe('begin')
      await connection.unsafe('select pg_advisory_xact_lock($1)', [migrationLock])
      await connection.unsafe(createMigrationsTable)
      for (const migration of pendingMigrations(await readVersion(connection), mayMigrate)) {
        for (const statement of migration.statements()) await connection.unsafe(translate(statement))
        await connection.unsafe(
          translate('insert into schema_migrations (version, name, applied_at_ms) values ($1, $2, now_ms())'),
          [migration.version, migration.name],
        )
      }
      await createFixedPartitions(connection)
      await connection.unsafe('commit')
    } finally {
      // The driver closes a connection that comes back inside a transaction, and the server rolls it back.
      void connection.release()
    }
  })
}

async function readVersion(connection: ReservedSQL): Promise<number> {
  const tables = await connection.unsafe(`select to_regclass('schema_migrations') as name`)
  if (tables[0]?.name === null) return 0
  const rows = await connection.unsafe('select max(version) as version from schema_migrations')
  return Number(rows[0]?.version ?? 0)
}
