import { readdirSync, readFileSync } from 'node:fs'
import { assert } from '../core/assert.ts'
import { SchemaMismatch } from './database.ts'
import { dialectNames, type DialectName } from './dialect.ts'

/**
 * What a step means for older programs, which do not know it. `additive`: they can still run on the schema. `exclusive`:
 * they cannot, so the step waits until no other process runs on the database.
 */
export type MigrationKind = 'additive' | 'exclusive'

/** One numbered step of the schema; its statements are read only when it has to run. */
export interface Migration {
  version: number
  name: string
  kind: MigrationKind
  /** The step's statements in the common SQL, in order, without those for the other database. */
  statements(dialect: DialectName): string[]
}

/** A database's record of its schema. */
export interface SchemaState {
  /** The last migration that has run, 0 when none has. */
  version: number
  /** The last exclusive one, 0 when there is none. */
  exclusiveVersion: number
}

const folder = new URL('./migrations/', import.meta.url)

/** The first version that records the kind of each migration; all earlier ones were exclusive. */
export const firstVersionWithKinds = 3

/** Every migration, oldest first. Versions count from 1 without a gap. */
export function listMigrations(): Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
  return files.map((file, index) => {
    const version = Number(file.slice(0, 4))
    assert(version === index + 1, `migration ${file} must be number ${index + 1}`)
    const text = readFileSync(new URL(file, folder), 'utf8')
    return {
      version,
      name: file.slice(5, -4),
      kind: version < firstVersionWithKinds ? 'exclusive' : kindOf(text, file),
      statements: (dialect) => splitStatements(text, dialect),
    }
  })
}

/**
 * The migrations that a database still needs. A schema that is newer than this program fits if only additive steps made
 * it newer. Throws `SchemaMismatch`.
 */
export function pendingMigrations(
  state: SchemaState,
  mayMigrate: boolean,
  all = listMigrations(),
): Migration[] {
  const isTooNew = state.exclusiveVersion > all.length
  if (isTooNew || (state.version < all.length && !mayMigrate))
    throw new SchemaMismatch(state.version, all.length)
  return all.slice(state.version)
}

/** Whether the pending migrations must have the database for themselves. On a new database no other process can run. */
export function isExclusive(state: SchemaState, pending: readonly Migration[]): boolean {
  return state.version > 0 && pending.some(({ kind }) => kind === 'exclusive')
}

/** The table of the migrations that have run; the same on both databases. Its column `kind` comes with version 3. */
export const createMigrationsTable = `create table if not exists schema_migrations (
  version integer primary key,
  name text not null,
  applied_at_ms bigint not null
)`

/** Only where the table exists. */
export const selectVersionSql = 'select max(version) as version from schema_migrations'
/** Only where the version is `firstVersionWithKinds` or more. */
export const selectExclusiveVersionSql = `select max(version) as version from schema_migrations where kind = 'exclusive'`

/** Remembers a migration in the common SQL, within the transaction that ran it. */
export function recordMigration({ version, name, kind }: Migration): {
  sql: string
  params: (string | number)[]
} {
  if (version < firstVersionWithKinds)
    return {
      sql: 'insert into schema_migrations (version, name, applied_at_ms) values ($1, $2, now_ms())',
      params: [version, name],
    }
  return {
    sql: 'insert into schema_migrations (version, name, kind, applied_at_ms) values ($1, $2, $3, now_ms())',
    params: [version, name, kind],
  }
}

function kindOf(text: string, file: string): MigrationKind {
  const kind = /^-- (additive|exclusive)\b/.exec(text)?.[1]
  assert(kind, `migration ${file} must begin with a line "-- additive: …" or "-- exclusive: …" that says why`)
  return kind === 'additive' ? 'additive' : 'exclusive'
}

/** Statements are separated by lines `--;;`. One after `--;; sqlite` or `--;; postgres` is for that database alone. */
function splitStatements(text: string, dialect: DialectName): string[] {
  const [first = '', ...rest] = text.split(/^--;;(.*)$/m)
  const statements = [first]
  for (let index = 0; index < rest.length; index += 2) {
    const only = rest[index]?.trim()
    assert(only === '' || dialectNames.some((name) => name === only), `there is no database "${only}"`)
    if (only === '' || only === dialect) statements.push(rest[index + 1] ?? '')
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '')
}
