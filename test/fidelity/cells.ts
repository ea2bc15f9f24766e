import { geminiAnswered, geminiAsked, geminiModels } from './features/gemini.ts'
import { modelOf } from './lab.ts'
import { cellOf as cellOfRow, impossible, type Caller, type Cell, type Row, type Upstream } from './table.ts'

/** Of a row that says nothing of a format; the test of the page finds it. */
const missing = impossible('')

/** The cell of a row. Those of Gemini stand in a file of their own. */
export function cellOf(row: Row, caller: Caller, upstream: Upstream): Cell {
  if (upstream !== 'gemini') return cellOfRow(row, caller, upstream)
  if (row.kind === 'answered') return geminiAnswered[row.id]?.cells[caller] ?? missing
  const cells = row.cells[caller]
  if ('cannotAsk' in cells) return impossible(cells.cannotAsk)
  return geminiAsked[row.id]?.[caller] ?? missing
}

/** The model that a row asks, by the upstream's format. */
export function modelFor(row: Row, upstream: Upstream): string {
  const given = row.kind === 'asked' ? (row.models ?? {}) : {}
  return upstream === 'gemini' ? (geminiModels[row.id] ?? modelOf(upstream)) : modelOf(upstream, given)
}
