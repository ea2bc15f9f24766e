import type { Database, DatabaseOptions } from './database.ts'
import { openPostgres } from './postgres/postgres-database.ts'
import { openSqlite } from './sqlite/sqlite-database.ts'

/**
 * Opens the database that the URL names, `sqlite:/path/file.db` or `postgres://…`, and brings its schema up to date.
 * Rejects with `storage_unavailable` when it cannot be reached and with `SchemaMismatch` when the schema does
 * not fit this program.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url.startsWith('sqlite:')) return openSqlite(options.url.slice('sqlite:'.length), options)
  if (/^postgres(ql)?:\/\//.test(options.url)) return openPostgres(options)
  throw new Error('The database URL must start with sqlite: or postgres://.')
}
