import { cohereAnswered, cohereAsked } from './features/cohere.ts'
import { converseAnswered, converseAsked, converseModels } from './features/converse.ts'
import { geminiAnswered, geminiAsked, geminiModels } from './features/gemini.ts'
import { modelOf } from './lab.ts'
import {
  cellOf as cellOfRow,
  impossible,
  type Caller,
  type Cell,
  type ColumnAnswer,
  type ColumnCells,
  type ColumnUpstream,
  type Row,
  type Upstream,
} from './table.ts'

/** Of a row that says nothing of a format; the test of the page finds it. */
const missing = impossible('')

interface Column {
  asked: Readonly<Record<string, ColumnCells>>
  answered: Readonly<Record<string, Pick<ColumnAnswer<unknown>, 'cells'>>>
  /** Models of rows that are about another one than the column's usual. */
  models: Readonly<Record<string, string>>
}

const columns: Readonly<Record<ColumnUpstream, Column>> = {
  gemini: { asked: geminiAsked, answered: geminiAnswered, models: geminiModels },
  converse: { asked: converseAsked, answered: converseAnswered, models: converseModels },
  cohere: { asked: cohereAsked, answered: cohereAnswered, models: {} },
}

/** The cell of a row. Some columns stand in files of their own. */
export function cellOf(row: Row, caller: Caller, upstream: Upstream): Cell {
  if (!isColumn(upstream)) return cellOfRow(row, caller, upstream)
  const { asked, answered } = columns[upstream]
  if (row.kind === 'answered') return answered[row.id]?.cells[caller] ?? missing
  const cells = row.cells[caller]
  if ('cannotAsk' in cells) return impossible(cells.cannotAsk)
  return asked[row.id]?.[caller] ?? missing
}

/** The model that a row asks, by the upstream's format. */
export function modelFor(row: Row, { caller, upstream }: { caller: Caller; upstream: Upstream }): string {
  if (!isColumn(upstream)) return modelOf(upstream, row.kind === 'asked' ? row.models : {})
  const model = columns[upstream].models[row.id] ?? modelOf(upstream)
  // Callers of messages reach the Claude models of Bedrock in their own format.
  return upstream === 'converse' && caller === 'messages' ? modelOf(upstream) : model
}

function isColumn(upstream: Upstream): upstream is ColumnUpstream {
  return Object.hasOwn(columns, upstream)
}
