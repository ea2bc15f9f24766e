import { readdirSync, readFileSync } from 'node:fs'
import { assert } from '../core/assert.ts'
import { SchemaMismatch } from './database.ts'

/** One numbered step of the schema; its statements are read only when it has to run. */
export interface Migration {
  version: number
  name: string
  /** The step's statements in the common SQL, in order. */
  statements(): string[]
}

const folder = new URL('./migrations/', import.meta.url)

/** Every migration, oldest first. Versions count from 1 without a gap. */
export function listMigrations(): Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
  return files.map((file, index) => {
    const version = Number(file.slice(0, 4))
    assert(version === index + 1, `migration ${file} must be number ${index + 1}`)
    return {
      version,
      name: file.slice(5, -4),
      statements: () => splitStatements(readFileSync(new URL(file, folder), 'utf8')),
    }
  })
}

/** The migrations a database at `current` still needs. Throws `SchemaMismatch`. */
export function pendingMigrations(current: number, mayMigrate: boolean): Migration[] {
  const all = listMigrations()
  if (current > all.length || (current < all.length && !mayMigrate))
    throw new SchemaMismatch(current, all.length)
  return all.slice(current)
}

/** The table that remembers which migrations have run; the same on both databases. */
export const createMigrationsTable = `create table if not exists schema_migrations (
  version integer primary key,
  name text not null,
  applied_at_ms bigint not null
)`

function splitStatements(text: string): string[] {
  return text
    .split(/^--;;$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
