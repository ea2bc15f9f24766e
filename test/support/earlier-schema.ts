import { SQL } from 'bun'
import { Database as Sqlite } from 'bun:sqlite'
import { createTranslator } from '../../src/storage/dialect.ts'
import { createMigrationsTable, listMigrations, recordMigration } from '../../src/storage/migrations.ts'
import { createDayPartitions, createFixedPartitions } from '../../src/storage/postgres/partitions.ts'
import { Pool } from '../../src/storage/postgres/pool.ts'
import { postgresDialect } from '../../src/storage/postgres/postgres-dialect.ts'
import { sqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.ts'

/** Makes an empty database what a program of that schema version left behind, and runs statements of the common SQL on it. */
export async function createEarlierSchema(
  url: string,
  version: number,
  statements: readonly string[],
): Promise<void> {
  if (url.startsWith('sqlite:')) return createOnSqlite(url.slice('sqlite:'.length), version, statements)
  return createOnPostgres(url, version, statements)
}

function createOnSqlite(path: string, version: number, statements: readonly string[]): void {
  const connection = new Sqlite(path, { create: true })
  const translate = createTranslator(sqliteDialect)
  connection.run('pragma journal_mode = wal')
  connection.run('pragma foreign_keys = on')
  connection.run('begin')
  for (const { sql, params } of schemaOf(version, 'sqlite')) connection.run(translate(sql), [...params])
  for (const sql of statements) connection.run(translate(sql))
  connection.run('commit')
  connection.close()
}

async function createOnPostgres(url: string, version: number, statements: readonly string[]): Promise<void> {
  const sql = new SQL({ url, max: 1 })
  const translate = createTranslator(postgresDialect)
  const connection = await sql.reserve()
  for (const statement of schemaOf(version, 'postgres'))
    await connection.unsafe(translate(statement.sql), [...statement.params])
  await createFixedPartitions(connection)
  const pool = new Pool({ url, connectionsMax: 1, patienceMs: 60_000 })
  await createDayPartitions(pool, translate)
  await pool.close()
  for (const statement of statements) await connection.unsafe(translate(statement))
  connection.release()
  await sql.close()
}

function schemaOf(version: number, dialect: 'sqlite' | 'postgres') {
  const steps = listMigrations().slice(0, version)
  return [
    { sql: createMigrationsTable, params: [] },
    ...steps.flatMap((step) => [
      ...step.statements(dialect).map((sql) => ({ sql, params: [] })),
      recordMigration(step),
    ]),
  ]
}
