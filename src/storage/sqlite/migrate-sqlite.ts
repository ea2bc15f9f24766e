import type { Database as Sqlite } from 'bun:sqlite'
import { assert } from '../../core/assert.ts'
import { SchemaOccupied } from '../database.ts'
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

/** What the migration needs besides the connection. */
export interface SqliteMigration {
  mayMigrate: boolean
  translate: (sql: string) => string
  /** Other processes that run on the file, in words. */
  listOccupants: () => string[]
}

/**
 * Brings the schema up to date, in one transaction: all of it or nothing. The caller holds the file lock. Reading the
 * version first keeps the usual start free of writes. Throws `SchemaOccupied` when somebody else must end before.
 */
export function migrateSqlite(connection: Sqlite, migration: SqliteMigration): void {
  if (pendingMigrations(readState(connection), migration.mayMigrate).length === 0) return
  // A table that is made anew is dropped, which would count for the rows that name it as a loss of their parents. The
  // setting does nothing within a transaction.
  connection.run('pragma foreign_keys = off')
  try {
    connection.run('begin immediate')
    runPending(connection, migration)
    connection.run('commit')
  } finally {
    if (connection.inTransaction) connection.run('rollback')
    connection.run('pragma foreign_keys = on')
  }
}

function runPending(connection: Sqlite, { mayMigrate, translate, listOccupants }: SqliteMigration): void {
  connection.run(createMigrationsTable)
  // Again, under the lock: where `flock` is missing another process may have been faster.
  const state = readState(connection)
  const pending = pendingMigrations(state, mayMigrate)
  const refuseOccupied = (): void => {
    const occupants = isExclusive(state, pending) ? listOccupants() : []
    if (occupants.length > 0) throw new SchemaOccupied(occupants)
  }
  refuseOccupied()
  for (const migration of pending) {
    for (const statement of migration.statements('sqlite')) connection.run(translate(statement))
    const { sql, params } = recordMigration(migration)
    connection.run(translate(sql), params)
  }
  const broken = connection.query('pragma foreign_key_check').all()
  assert(broken.length === 0, 'every row that names another still finds it after a migration')
  // Version 0.1 looked at the schema a moment before it showed that it runs.
  refuseOccupied()
}

/** By `query`, whose statements end with the connection: one left over would keep the log from being folded in. */
function readState(connection: Sqlite): SchemaState {
  const tables = connection.query(
    `select 1 from sqlite_master where type = 'table' and name = 'schema_migrations'`,
  )
  if (tables.get() === null) return { version: 0, exclusiveVersion: 0 }
  const read = (sql: string): number =>
    Number(connection.query<{ version: bigint | null }, []>(sql).get()?.version ?? 0)
  const version = read(selectVersionSql)
  const hasKinds = version >= firstVersionWithKinds
  return { version, exclusiveVersion: hasKinds ? read(selectExclusiveVersionSql) : version }
}
