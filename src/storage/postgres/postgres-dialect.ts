import type { Dialect } from '../dialect.ts'

/** PostgreSQL 14 or newer. */
export const postgresDialect: Dialect = {
  nowExpression: 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)',
  bytesType: 'bytea',
  rowNumber: 'bigint generated always as identity primary key',
  filedByDay: 'partition by range (day)',
  forUpdateSkipLocked: 'for update skip locked',
  parameter: (number) => `$${number}`,
}
