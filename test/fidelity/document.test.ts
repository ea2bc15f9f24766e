import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fidelityDocument } from './document.ts'
import { cellOf } from './cells.ts'
import { parts } from './rows.ts'
import { pairs, type Cell } from './table.ts'

// The page has a cell for every pair of formats, and says "carried" only of what a test looks at.

const rows = parts.flatMap((part) => part.rows)
const cells = rows.flatMap((row) =>
  pairs.map(({ caller, upstream }) => ({ row, cell: cellOf(row, caller, upstream) })),
)

test('docs/fidelity.md is what the table says', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/fidelity.md'), 'utf8')
  expect(page).toBe(fidelityDocument())
})

test('every row has a number of its own', () => {
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  expect(rows.length).toBeGreaterThan(90)
})

test('no cell is empty, and none expects nothing', () => {
  for (const { row, cell } of cells) expect([row.id, isSaying(cell)]).toEqual([row.id, true])
})

function isSaying(cell: Cell): boolean {
  switch (cell.is) {
    case 'carried':
      return Object.keys(cell.expected).length > 0 || cell.absent.length > 0
    case 'approximated':
      return cell.how !== '' && cell.listed.length > 0 && Object.keys(cell.expected).length > 0
    case 'dropped':
      return cell.listed.length > 0 && cell.absent.length > 0
    case 'refused':
      return cell.param !== ''
    case 'impossible':
      return cell.why !== ''
  }
}
