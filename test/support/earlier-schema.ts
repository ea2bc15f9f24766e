import { SQL } from 'bun'
import { Database as Sqlite } from 'bun:sqlite'
import type { Row } from '../../src/storage/database.ts'
import { createTranslator, type DialectName } from '../../src/storage/dialect.ts'
import { createMigrationsTable, listMigrations, recordMigration } from '../../src/storage/migrations.ts'
import { createDayPartitions, createFixedPartitions } from '../../src/storage/postgres/partitions.ts'
import { Pool } from '../../src/storage/postgres/pool.ts'
import { postgresDialect } from '../../src/storage/postgres/postgres-dialect.ts'
import { normaliseRows } from '../../src/storage/rows.ts'
import { sqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.ts'

/**
 * Turns an empty database into one that a program of that schema version left behind, runs statements on it, and
 * returns the rows of the reads.
 */
export async function createEarlierSchema(
  url: string,
  version: number,
  statements: readonly string[],
  reads: readonly string[] = [],
): Promise<Row[][]> {
  const connect = url.startsWith('sqlite:') ? connectSqlite : connectPostgres
  const connection = await connect(url)
  await connection.run('begin')
  for (const { sql, params } of schemaOf(version, connection.dialect)) await connection.run(sql, params)
  await connection.run('commit')
  await connection.createPartitions()
  for (const sql of statements) await connection.run(sql)
  const rows: Row[][] = []
  for (const sql of reads) rows.push(normaliseRows(await connection.run(sql)))
  await connection.close()
  return rows
}

interface Connection {
  dialect: DialectName
  run(sql: string, params?: (string | number)[]): Promise<Row[]>
  createPartitions(): Promise<void>
  close(): Promise<void>
}

async function connectSqlite(url: string): Promise<Connection> {
  const connection = new Sqlite(url.slice('sqlite:'.length), { create: true, safeIntegers: true })
  const translate = createTranslator(sqliteDialect)
  connection.run('pragma journal_mode = wal')
  connection.run('pragma foreign_keys = on')
  return {
    dialect: 'sqlite',
    run: async (sql, params = []) =>
      connection.query<Row, (string | number)[]>(translate(sql)).all(...params),
    createPartitions: () => Promise.resolve(),
    close: async () => connection.close(),
  }
}

async function connectPostgres(url: string): Promise<Connection> {
  const sql = new SQL({ url, max: 1, bigint: true })
  const translate = createTranslator(postgresDialect)
  return {
    dialect: 'postgres',
    run: async (text, params = []) => Array.from((await sql.unsafe(translate(text), params)) as Row[]),
    async createPartitions() {
      const connection = await sql.reserve()
      await createFixedPartitions(connection)
      await connection.release()
      const pool = new Pool({ url, connectionsMax: 1, patienceMs: 60_000 })
      await createDayPartitions(pool, translate)
      await pool.close()
    },
    close: () => sql.close(),
  }
}

function schemaOf(version: number, dialect: DialectName) {
  const steps = listMigrations().slice(0, version)
  return [
    { sql: createMigrationsTable, params: [] },
    ...steps.flatMap((step) => [
      ...step.statements(dialect).map((sql) => ({ sql, params: [] })),
      recordMigration(step),
    ]),
  ]
}
