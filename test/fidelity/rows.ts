import { answerRows } from './features/answers.ts'
import { historyRows } from './features/history.ts'
import { toolRows } from './features/tools.ts'
import { wishRows } from './features/wishes.ts'
import { withResponses } from './features/responses-upstream.ts'
import type { Row } from './table.ts'

/** The table, by the parts of its page. */
export const parts: readonly { title: string; rows: readonly Row[] }[] = [
  { title: 'What was said before', rows: historyRows.map(withResponses) },
  { title: 'Tools', rows: toolRows.map(withResponses) },
  { title: 'What the answer is to be', rows: wishRows.map(withResponses) },
  { title: 'What the answer says', rows: answerRows.map(withResponses) },
]
