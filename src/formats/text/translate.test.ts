import { describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../core/errors.ts'
import { atOnce } from '../../core/turns.ts'
import { chatQuirks } from './chat/quirks.ts'
import { decodeChatRequest } from './chat/read-request.ts'
import { runStream, streamOf, testCharge, testContext, testEndpoint, textOf } from './testing.ts'
import { callers, selectCodec } from './formats.ts'
import { decodeMessagesRequest } from './messages/read-request.ts'
import { messagesQuirks } from './messages/quirks.ts'
import { decodeResponsesRequest } from './responses/read-request.ts'
import { responsesQuirks } from './responses/quirks.ts'

const bodies = {
  chat: { model: 'a/b', messages: [{ role: 'user', content: 'x' }] },
  responses: { model: 'a/b', input: 'x' },
}
const decoders = { chat: decodeChatRequest, responses: decodeResponsesRequest }

/** The JSON of every event that a caller of this format sees of a messages stream. */
function showStream(
  caller: 'chat' | 'responses',
  payloads: readonly Record<string, unknown>[],
): Record<string, unknown>[] {
  const call = decoders[caller](Buffer.from(JSON.stringify(bodies[caller])), { sessionIdHeader: null })
  const rewriter = selectCodec(caller, 'messages').createStream(testContext, messagesQuirks(), call)
  const { shown, ending } = runStream(rewriter, streamOf(payloads, { done: false }))
  const told = (shown + ending).split('\n').filter((line) => line.startsWith('data: {'))
  return told.map((line) => JSON.parse(line.slice(6)))
}

/** The arguments of each call, joined as clients join them. */
function argumentsOf(frames: readonly Record<string, unknown>[]): string[] {
  const joined: string[] = []
  for (const frame of frames) {
    const [choice] = frame['choices'] as { delta: { tool_calls?: Piece[] } }[]
    for (const { index, function: called } of choice?.delta.tool_calls ?? [])
      joined[index] = (joined[index] ?? '') + (called?.arguments ?? '')
  }
  return joined
}

interface Piece {
  index: number
  function?: { arguments?: string }
}

const usage = { input_tokens: 3, output_tokens: 4 }
const begin = { type: 'message_start', message: { id: 'msg_1', model: 'b', usage } }
const ending = [
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
  { type: 'message_stop' },
]
const toolUse = (index: number, name: string) => ({
  type: 'content_block_start',
  index,
  content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
})
const input = (index: number, json: string) => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'input_json_delta', partial_json: json },
})
const stop = (index: number) => ({ type: 'content_block_stop', index })

test('a call that its provider streams without input has the arguments {}', () => {
  const frames = showStream('chat', [
    begin,
    toolUse(0, 'now'),
    stop(0),
    toolUse(1, 'today'),
    input(1, ''),
    stop(1),
    ...ending,
  ])
  expect(argumentsOf(frames)).toEqual(['{}', '{}'])
})

test('a call with input has its input and nothing more, beside one without', () => {
  const frames = showStream('chat', [
    begin,
    toolUse(0, 'weather'),
    input(0, '{"city":'),
    input(0, '"Oslo"}'),
    stop(0),
    toolUse(1, 'now'),
    ...ending,
  ])
  expect(argumentsOf(frames)).toEqual(['{"city":"Oslo"}', '{}'])
})

test('a responses caller is told {} of a call without input, in its pieces and at its end', () => {
  const frames = showStream('responses', [begin, toolUse(0, 'now'), stop(0), ...ending])
  const told = frames.filter(({ type }) => String(type).startsWith('response.function_call_arguments'))
  expect(told).toMatchObject([
    { type: 'response.function_call_arguments.delta', delta: '{}' },
    { type: 'response.function_call_arguments.done', arguments: '{}' },
  ])
})

// The tests below use chat providers: an answer is complete by the same rules as for a chat caller.

const messagesBody = { model: 'a/b', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
const foreign = [
  ['responses', decodeResponsesRequest, bodies.responses],
  ['messages', decodeMessagesRequest, messagesBody],
] as const
const counts = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const delta = (content: string) => ({
  id: 'c',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
})

describe.each(foreign)('a %s caller of a chat upstream', (caller, decode, body) => {
  const call = decode(Buffer.from(JSON.stringify(body)), { sessionIdHeader: null })
  const codec = selectCodec(caller, 'chat')
  const run = (payloads: readonly unknown[]) =>
    runStream(codec.createStream(testContext, chatQuirks(), call), streamOf(payloads)).rewriter
  const read = (wire: unknown) =>
    codec.decodeAnswer(Buffer.from(JSON.stringify(wire)), testContext, chatQuirks(), call)
  const refusalOf = (wire: unknown): unknown => {
    try {
      read(wire)
    } catch (error) {
      return (error as GatewayError).type
    }
    return 'no refusal'
  }

  test('gets no answer from a stream that [DONE] ends without usage and without a finish reason', () => {
    const cut = run([delta('Hel')])
    expect([cut.failure?.type, cut.choicesFinished]).toEqual(['provider_failed', 0])
  })

  test('gets a whole answer from a stream that ends with usage but without a finish reason', () => {
    const whole = run([delta('Hi'), { choices: [], usage: counts }])
    expect([whole.failure, whole.choicesFinished]).toEqual([null, 1])
  })

  test('has a whole answer where one of several choices has a finish reason and [DONE] came', () => {
    const second = { id: 'c', choices: [{ index: 1, delta: { content: 'a' }, finish_reason: 'stop' }] }
    const whole = run([delta('Hi'), second])
    expect([whole.failure, whole.choicesFinished]).toEqual([null, 2])
  })

  test('pays nothing for a stream with zero usage, no output and no finish reason', () => {
    const silent = run([
      delta(''),
      { choices: [], usage: { ...counts, completion_tokens: 0, total_tokens: 3 } },
    ])
    expect([silent.failure, silent.reading().finishReason]).toEqual([null, null])
    expect(run([delta('Hi'), { choices: [], usage: counts }]).reading().finishReason).toBe('stop')
  })

  test.each([{ finish_reason: 'stop' }, { finish_reason: null }, { finish_reason: 'stop', message: 'Hi' }])(
    'gets no answer from a choice without a message: %j',
    (choice) => {
      expect(refusalOf({ id: 'c', choices: [{ index: 0, ...choice }], usage: counts })).toBe(
        'provider_failed',
      )
    },
  )

  test('gets no answer from a choice that is not an object', () => {
    expect(refusalOf({ id: 'c', choices: ['Hi'], usage: counts })).toBe('provider_failed')
  })

  test('gets an answer from a choice that a content filter emptied', () => {
    const emptied = read({ id: 'c', choices: [{ index: 0, finish_reason: 'content_filter' }], usage: counts })
    expect(emptied.reading.finishReason).toBe('content_filter')
    expect(textOf(emptied.encode(testCharge))).toMatch(/refusal|content_filter/)
  })

  test('pays nothing for a whole answer without output and without a finish reason', () => {
    const say = (content: string) => ({
      choices: [{ message: { role: 'assistant', content }, finish_reason: null }],
    })
    expect(read(say('')).reading.finishReason).toBeNull()
    expect(read(say('Hi')).reading.finishReason).toBe('stop')
  })

  test('records the model’s own finish reason when the provider is a gateway that adds its own', () => {
    const ended = { finish_reason: 'stop', native_finish_reason: 'end_turn' }
    const whole = { choices: [{ message: { role: 'assistant', content: 'Hi' }, ...ended }] }
    expect(read(whole).reading).toMatchObject({ finishReason: 'stop', nativeFinishReason: 'end_turn' })
    const frame = { id: 'c', choices: [{ index: 0, delta: { content: 'Hi' }, ...ended }] }
    const reading = run([frame]).reading()
    expect(reading).toMatchObject({ finishReason: 'stop', nativeFinishReason: 'end_turn' })
  })
})

describe('a choice that wants a tool', () => {
  const write = (more: object) => {
    const call = decodeChatRequest(Buffer.from(JSON.stringify({ ...bodies.chat, ...more })), {
      sessionIdHeader: null,
    })
    return selectCodec('chat', 'messages').encodeRequest(call, testEndpoint('m'), messagesQuirks())
  }
  const tools = [{ type: 'function', function: { name: 'a', parameters: { type: 'object' } } }]
  const allow = (name: string) => ({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name } }] },
  })

  test('is refused where no tool may be called', () => {
    const named = { type: 'function', function: { name: 'a' } }
    for (const choice of ['required', named, allow('a')]) {
      expect(() => write({ tool_choice: choice })).toThrow('"tool_choice"')
      expect(() => write({ tool_choice: choice, tools: [] })).toThrow('"tool_choice"')
      expect(() => write({ tool_choice: choice, tools })).not.toThrow()
    }
    expect(() => write({ tool_choice: allow('b'), tools })).toThrow('allows none of the tools in "tools"')
  })

  test('is not enforced where the model may choose or must not call', () => {
    for (const choice of ['auto', 'none']) expect(() => write({ tool_choice: choice })).not.toThrow()
  })
})

test('a thinking budget that the provider does not accept is replaced, and the change is listed', () => {
  const approximatedOf = (budget: number) => {
    const asked = { ...bodies.chat, max_tokens: 4000, reasoning: { max_tokens: budget } }
    const call = decodeChatRequest(Buffer.from(JSON.stringify(asked)), { sessionIdHeader: null })
    return selectCodec('chat', 'messages').encodeRequest(call, testEndpoint('m'), messagesQuirks())
      .approximated
  }
  expect(approximatedOf(2000)).toEqual([])
  for (const budget of [1, 8000]) expect(approximatedOf(budget)).toEqual(['reasoning.max_tokens'])
})

describe('an item that the provider made whole counts as a piece of output', () => {
  const item = { type: 'apply_patch_call', id: 'apc_1', call_id: 'call_1', status: 'completed' }
  const told = { id: 'resp_1', model: 'm', usage: { input_tokens: 24, output_tokens: 0, total_tokens: 24 } }
  const whole = { ...told, object: 'response', status: 'completed', output: [item] }
  const begun = { ...told, object: 'response', status: 'in_progress', output: [] }
  const events = [
    { type: 'response.created', sequence_number: 0, response: begun },
    { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item },
    { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item },
    { type: 'response.completed', sequence_number: 3, response: whole },
  ]
  const call = decodeResponsesRequest(Buffer.from(JSON.stringify(bodies.responses)), {
    sessionIdHeader: null,
  })
  const codec = selectCodec('responses', 'responses')

  test('in a stream', () => {
    const rewriter = codec.createStream(testContext, responsesQuirks(), call)
    runStream(rewriter, streamOf(events, { done: false }))
    expect(rewriter.reading()).toMatchObject({ outputPieces: 1, outputBytes: 0, usage: { outputTokens: 0 } })
  })

  test('in a whole answer', () => {
    const wire = Buffer.from(JSON.stringify(whole))
    const { reading } = codec.decodeAnswer(wire, testContext, responsesQuirks(), call)
    expect(reading).toMatchObject({ outputPieces: 1, outputBytes: 0, usage: { outputTokens: 0 } })
  })
})

describe('members that only chat has', () => {
  const own = {
    model: 'a/b',
    service_tier: 'auto',
    store: true,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'x', tone: 'soft' }], mood: 'grey' }],
  }
  const call = decodeChatRequest(Buffer.from(JSON.stringify(own)), { sessionIdHeader: null })
  const read = (format: 'chat' | 'messages' | 'gemini') => atOnce(callers.chat.readConversation(call, format))

  test('are kept for a provider that speaks chat', () => {
    const { turns, extras } = read('chat')
    expect(turns[0]?.extras).toEqual({ chat: { mood: 'grey' } })
    expect(turns[0]?.parts[0]?.extras).toEqual({ chat: { tone: 'soft' } })
    expect(extras?.chat).toMatchObject({ store: true })
  })

  test('are only noted for one that does not', () => {
    for (const format of ['messages', 'gemini'] as const) {
      const { turns, extras, ownMembers } = read(format)
      expect(JSON.stringify(turns)).not.toContain('extras')
      expect(extras).toBeUndefined()
      expect(ownMembers.optional).toEqual(['store', 'messages[].mood', 'messages[].content[].tone'])
    }
  })

  test('are refused by name when they are not JSON, whatever the provider speaks', () => {
    const fields = `"model":"a/b","messages":${JSON.stringify(bodies.chat.messages)}`
    for (const format of ['chat', 'messages', 'gemini', 'responses', 'converse', 'cohere'] as const) {
      const broken = decodeChatRequest(Buffer.from(`{${fields},"zzz":[1,]}`), { sessionIdHeader: null })
      expect(() => atOnce(callers.chat.readConversation(broken, format))).toThrow('"zzz" is not valid JSON')
    }
  })
})
