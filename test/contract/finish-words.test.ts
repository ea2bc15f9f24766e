import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, type Answer } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// The finish reasons of providers, translated for callers of all formats. An unknown reason never becomes an
// ordinary one, because a caller would take a partial or blocked answer for a whole.

const upstream = startScriptedUpstream()
const model = (id: string) => ({ id, prices: { input_per_million: '10', output_per_million: '20' } })
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'google-ai-studio',
      base_url: `${upstream.url}/google/v1beta`,
      api_key: 'any',
      weight: 1,
      discover: false,
      only_models: true,
      models: [model('google/gemini-2.5-flash')],
    },
    {
      preset: 'custom',
      id: 'acme',
      base_url: `${upstream.url}/acme/v1`,
      weight: 1,
      discover: false,
      models: [model('acme/talker')],
    },
    {
      preset: 'anthropic',
      base_url: `${upstream.url}/anthropic/v1`,
      api_key: 'any',
      weight: 1,
      discover: false,
      only_models: true,
      models: [model('anthropic/claude-haiku-4-5')],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Wire = Record<string, unknown>
type Host = 'google/gemini-2.5-flash' | 'acme/talker' | 'anthropic/claude-haiku-4-5'
type Caller = 'chat' | 'responses' | 'messages'

const gemini: Host = 'google/gemini-2.5-flash'
const messages = [{ role: 'user', content: 'Use the tool.' }]

const paths = { chat: '/chat/completions', responses: '/responses', messages: '/messages' }

function ask(caller: Caller, host: Host, stream: boolean): Promise<Answer> {
  const more = caller === 'responses' ? { input: 'Use the tool.' } : { messages, max_tokens: 500 }
  return gateway.post(paths[caller], {
    model: host,
    stream,
    ...(caller === 'responses' ? { input: more.input } : more),
  })
}

const events = (text: string): Wire[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Wire)

/** A candidate of Gemini's as it is given to a caller who streams and to one who does not. */
function geminiAnswers(candidate: Wire, usageMetadata: Wire) {
  upstream.answer(({ path }) => {
    const body = { candidates: [candidate], usageMetadata, modelVersion: 'gemini-2.5-flash', responseId: 'r' }
    if (!path.endsWith(':streamGenerateContent')) return Response.json(body)
    return new Response(`data: ${JSON.stringify(body)}\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  })
}

const counts = {
  promptTokenCount: 100,
  candidatesTokenCount: 25,
  thoughtsTokenCount: 120,
  totalTokenCount: 245,
}
// 100 × 10 and 145 × 20 millionths of a USD.
const cost = 0.0039

const unexpectedCall = {
  content: { role: 'model', parts: [{ functionCall: { name: 'list_files', args: { path: '/' } } }] },
  finishReason: 'UNEXPECTED_TOOL_CALL',
  index: 0,
}

for (const stream of [false, true]) {
  const how = stream ? ', streamed' : ''

  test(`an unexpected tool call of Gemini is passed on, and paid${how}`, async () => {
    geminiAnswers(unexpectedCall, counts)
    const chat = await ask('chat', gemini, stream)
    const end = stream ? events(chat.text).at(-1) : chat.json
    expect(at(end, 'choices.0.finish_reason')).toBe('tool_calls')
    expect(at(end, 'choices.0.native_finish_reason')).toBe('UNEXPECTED_TOOL_CALL')
    expect(at(end, 'usage')).toMatchObject({ completion_tokens: 145, cost })

    const told = await ask('messages', gemini, stream)
    const all = stream ? events(told.text) : [told.json]
    const last = stream ? all.find(({ type }) => type === 'message_delta') : told.json
    expect(at(last, stream ? 'delta.stop_reason' : 'stop_reason')).toBe('tool_use')
    expect(at(last, 'usage')).toMatchObject({ output_tokens: 145, cost })
    const block = stream
      ? at(
          all.find(({ type }) => type === 'content_block_start'),
          'content_block',
        )
      : at(told.json, 'content.0')
    expect(block).toMatchObject({ type: 'tool_use', name: 'list_files' })

    const response = await ask('responses', gemini, stream)
    const whole = stream ? at(events(response.text).at(-1), 'response') : response.json
    expect(whole).toMatchObject({ status: 'completed', usage: { output_tokens: 145, cost } })
  })

  test(`an answer that Model Armor removed counts as filtered, and its generated tokens are paid${how}`, async () => {
    const usage = {
      promptTokenCount: 19,
      candidatesTokenCount: 6,
      thoughtsTokenCount: 27,
      totalTokenCount: 52,
    }
    const finishMessage = 'The response violated Responsible AI Safety settings.'
    geminiAnswers({ finishReason: 'MODEL_ARMOR', finishMessage }, usage)
    const chat = await ask('chat', gemini, stream)
    const end = stream ? events(chat.text).at(-1) : chat.json
    expect(at(end, 'choices.0.finish_reason')).toBe('content_filter')
    expect(at(end, 'choices.0.native_finish_reason')).toBe('MODEL_ARMOR')
    // 19 × 10 and 33 × 20 millionths.
    expect(at(end, 'usage.cost')).toBe(0.00085)
    const told = await ask('messages', gemini, stream)
    const last = stream ? at(events(told.text).at(-2), 'delta') : told.json
    expect(last).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: finishMessage },
    })
    const response = await ask('responses', gemini, stream)
    const whole = stream ? at(events(response.text).at(-1), 'response') : response.json
    expect(whole).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } })
  })

  test(`an answer that its provider ended in an error is an error to callers of messages${how}`, async () => {
    upstream.seen.splice(0)
    geminiAnswers({ finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }, counts)
    const { status, text, json } = await ask('messages', gemini, stream)
    const error = { type: 'error', error: { type: 'api_error', error_type: 'provider_unavailable' } }
    expect(stream ? events(text).at(-1) : json).toMatchObject(error)
    expect(status).toBe(stream ? 200 : 502)
    expect(upstream.seen.splice(0)).toHaveLength(1)
    expect(text).toContain('MALFORMED_FUNCTION_CALL')
    // After shown text the error comes in the stream.
    const parts = [{ text: 'I shall call it.' }]
    geminiAnswers(
      { content: { role: 'model', parts }, finishReason: 'TOO_MANY_TOOL_CALLS', index: 0 },
      counts,
    )
    const begun = await ask('messages', gemini, stream)
    expect(begun.text).not.toContain('end_turn')
    expect(begun.text).toContain('TOO_MANY_TOOL_CALLS')
  })

  for (const host of [gemini, 'acme/talker', 'anthropic/claude-haiku-4-5'] satisfies Host[]) {
    test(`an unknown finish reason is not an ordinary end of an answer at ${host}${how}`, async () => {
      answerWithUnknownEnd()
      const chat = await ask('chat', host, stream)
      const end = stream ? events(chat.text).at(-1) : chat.json
      expect(at(end, 'choices.0.finish_reason')).toBe('error')
      expect(at(end, 'choices.0.native_finish_reason')).toBe('LIMITED_BY_SOMETHING')
      const response = await ask('responses', host, stream)
      expect(response.text).toContain('"status":"failed"')
      expect(response.text).not.toContain('response.completed')
      const told = await ask('messages', host, stream)
      expect(told.text).not.toContain('end_turn')
      expect(told.text).toContain('LIMITED_BY_SOMETHING')
    })
  }
}

test('a caller of messages gets a new finish reason of Anthropic itself, and pays for the output', async () => {
  answerWithUnknownEnd()
  for (const stream of [false, true]) {
    const { text, json } = await ask('messages', 'anthropic/claude-haiku-4-5', stream)
    const last = stream ? events(text).find(({ type }) => type === 'message_delta') : json
    expect(at(last, stream ? 'delta.stop_reason' : 'stop_reason')).toBe('LIMITED_BY_SOMETHING')
    // 9 × 10 and 4 × 20 millionths.
    expect(at(last, 'usage.cost')).toBe(0.00017)
  }
})

test('other servers’ words for an ordinary end and for a filter are understood', async () => {
  const reasonOf = async (word: string) => {
    upstream.answer(() => Response.json(chatAnswer(word)))
    return at((await ask('chat', 'acme/talker', false)).json, 'choices.0.finish_reason')
  }
  for (const word of ['stop', 'eos', 'eos_token', 'COMPLETE', 'STOP', 'end_turn', 'normal'])
    expect([word, await reasonOf(word)]).toEqual([word, 'stop'])
  for (const word of ['sensitive', 'guardrail_intervened', 'content_filtered', 'SAFETY'])
    expect([word, await reasonOf(word)]).toEqual([word, 'content_filter'])
  for (const word of ['max_output_tokens', 'model_context_window_exceeded', 'length'])
    expect([word, await reasonOf(word)]).toEqual([word, 'length'])
})

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }

function chatAnswer(finish: string): Wire {
  const message = { role: 'assistant', content: 'So far.' }
  return { id: 'c', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: finish }], usage }
}

/** Every provider ends its answer in a word of its own. */
function answerWithUnknownEnd(): void {
  const word = 'LIMITED_BY_SOMETHING'
  upstream.answer(({ path, body }) => {
    const isStream = path.includes(':stream') || body.includes('"stream":true')
    const whole = wholeOf(path, word)
    if (!isStream) return Response.json(whole)
    const frames = path.startsWith('/anthropic') ? messageFrames(whole, word) : framesOf(path, whole)
    const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')
    const done = path.startsWith('/acme') ? 'data: [DONE]\n\n' : ''
    return new Response(text + done, { headers: { 'content-type': 'text/event-stream' } })
  })
}

function wholeOf(path: string, word: string): Wire {
  if (path.startsWith('/acme')) return chatAnswer(word)
  if (path.startsWith('/google')) {
    const content = { role: 'model', parts: [{ text: 'So far.' }] }
    const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 }
    return { candidates: [{ content, finishReason: word, index: 0 }], usageMetadata }
  }
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5',
    content: [{ type: 'text', text: 'So far.' }],
    stop_reason: word,
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 4 },
  }
}

function framesOf(path: string, whole: Wire): Wire[] {
  if (path.startsWith('/google')) return [whole]
  const choice = at(whole, 'choices.0') as Wire
  const first = { index: 0, delta: choice['message'], finish_reason: null }
  const last = { index: 0, delta: {}, finish_reason: choice['finish_reason'] }
  const { id, created } = { id: 'c', created: 1 }
  return [
    { id, created, model: 'm', choices: [first] },
    { id, created, model: 'm', choices: [last], usage },
  ]
}

function messageFrames(whole: Wire, word: string): Wire[] {
  return [
    { type: 'message_start', message: { ...whole, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So far.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: word, stop_sequence: null },
      usage: { output_tokens: 4 },
    },
    { type: 'message_stop' },
  ]
}
