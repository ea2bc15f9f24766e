import type { Database as Sqlite } from 'bun:sqlite'
import { createMigrationsTable, pendingMigrations } from '../migrations.ts'

/**
 * Brings the schema up to date, in one transaction: all of it or nothing. The caller holds the file lock. Reading the
 * version first keeps the usual start free of writes.
 */
export function migrateSqlite(
  connection: Sqlite,
  mayMigrate: boolean,
  translate: (sql: string) => string,
): void {
  if (pendingMigrations(readVersion(connection), mayMigrate).length === 0) return
  connection.run('begin immediate')
  try {
    connection.run(createMigrationsTable)
    // Again, under the lock: where `flock` is missing another process may have been faster.
    for (const migration of pendingMigrations(readVersion(connection), mayMigrate)) {
      for (const statement of migration.statements()) connection.run(translate(statement))
      connection.run(
        translate('insert into schema_migrations (version, name, applied_at_ms) values ($1, $2, now_ms())'),
        [migration.version, migration.name],
      )
    }
    connection.run('commit')
  } catch (error) {
    if (connection.inTransaction) connection.run('rollback')
    throw error
  }
}

/** By `query`, whose statements end with the connection: one left over would keep the log from being folded in. */
function readVersion(connection: Sqlite): number {
  const tables = connection.query(
    `select 1 from sqlite_master where type = 'table' and name = 'schema_migrations'`,
  )
  if (tables.get() === null) return 0
  const versions = connection.query<{ version: bigint | null }, []>(
    'select max(version) as version from schema_migrations',
  )
  return Number(versions.get()?.version ?? 0)
}
