import { expect, test } from 'bun:test'
import { droppedNamesMax, steppedMessagesMax } from '../../core/limits/text.ts'
import { chatQuirks } from './chat/quirks.ts'
import { geminiQuirks } from './gemini/quirks.ts'
import { messagesQuirks } from './messages/quirks.ts'
import { chatCompletions, messages, responses } from './text-operations.ts'
import { responsesQuirks } from './responses/quirks.ts'
import { encodeInSteps, selectCodec } from './formats.ts'
import { testEndpoint } from './testing.ts'

const operations = { chat: chatCompletions, responses, messages }
const quirksOf = {
  chat: chatQuirks({ unknownMembers: 'drop' }),
  responses: responsesQuirks(),
  messages: messagesQuirks(),
  gemini: geminiQuirks(),
}
type Caller = keyof typeof operations
type Upstream = keyof typeof quirksOf

/** `more` are members of every message. */
function bodyOf(caller: Caller, count: number, more: (index: number) => object = () => ({})): object {
  const said = Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: 'so',
    ...more(index),
  }))
  if (caller === 'responses')
    return { model: 'a/b', input: said.map((each) => ({ type: 'message', ...each })) }
  return { model: 'a/b', max_tokens: 9, messages: said }
}

function encode(caller: Caller, upstream: Upstream, body: object) {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const call = operations[caller].decode(bytes, { sessionIdHeader: null })
  const asked = { call, endpoint: testEndpoint('up'), quirks: quirksOf[upstream] }
  const work = encodeInSteps(selectCodec(caller, upstream), asked)
  for (let turns = 1; ; turns += 1) {
    const { done, value } = work.next()
    if (done) return { turns, dropped: value.dropped }
  }
}

test('a long conversation is read and written for every other format in several turns', () => {
  for (const caller of ['chat', 'responses', 'messages'] as const)
    for (const upstream of ['chat', 'responses', 'messages', 'gemini'] as const) {
      if (caller === upstream) continue
      const few = encode(caller, upstream, bodyOf(caller, 10)).turns
      const many = encode(caller, upstream, bodyOf(caller, 3 * steppedMessagesMax + 10)).turns
      // Three more turns to read, and three to write.
      expect([caller, upstream, many - few >= 6]).toEqual([caller, upstream, true])
    }
})

test('a long message of a messages caller is read in several turns', () => {
  const blocks = Array.from({ length: 3 * steppedMessagesMax + 10 }, () => ({ type: 'text', text: 'so' }))
  const body = { model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: blocks }] }
  const few = encode('messages', 'chat', bodyOf('messages', 10)).turns
  expect(encode('messages', 'chat', body).turns - few).toBeGreaterThanOrEqual(3)
})

test('the messages of a long conversation are adapted to a host of their own format in several turns', () => {
  const marked = (count: number) => bodyOf('chat', count, () => ({ my_tag: 1 }))
  const few = encode('chat', 'chat', marked(10)).turns
  const many = encode('chat', 'chat', marked(3 * steppedMessagesMax + 10)).turns
  expect(many - few).toBeGreaterThanOrEqual(3)
})

test('of very many members that a caller made up the first are listed', () => {
  const body = bodyOf('chat', droppedNamesMax + 500, (index) => ({ [`x${index}`]: 1 }))
  for (const upstream of ['chat', 'messages'] as const) {
    const { dropped } = encode('chat', upstream, body)
    expect(dropped).toHaveLength(droppedNamesMax)
    expect(dropped).toContain('messages[].x0')
  }
})
