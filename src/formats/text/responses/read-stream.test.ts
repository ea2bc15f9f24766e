import { describe, expect, test } from 'bun:test'
import type { TextCall } from '../../../canonical/call.ts'
import { decodeChatRequest } from '../chat/read-request.ts'
import { framesOf, runStream, testCharge, testContext, testEndpoint, textOf } from '../testing.ts'
import { selectCodec } from '../formats.ts'
import { decodeMessagesRequest } from '../messages/read-request.ts'
import { decodeResponsesRequest } from './read-request.ts'
import { responsesQuirks, type ResponsesQuirkOptions } from './quirks.ts'

type Wire = Record<string, unknown>

const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const context = { sessionIdHeader: null }
const messages = [{ role: 'user', content: 'Hi' }]
const calls: Readonly<Record<'chat' | 'responses' | 'messages', TextCall>> = {
  chat: decodeChatRequest(encode({ model: 'a/b', messages, stream: true }), context),
  responses: decodeResponsesRequest(encode({ model: 'a/b', input: 'Hi', stream: true }), context),
  messages: decodeMessagesRequest(encode({ model: 'a/b', messages, max_tokens: 9, stream: true }), context),
}
const begun = { type: 'response.created', response: { id: 'resp_1', model: 'up', status: 'in_progress' } }
const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 }
const completed = (output: Wire[] = [], more: Wire = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', model: 'up', status: 'completed', output, usage, ...more },
})
const text = (value: string, more: Wire = {}) => ({
  type: 'output_text',
  text: value,
  annotations: [],
  ...more,
})
const message = (content: Wire[] = []) => ({ id: 'msg_1', type: 'message', role: 'assistant', content })
const added = (index: number, item: Wire) => ({
  type: 'response.output_item.added',
  output_index: index,
  item,
})
const done = (index: number, item: Wire) => ({ type: 'response.output_item.done', output_index: index, item })
const delta = (index: number, said: string, more: Wire = {}) => ({
  type: 'response.output_text.delta',
  output_index: index,
  content_index: 0,
  delta: said,
  ...more,
})

function streamed(caller: keyof typeof calls, events: readonly Wire[], options: ResponsesQuirkOptions = {}) {
  const bytes = new TextEncoder().encode(
    events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
  const codec = selectCodec(caller, 'responses')
  return runStream(codec.createStream(testContext, responsesQuirks(options), calls[caller]), bytes)
}

/** The answer as a chat client puts it together. */
function told(events: readonly Wire[], options?: ResponsesQuirkOptions) {
  const { shown, ending, rewriter } = streamed('chat', events, options)
  const whole = { content: '', reasoning: '', refusal: '', calls: [] as string[], finish: '' }
  for (const { choices } of framesOf(shown + ending) as unknown as { choices: Wire[] }[]) {
    for (const choice of choices) {
      const piece = choice['delta'] as Wire
      whole.content += String(piece['content'] ?? '')
      whole.reasoning += String(piece['reasoning'] ?? '')
      whole.refusal += String(piece['refusal'] ?? '')
      whole.finish = String(choice['finish_reason'] ?? whole.finish)
      for (const call of (piece['tool_calls'] ?? []) as { index: number; [kind: string]: unknown }[]) {
        const { name = '', arguments: given = '', input = '' } = (call['function'] ?? call['custom']) as Wire
        whole.calls[call.index] =
          `${whole.calls[call.index] ?? ''}${String(name)}${String(given)}${String(input)}`
      }
    }
  }
  return { ...whole, failure: rewriter.failure }
}

describe('a stream of responses', () => {
  test('whose items overlap is sent one item after the other', () => {
    const call = (index: number, name: string, given = '') => ({
      id: `fc_${index}`,
      type: 'function_call',
      call_id: `call_${index}`,
      name,
      arguments: given,
    })
    const piece = (index: number, said: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: index,
      delta: said,
    })
    const events = [
      begun,
      added(0, call(0, 'first')),
      added(1, call(1, 'second')),
      piece(0, '{"a":'),
      piece(1, '{"b":2}'),
      piece(0, '1}'),
      done(1, call(1, 'second', '{"b":2}')),
      done(0, call(0, 'first', '{"a":1}')),
      completed([call(0, 'first', '{"a":1}'), call(1, 'second', '{"b":2}')]),
    ]
    expect(told(events)).toMatchObject({
      calls: ['first{"a":1}', 'second{"b":2}'],
      finish: 'tool_calls',
      failure: null,
    })
  })

  test('may change the ids of its items on the way', () => {
    const events = [
      begun,
      added(0, message()),
      { ...delta(0, 'He'), item_id: 'other' },
      { ...delta(0, 'llo'), item_id: 'another' },
      done(0, { ...message([text('Hello')]), id: 'last' }),
      completed([{ ...message([text('Hello')]), id: 'final' }]),
    ]
    expect(told(events)).toMatchObject({ content: 'Hello', finish: 'stop', failure: null })
  })

  test('sends the missing parts when a whole item, or the whole response, comes', () => {
    const thought = { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }
    expect(told([begun, done(0, thought), done(1, message([text('Hello')])), completed()])).toMatchObject({
      reasoning: 'Hm.',
      content: 'Hello',
    })
    expect(told([begun, completed([thought, message([text('Hello')])])])).toMatchObject({
      reasoning: 'Hm.',
      content: 'Hello',
    })
    expect(told([begun, delta(0, 'Hello'), completed([message([text('Hello')])])])).toMatchObject({
      content: 'Hello',
    })
  })

  test('has an empty line between the paragraphs of a thought, as a whole answer has', () => {
    const piece = (index: number, said: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: index,
      delta: said,
    })
    const events = [begun, piece(0, 'On'), piece(0, 'e.'), piece(1, 'Two.'), completed()]
    expect(told(events).reasoning).toBe('One.\n\nTwo.')
    const { shown } = streamed('messages', events)
    const thinking = [...shown.matchAll(/"thinking":"([^"]*)"/g)].map(([, words]) => words)
    expect(thinking.join('')).toBe('One.\\n\\nTwo.')
  })

  test('is whole when its host answers in one piece', () => {
    const { response } = completed([message([text('Hello')])])
    expect(told([response])).toMatchObject({ content: 'Hello', finish: 'stop', failure: null })
  })

  test('does not show a call that the provider runs itself as a call of the caller’s tool', () => {
    const own = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'xs_1', name: 'x_search', input: 'q' }
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed' }
    const events = [
      begun,
      added(0, own),
      done(0, own),
      done(1, search),
      done(2, message([text('Found.')])),
      completed(),
    ]
    const runsItself = ({ call_id: id }: Wire) => id === 'xs_1'
    expect(told(events, { runsItself })).toMatchObject({ content: 'Found.', calls: [], finish: 'stop' })
    expect(told(events)).toMatchObject({ calls: ['x_searchq'], finish: 'tool_calls' })
  })

  test('that was cut off, filtered or refused has that finish reason', () => {
    const incomplete = (reason: string) => ({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason },
        output: [message([text('He')])],
        usage,
      },
    })
    expect(told([begun, incomplete('max_output_tokens')])).toMatchObject({ finish: 'length', content: 'He' })
    expect(told([begun, incomplete('content_filter')]).finish).toBe('content_filter')
    const refused = { type: 'refusal', refusal: 'No.' }
    expect(told([begun, done(0, message([refused])), completed()])).toMatchObject({
      refusal: 'No.',
      finish: 'stop',
    })
  })

  test('fails with the provider’s error, in either form, before or without the failed response', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' }
    const forms = [
      { type: 'error', sequence_number: 2, ...error },
      { type: 'error', error: { type: 'tokens', ...error } },
      { type: 'response.failed', response: { status: 'failed', error } },
      completed([], { status: 'failed', error }),
    ]
    for (const form of forms) {
      const { rewriter } = streamed('chat', [begun, delta(0, 'He'), form])
      expect(rewriter.failure).toMatchObject({ type: 'upstream_rate_limited' })
    }
    const blamed = {
      type: 'response.failed',
      response: { error: { code: 'invalid_image', message: 'Odd.' } },
    }
    expect(streamed('chat', [begun, blamed]).rewriter.failure).toMatchObject({ type: 'invalid_request' })
  })

  test('that breaks off, or ends without its last event, is a failure', () => {
    for (const events of [[], [begun], [begun, delta(0, 'He')], [begun, done(0, message([text('Hello')]))]])
      expect(streamed('chat', events).rewriter.failure).toMatchObject({ type: 'provider_failed' })
  })

  test('never throws, whatever a provider sends', () => {
    const junk: unknown[] = [null, 1, 'x', [], {}, [null], { type: null }, { delta: 1 }, -1, 1e308]
    const types = [begun, added(0, {}), done(0, {}), delta(0, ''), completed()].map(({ type }) => type)
    const names = [
      'response',
      'item',
      'delta',
      'output_index',
      'content_index',
      'part',
      'annotation',
      'logprobs',
    ]
    const more = [
      'response.content_part.done',
      'response.refusal.delta',
      'response.output_text.annotation.added',
      'response.reasoning_text.delta',
      'response.reasoning_summary_text.delta',
      'response.function_call_arguments.delta',
      'response.custom_tool_call_input.delta',
      'response.failed',
      'error',
    ]
    const events = [...types, ...more].flatMap((type) =>
      names.flatMap((name) => junk.map((value): Wire => ({ type, output_index: 0, [name]: value }))),
    )
    for (const event of events) {
      for (const caller of ['chat', 'responses', 'messages'] as const)
        expect(() => streamed(caller, [begun, event, completed()])).not.toThrow()
    }
  })
})

describe('a thought of responses', () => {
  const thought = {
    id: 'rs_7',
    type: 'reasoning',
    summary: [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ],
    encrypted_content: 'c2VhbGVk',
  }
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' }
  const answer = completed([thought, call]).response

  /** The request to the provider when a client sends an answer back. */
  function sentBack(caller: 'chat' | 'messages', history: unknown): Wire[] {
    const body =
      caller === 'chat'
        ? { model: 'a/b', messages: [...messages, ...(history as Wire[])] }
        : { model: 'a/b', max_tokens: 99, messages: [...messages, ...(history as Wire[])] }
    const decoded =
      caller === 'chat'
        ? decodeChatRequest(encode(body), context)
        : decodeMessagesRequest(encode(body), context)
    const quirks = responsesQuirks({ sealsThoughts: true })
    const endpoint = testEndpoint('up')
    return JSON.parse(textOf(selectCodec(caller, 'responses').encodeRequest(decoded, endpoint, quirks).body))
      .input
  }

  function shownTo(caller: 'chat' | 'messages'): Wire {
    const { encode: show } = selectCodec(caller, 'responses').decodeAnswer(
      encode(answer),
      testContext,
      responsesQuirks(),
      calls[caller],
    )
    return JSON.parse(textOf(show(testCharge)))
  }

  const expected = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    {
      type: 'reasoning',
      id: 'rs_7',
      summary: [{ type: 'summary_text', text: 'One.\n\nTwo.' }],
      encrypted_content: 'c2VhbGVk',
    },
    { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'ok' },
  ]

  test('goes back to the provider through chat completions, before the call that it led to', () => {
    const [{ message: said }] = shownTo('chat')['choices'] as [{ message: Wire }]
    expect(said['reasoning']).toBe('One.\n\nTwo.')
    expect(sentBack('chat', [said, { role: 'tool', tool_call_id: 'call_1', content: 'ok' }])).toEqual(
      expected,
    )
  })

  test('goes back to the provider through messages, in an envelope that no other provider is sent', () => {
    const { content } = shownTo('messages')
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'ok' }
    const history = [
      { role: 'assistant', content },
      { role: 'user', content: [result] },
    ]
    expect(sentBack('messages', history)).toEqual(expected)
    expect(JSON.stringify(content)).toContain('"hr1.responses.d.rs_7.c2VhbGVk"')
  })

  test('is left out, and listed, when no item follows it', () => {
    const alone = {
      role: 'assistant',
      content: '',
      reasoning_details: [
        { type: 'reasoning.encrypted', id: 'rs_7', data: 'c2VhbGVk', format: 'openai-responses-v1' },
      ],
    }
    const { content: _none, ...thoughtOnly } = alone
    const decoded = decodeChatRequest(
      encode({ model: 'a/b', messages: [...messages, thoughtOnly, ...messages] }),
      context,
    )
    const { body, dropped } = selectCodec('chat', 'responses').encodeRequest(
      decoded,
      testEndpoint('up'),
      responsesQuirks({ sealsThoughts: true }),
    )
    expect(textOf(body)).not.toContain('"type":"reasoning"')
    expect(dropped).toEqual(['messages[].reasoning'])
  })
})
