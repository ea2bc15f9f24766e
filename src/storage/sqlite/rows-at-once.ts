/** Rows that one run of a bulk insert writes: more gain nothing, and fewer are written one by one. */
export const rowsAtOnce = 8

/**
 * A bulk insert of SQLite, `insert into t (…) values (?1, …) …`, for `rowsAtOnce` rows, whose values follow each other in
 * one list. Null for a statement of another shape.
 */
export function forRowsAtOnce(sql: string): { sql: string; width: number } | null {
  const head = /^\s*insert\s+into\s+\w+\s*\([^)]*\)\s*values\s*/i.exec(sql)?.[0]
  if (head === undefined) return null
  const end = endOfList(sql, head.length)
  const values = sql.slice(head.length, end)
  const tail = sql.slice(end)
  const numbers = [...values.matchAll(parameters)].map(([, number]) => Number(number))
  // A parameter behind the values would be the same for all rows.
  if (numbers.length === 0 || tail.includes('?')) return null
  const width = Math.max(...numbers)
  const lists = Array.from({ length: rowsAtOnce }, (_, row) =>
    values.replaceAll(parameters, (_text, number: string) => `?${Number(number) + row * width}`),
  )
  return { sql: `${head}${lists.join(', ')}${tail}`, width }
}

const parameters = /\?(\d+)/g

/** The place behind the parenthesis that closes the one at `start`. */
function endOfList(sql: string, start: number): number {
  let depth = 0
  for (let at = start; at < sql.length; at += 1) {
    if (sql[at] === '(') depth += 1
    else if (sql[at] === ')' && --depth === 0) return at + 1
  }
  return sql.length
}
