import { statementCacheMax } from '../core/limits/storage.ts'

/** The databases that Headrace runs on. */
export const dialectNames = ['sqlite', 'postgres'] as const

/** One of them, as `--;; <name>` in a migration names it. */
export type DialectName = (typeof dialectNames)[number]

/** The differences between the databases in the text of a statement. */
export interface Dialect {
  /** Whole epoch milliseconds by the database's clock. */
  nowExpression: string
  bytesType: string
  /** The type of a column that numbers its rows and is the primary key. */
  rowNumber: string
  /** The end of a table with a `day` in its primary key: a partition per day, or rows stored in the order of the key. */
  filedByDay: string
  forUpdateSkipLocked: string
  /** How the parameter `$n` is written. */
  parameter: (number: string) => string
}

/** A function from the common SQL to a dialect's SQL; it remembers a bounded number of results. */
export function createTranslator(
  dialect: Dialect,
  nowExpression = dialect.nowExpression,
): (sql: string) => string {
  const known = new Map<string, string>()
  return (sql) => {
    const found = known.get(sql)
    if (found !== undefined) return found
    // Only a program that builds SQL from data reaches the bound often; clearing keeps that program's memory flat.
    if (known.size >= statementCacheMax) known.clear()
    const translated = translate(sql, dialect, nowExpression)
    known.set(sql, translated)
    return translated
  }
}

function translate(sql: string, dialect: Dialect, nowExpression: string): string {
  return sql
    .replaceAll(/\$(\d+)/g, (_, number: string) => dialect.parameter(number))
    .replaceAll('now_ms()', () => nowExpression)
    .replaceAll('{{bytes}}', dialect.bytesType)
    .replaceAll('{{row_number}}', dialect.rowNumber)
    .replaceAll('{{filed_by_day}}', dialect.filedByDay)
    .replaceAll('{{for_update_skip_locked}}', dialect.forUpdateSkipLocked)
}
