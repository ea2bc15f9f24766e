import type { SqlValue } from '../database.ts'

/** Rows that one run of a bulk insert writes: more gain nothing, and fewer are written one by one. */
export const rowsAtOnce = 8

/** A bulk insert of SQLite, `insert into t (…) values (?1, …) …`, taken apart. */
export interface BulkInsert {
  head: string
  /** One list of values, in parentheses. */
  values: string
  tail: string
  /** The number of values of a row. */
  width: number
}

/** Null for a statement of another shape. */
export function readBulkInsert(sql: string): BulkInsert | null {
  const head = /^\s*insert\s+into\s+\w+\s*\([^)]*\)\s*values\s*/i.exec(sql)?.[0]
  if (head === undefined) return null
  const end = endOfList(sql, head.length)
  const values = sql.slice(head.length, end)
  const tail = sql.slice(end)
  const numbers = new Set([...values.matchAll(parameters)].map(([, number]) => Number(number)))
  const width = Math.max(...numbers)
  // A parameter behind the values would be the same for all rows, and one that no value uses would have no place.
  if (numbers.size === 0 || numbers.size !== width || tail.includes('?')) return null
  return { head, values, tail, width }
}

/** Which columns of a bulk insert the writer binds once for all rows, and which for each row; counted from 0. */
export interface BoundPlaces {
  shared: readonly number[]
  own: readonly number[]
}

/** The insert of `rowsAtOnce` rows: the shared values once, then the own values of each row. */
export function insertOfRows({ head, values, tail }: BulkInsert, { shared, own }: BoundPlaces): string {
  const lists = Array.from({ length: rowsAtOnce }, (_, row) =>
    values.replaceAll(parameters, (_text, number: string) => {
      const place = Number(number) - 1
      const sharedAt = shared.indexOf(place)
      return `?${1 + (sharedAt >= 0 ? sharedAt : shared.length + row * own.length + own.indexOf(place))}`
    }),
  )
  return `${head}${lists.join(', ')}${tail}`
}

/** A prepared statement, as far as it is run here. */
interface Runnable {
  run(values: readonly SqlValue[]): { changes: number }
  finalize(): void
}

/**
 * Runs a bulk insert for `rowsAtOnce` rows at a time. To hand a value to SQLite costs more than to compare it, and most
 * values of neighbouring rows are equal: a column is handed over once for all rows until rows that are written together
 * differ in it. From then on each row has its own, so a statement is prepared anew at most once for each column.
 */
export class RowsAtOnce {
  readonly #insert: BulkInsert
  readonly #prepare: (sql: string) => Runnable
  #places: BoundPlaces
  #prepared: Runnable | null = null

  constructor(insert: BulkInsert, prepare: (sql: string) => Runnable) {
    this.#insert = insert
    this.#prepare = prepare
    this.#places = { shared: Array.from({ length: insert.width }, (_, place) => place), own: [] }
  }

  /** Writes `rowsAtOnce` rows from the one at `start` on; null when one has another number of values. Throws what SQLite throws. */
  run(rows: readonly (readonly SqlValue[])[], start: number): number | null {
    const first = rows[start] ?? []
    for (let row = start; row < start + rowsAtOnce; row += 1)
      if (rows[row]?.length !== this.#insert.width) return null
    if (!this.#share(rows, start)) this.#part(rows, start)
    this.#prepared ??= this.#prepare(insertOfRows(this.#insert, this.#places))
    const { shared, own } = this.#places
    const values: SqlValue[] = []
    for (const place of shared) values.push(first[place] ?? null)
    for (let row = start; row < start + rowsAtOnce; row += 1) {
      const of = rows[row] ?? []
      for (const place of own) values.push(of[place] ?? null)
    }
    return this.#prepared.run(values).changes
  }

  finalize(): void {
    this.#prepared?.finalize()
    this.#prepared = null
  }

  #share(rows: readonly (readonly SqlValue[])[], start: number): boolean {
    for (const place of this.#places.shared) if (!isShared(rows, start, place)) return false
    return true
  }

  #part(rows: readonly (readonly SqlValue[])[], start: number): void {
    this.finalize()
    const shared = this.#places.shared.filter((place) => isShared(rows, start, place))
    const own = Array.from({ length: this.#insert.width }, (_, place) => place).filter(
      (place) => !shared.includes(place),
    )
    this.#places = { shared, own }
  }
}

function isShared(rows: readonly (readonly SqlValue[])[], start: number, place: number): boolean {
  const value = rows[start]?.[place]
  for (let row = start + 1; row < start + rowsAtOnce; row += 1) if (rows[row]?.[place] !== value) return false
  return true
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
