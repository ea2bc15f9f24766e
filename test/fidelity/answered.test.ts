import { afterAll, describe, expect, test } from 'bun:test'
import { cellOf, modelFor } from './cells.ts'
import { cohereAnswered } from './features/cohere.ts'
import { converseAnswered } from './features/converse.ts'
import { geminiAnswered } from './features/gemini.ts'
import { repliesSaying, requestOf, startLab } from './lab.ts'
import { joined } from './replies.ts'
import { parts } from './rows.ts'
import { pairs, type AnsweredRow, type Caller, type Upstream } from './table.ts'

// What a caller gets of an answer, whole and streamed, for every pair of formats; the expectations are in features/.

const lab = await startLab()
afterAll(() => lab.stop())

const nothing = repliesSaying('x')

async function check(row: AnsweredRow, caller: Caller, upstream: Upstream): Promise<void> {
  const cell = cellOf(row, caller, upstream)
  if (cell.is !== 'carried') throw new Error(`${row.id} is not carried, and has no test`)
  const { chat, responses, messages } = row.given
  lab.answer({
    chat: chat ?? nothing.chat,
    responses: responses ?? nothing.responses,
    messages: messages ?? nothing.messages,
    gemini: geminiAnswered[row.id]?.given ?? nothing.gemini,
    converse: converseAnswered[row.id]?.given ?? nothing.converse,
    cohere: cohereAnswered[row.id]?.given ?? nothing.cohere,
  })
  const request = requestOf(caller, modelFor(row, { caller, upstream }), {})
  const whole = await lab.ask(caller, request)
  expect(whole).toMatchObject({ status: 200 })
  expect(whole.json).toMatchObject(cell.expected)
  const streamed = await lab.ask(caller, { ...request, stream: true })
  expect(joined(caller, streamed.text)).toMatchObject(cell.streamed ?? cell.expected)
}

for (const { title, rows } of parts) {
  describe(title, () => {
    for (const row of rows) {
      if (row.kind !== 'answered') continue
      for (const { caller, upstream } of pairs) {
        const { is } = cellOf(row, caller, upstream)
        if (is === 'impossible') continue
        test(`${row.id} ${upstream} to ${caller}: ${row.title} (${is})`, () => check(row, caller, upstream))
      }
    }
  })
}
