import type { Dialect } from '../dialect.ts'

/** SQLite 3.42 or newer. */
export const sqliteDialect: Dialect = {
  nowExpression: `cast(unixepoch('subsec') * 1000 as integer)`,
  bytesType: 'blob',
  rowNumber: 'integer primary key',
  // Then a row is one insert into one tree. Otherwise it is two: into the table, and into the index of its key.
  filedByDay: 'without rowid',
  forUpdateSkipLocked: '',
  // In SQLite `$1` is a name, bound in order of appearance; `?1` is a position.
  parameter: (number) => `?${number}`,
}
