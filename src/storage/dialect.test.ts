import { expect, test } from 'bun:test'
import { createTranslator } from './dialect.ts'
import { postgresDialect } from './postgres/postgres-dialect.ts'
import { sqliteDialect } from './sqlite/sqlite-dialect.ts'

const sql = 'select a from t where a = $1 and b < now_ms() and c = $12 {{for_update_skip_locked}}'

test('SQLite gets positions, its own clock and no row locks', () => {
  const translated = createTranslator(sqliteDialect)(sql)
  expect(translated).toBe(
    `select a from t where a = ?1 and b < cast(unixepoch('subsec') * 1000 as integer) and c = ?12 `,
  )
})

test('PostgreSQL gets its parameters as they are, its own clock and row locks', () => {
  const translated = createTranslator(postgresDialect)(sql)
  expect(translated).toBe(
    'select a from t where a = $1 and b < cast(extract(epoch from clock_timestamp()) * 1000 as bigint) and c = $12 for update skip locked',
  )
})

test('a test’s clock stands wherever the database’s would, and its text is not read as a pattern', () => {
  expect(createTranslator(sqliteDialect, `(select '$&')`)('select now_ms(), now_ms()')).toBe(
    `select (select '$&'), (select '$&')`,
  )
})

test('a table that is filed by day is partitioned on PostgreSQL and ordered by its key on SQLite', () => {
  const table = 'create table t (day bigint not null, primary key (day)) {{filed_by_day}}'
  expect(createTranslator(postgresDialect)(table)).toEndWith(') partition by range (day)')
  expect(createTranslator(sqliteDialect)(table)).toEndWith(') without rowid')
})
