import { expect, test } from 'bun:test'
import type { TextCall } from '../../../canonical/call.ts'
import { framesOf, runStream, testContext } from '../testing.ts'
import { decodeChatRequest } from '../chat/read-request.ts'
import { selectCodec } from '../formats.ts'
import { decodeResponsesRequest } from '../responses/read-request.ts'
import { decodeMessagesRequest } from './read-request.ts'
import { messagesQuirks } from './quirks.ts'

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

/** The frames that a caller of this format gets for these events. */
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

test('the input of a tool that the provider runs is not a call of the caller’s tools', () => {
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

test('an answer that is whole in the first event is sent with its calls and its end', () => {
  // Calls by a provider's own code execution come like this: neither a block nor another reason follows.
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

/** The answer of a chat caller when two blocks are open at once and the first one continues. */
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

const call = (id: string) => ({ type: 'tool_use', id, name: 'weather', input: {} })
const args = (text: string) => ({ type: 'input_json_delta', partial_json: text })

/** The calls and texts that a responses caller ends up with. */
function outputOf(events: readonly Event[]): unknown[] {
  const end = { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage }
  const shown = shownTo('responses', [start, ...events, end, { type: 'message_stop' }])
  const last = framesOf(shown.replaceAll(/^event: .*\n/gm, '')).at(-1) as { response: { output: unknown[] } }
  return last.response.output
}

const begin = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
})
const go = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const stop = (index: number) => ({ type: 'content_block_stop', index })

test('a call waits for its arguments while another block is open', () => {
  const others = {
    text: [
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Rain.' },
    ],
    call: [call('toolu_2'), args('{"city":"Rome"}')],
  } as const
  for (const [kind, [block, delta]] of Object.entries(others)) {
    const output = outputOf([
      begin(0, call('toolu_1')),
      begin(1, block),
      go(0, args('{"city"')),
      go(1, delta),
      go(0, args(':"Oslo"}')),
      stop(0),
      stop(1),
    ])
    expect(output).toMatchObject([
      { type: 'function_call', call_id: 'toolu_1', arguments: '{"city":"Oslo"}' },
      kind === 'text'
        ? { type: 'message', content: [{ text: 'Rain.' }] }
        : { type: 'function_call', call_id: 'toolu_2', arguments: '{"city":"Rome"}' },
    ])
  }
})

test('a call without arguments is whole when its block ends', () => {
  const output = outputOf([
    begin(0, call('toolu_1')),
    begin(1, call('toolu_2')),
    stop(1),
    begin(2, { type: 'text', text: 'Rain.' }),
    stop(0),
    stop(2),
  ])
  expect(output).toMatchObject([
    { call_id: 'toolu_1', arguments: '{}' },
    { call_id: 'toolu_2', arguments: '{}' },
    { content: [{ text: 'Rain.' }] },
  ])
})

test('blocks that a host gives one index, and never ends, are told apart', () => {
  const output = outputOf([
    begin(0, { type: 'text', text: 'Rain.' }),
    begin(0, call('toolu_1')),
    go(0, args('{"a":1}')),
    begin(0, call('toolu_2')),
    go(0, args('{"b":2}')),
  ])
  expect(output).toMatchObject([
    { content: [{ text: 'Rain.' }] },
    { call_id: 'toolu_1', arguments: '{"a":1}' },
    { call_id: 'toolu_2', arguments: '{"b":2}' },
  ])
})

test('arguments of a call whose block has ended fail the stream', () => {
  const events = [start, begin(0, call('toolu_1')), stop(0), go(0, args('{"city":"Oslo"}'))]
  const bytes = new TextEncoder().encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
  const rewriter = selectCodec('chat', 'messages').createStream(testContext, messagesQuirks(), calls.chat)
  runStream(rewriter, bytes)
  expect(rewriter.failure?.type).toBe('provider_failed')
})

test('a citation that comes after its block has ended belongs to that block’s text, or is dropped', () => {
  const citation = { type: 'web_search_result_location', url: 'https://example.com', title: 'A' }
  const cite = (index: number) => go(index, { type: 'citations_delta', citation })
  const events = [
    begin(0, { type: 'text', text: 'Rain.' }),
    stop(0),
    begin(1, call('toolu_1')),
    cite(0),
    stop(1),
    cite(1),
    cite(7),
  ]
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }
  const all = [start, ...events, end, { type: 'message_stop' }]
  const deltas = framesOf(shownTo('chat', all)).map(
    ({ choices }) => (choices as { delta: { content?: string; annotations?: unknown[] } }[])[0]?.delta,
  )
  expect(deltas.map((delta) => delta?.content ?? '').join('')).toBe('Rain.')
  expect(deltas.flatMap((delta) => delta?.annotations ?? [])).toMatchObject([
    { url_citation: { url: 'https://example.com' } },
  ])
  // An item that has ended takes no annotation, and the loss is listed.
  const shown = shownTo('responses', all)
  expect(shown).not.toContain('annotation.added')
  expect(shown).toContain('"dropped":["output[].content[].annotations"]')
  expect(outputOf(events)).toHaveLength(2)
})

test('members of a block that only this format has are shown to no other', () => {
  const own = { my_mark: 'x', caller: { type: 'direct' } }
  const events = [
    begin(0, { type: 'text', text: 'Rain.', ...own }),
    stop(0),
    begin(1, { ...call('toolu_1'), ...own }),
    stop(1),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
    { type: 'message_stop' },
  ]
  for (const caller of ['chat', 'responses'] as const) {
    const shown = shownTo(caller, [start, ...events])
    expect(shown).toContain('Rain.')
    expect(shown).not.toContain('my_mark')
    expect(shown).not.toContain('"direct"')
  }
})
