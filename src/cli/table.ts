import { padded, widthOf, type Paint } from './paint.ts'

/** Columns with a headline each, as wide as their longest cell; the last one is not filled up. */
export function renderTable(
  headers: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string {
  const widths = headers.map((header, column) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), widthOf(header)),
  )
  const line = (cells: readonly string[], colour: (text: string) => string) =>
    cells
      .map((cell, column) => colour(column === cells.length - 1 ? cell : padded(cell, widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return [line(headers, paint.dim), ...rows.map((row) => line(row, (text) => text))]
    .map((text) => `${text}\n`)
    .join('')
}
