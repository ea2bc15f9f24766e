import { expect, test } from 'bun:test'
import type { TextCall } from '../../canonical/call.ts'
import { framesOf, runStream, testContext } from '../chat/chat-testing.ts'
import { decodeChatRequest } from '../chat/chat-request.ts'
import { selectCodec } from '../codec.ts'
import { decodeResponsesRequest } from '../responses/responses-decode.ts'
import { decodeMessagesRequest } from './messages-decode.ts'
import { messagesQuirks } from './messages-quirks.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const messages = [{ role: 'user', content: 'x' }]
const context = { sessionIdHeader: null }
const calls: Readonly<Record<'chat' | 'responses' | 'messages', TextCall>> = {
  chat: decodeChatRequest(bytesOf({ model: 'a/b', messages }), context),
  responses: decodeResponsesRequest(bytesOf({ model: 'a/b', input: 'x' }), context),
  messages: decodeMessagesRequest(bytesOf({ model: 'a/b', max_tokens: 9, messages }), context),
}

interface Event {
  type: string
  [member: string]: unknown
}

/** Everything that a caller of this format is shown of these events. */
function shownTo(caller: keyof typeof calls, events: readonly Event[]): string {
  const bytes = new TextEncoder().encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
  const rewriter = selectCodec(caller, 'messages').createStream(testContext, messagesQuirks(), calls[caller])
  const { shown, ending } = runStream(rewriter, bytes)
  expect(rewriter.failure).toBeNull()
  return shown + ending
}

const usage = { input_tokens: 9, output_tokens: 3 }
const start = { type: 'message_start', message: { id: 'msg_1', type: 'message', content: [], usage } }

test('the input of a tool that the provider runs is no call of the caller’s tools', () => {
  const ran = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  const called = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }
  const events = [ran, called].flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: block },
    {
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: index === 0 ? '{"query":"sun"}' : '{"city":"Oslo"}' },
    },
    { type: 'content_block_stop', index },
  ])
  const end = { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage }
  const frames = framesOf(shownTo('chat', [start, ...events, end, { type: 'message_stop' }]))
  const deltas = frames.flatMap(
    (frame) => (frame['choices'] as { delta: { tool_calls?: unknown[] } }[])[0]?.delta.tool_calls ?? [],
  )
  expect(deltas).toEqual([
    { index: 0, id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '' } },
    { index: 0, function: { arguments: '{"city":"Oslo"}' } },
  ])
})

test('an answer that stands whole in the first event is told with its calls and its end', () => {
  // Calls that a provider's own code execution makes come so: no block follows, and no other reason.
  const call = { type: 'tool_use', id: 'toolu_1', name: 'roll', input: { player: 'one' } }
  const message = { ...start.message, content: [call], stop_reason: 'tool_use', stop_sequence: null }
  const events = [{ type: 'message_start', message }, { type: 'message_stop' }]
  const chat = shownTo('chat', events)
  expect(chat).toContain('"id":"toolu_1"')
  expect(chat).toContain(JSON.stringify('{"player":"one"}'))
  expect(chat).toContain('"finish_reason":"tool_calls"')
  const responses = shownTo('responses', events)
  expect(responses).toContain('"type":"function_call","call_id":"toolu_1"')
  const passed = shownTo('messages', events)
  expect(passed.match(/"id":"toolu_1"/g)).toHaveLength(1)
  expect(passed).toContain('"stop_reason":"tool_use","stop_sequence":null,"stop_details":null')
})

/** What a chat caller reads, when two blocks are open at once and the first goes on. */
function readOverlap(first: object, second: object, delta: object) {
  const events = [
    { type: 'content_block_start', index: 0, content_block: first },
    { type: 'content_block_start', index: 1, content_block: second },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ]
  const bytes = new TextEncoder().encode(
    [start, ...events].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
  const rewriter = selectCodec('chat', 'messages').createStream(testContext, messagesQuirks(), calls.chat)
  const { shown, ending } = runStream(rewriter, bytes)
  return { shown: shown + ending, failure: rewriter.failure }
}

test('the words of a block that the next one closed are shown', () => {
  const text = { type: 'text', text: '' }
  const { shown, failure } = readOverlap(text, text, { type: 'text_delta', text: 'Rain.' })
  expect(failure).toBeNull()
  expect(shown).toContain('"content":"Rain."')
})

test('a thought of a block that the next one closed is shown as a thought', () => {
  const { shown, failure } = readOverlap(
    { type: 'thinking', thinking: '' },
    { type: 'text', text: '' },
    { type: 'thinking_delta', thinking: 'Hm.' },
  )
  expect(failure).toBeNull()
  expect(shown).toContain('"reasoning":"Hm."')
})

test('arguments of a call that the next block closed fail the stream', () => {
  const { failure } = readOverlap(
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
    { type: 'text', text: '' },
    { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' },
  )
  expect(failure?.type).toBe('provider_failed')
})
