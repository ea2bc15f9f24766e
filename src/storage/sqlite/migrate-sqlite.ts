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
 * Brings the schema up to date in one transaction. The caller holds the file lock. The version is read first, so that
 * the usual start writes nothing. Throws `SchemaOccupied` when another process must end before.
 */
export function migrateSqlite(connection: Sqlite, migration: SqliteMigration): void {
  if (pendingMigrations(readState(connection), migration.mayMigrate).length === 0) return
  // A migration that rebuilds a table drops the old one. With foreign keys on, rows that refer to it would lose their
  // parents. The setting has no effect within a transaction, so it is changed before.
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
  // Read again under the lock: without `flock` another process may have migrated meanwhile.
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
  // Version 0.1 reads the schema a moment before it takes its owner id, so a starting one is looked for here.
  refuseOccupied()
}

/** Uses `query`, whose statements end with the connection: an open one would keep the log from being merged into the file. */
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
