import type { Dialect } from '../dialect.ts'

/** SQLite 3.42 or newer. */
export const sqliteDialect: Dialect = {
  nowExpression: `cast(unixepoch('subsec') * 1000 as integer)`,
  bytesType: 'blob',
  rowNumber: 'integer primary key',
  // A row is then one insert into one tree, instead of one into the table and one into the index of its key.
  filedByDay: 'without rowid',
  forUpdateSkipLocked: '',
  // `$1` would be a name, bound in order of appearance; `?1` is a position.
  parameter: (number) => `?${number}`,
}
