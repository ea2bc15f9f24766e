import { padded, widthOf, type Paint } from './paint.ts'

/** Columns with headers, each as wide as its longest cell; the last column is not padded. */
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
