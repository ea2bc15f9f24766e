import { afterAll, beforeEach, expect, test } from 'bun:test'
import type { z } from 'zod'
import {
  chatAnswer,
  chatChunk,
  embeddingsAnswer,
  messagesAnswer,
  messagesEvents,
  responsesAnswer,
  responsesEvents,
} from '../clients/demands.ts'
import { startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream, type UpstreamSeen } from '../support/scripted-upstream.ts'

// The members that vendors' own clients and `ai` 5, 6 and 7 require of an answer, in every format, whole and
// streamed, translated and
// passed through, of hosts that write every field of an object as null or leave out what they may.

const upstream = startScriptedUpstream()
const prices = { input_per_million: '1', output_per_million: '1' }
const given = (preset: string, path: string, id: string) => ({
  preset,
  base_url: `${upstream.url}${path}`,
  api_key: 'key',
  weight: 1,
  discover: false,
  models: [{ id, prices }],
})
const models = {
  chat: 'acme/tides',
  responses: 'openai/gpt-5.1-codex',
  messages: 'anthropic/claude-opus-4-1',
  gemini: 'google/gemini-2.5-flash',
}
const gateway = await startTestGateway({
  providers: () => [
    {
      ...given('custom', '/v1', models.chat),
      id: 'acme',
      models: [
        { id: models.chat, upstream: 'tides', modality: 'language', prices },
        { id: 'acme/unpriced', upstream: 'unpriced', modality: 'language' },
        { id: 'acme/vectors', upstream: 'vectors', modality: 'embedding' },
      ],
    },
    given('openai', '/v1', models.responses),
    given('anthropic', '', models.messages),
    given('google-ai-studio', '/v1beta', models.gemini),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Wire = Record<string, unknown>
type Format = keyof typeof models

// --- what hosts reply: a thought, a text and a call of a tool ---

const args = '{"city":"Bern"}'
const chatCounts = {
  prompt_tokens: 5,
  completion_tokens: 3,
  total_tokens: 8,
  prompt_tokens_details: null,
  completion_tokens_details: { reasoning_tokens: null, audio_tokens: null },
}
const empty = { refusal: null, annotations: null, audio: null, function_call: null, reasoning_details: null }
const cited = [{ type: 'url_citation', url_citation: { url: 'https://a.test', title: null } }]
const chatHead = { id: 'c', created: 1, model: 'tides', service_tier: null, system_fingerprint: null }
const chatWhole = {
  ...chatHead,
  object: 'chat.completion',
  usage: chatCounts,
  choices: [
    {
      index: 0,
      logprobs: null,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        ...empty,
        content: 'Two.',
        reasoning: 'Hm.',
        annotations: cited,
        tool_calls: [{ id: 't', type: 'function', function: { name: 'tide', arguments: args } }],
      },
    },
  ],
}
const chunk = (delta: Wire, more: Wire = {}) => ({
  ...chatHead,
  object: 'chat.completion.chunk',
  usage: null,
  choices: [{ index: 0, delta: { ...empty, ...delta }, logprobs: null, finish_reason: null, ...more }],
})
const piece = (part: Wire) => chunk({ tool_calls: [{ index: 0, id: null, type: null, ...part }] })
const chatPieces: Wire[] = [
  chunk({ role: 'assistant', content: '', tool_calls: null }),
  chunk({ reasoning: 'Hm.', content: null, tool_calls: [] }),
  chunk({ content: 'Two.', role: null }),
  chunk({ annotations: cited }),
  piece({ id: 't', type: 'function', function: { name: 'tide', arguments: null } }),
  piece({ function: { name: null, arguments: args } }),
  piece({}),
  chunk({}, { finish_reason: 'tool_calls' }),
  { ...chatHead, object: 'chat.completion.chunk', choices: [], usage: chatCounts },
]

const responsesCounts = { input_tokens: 5, output_tokens: 3, total_tokens: 8, output_tokens_details: null }
const text = { type: 'output_text', text: 'Two.', annotations: null, logprobs: null }
const thought = {
  id: 'rs',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
  content: null,
  encrypted_content: null,
  status: null,
}
const said = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [text],
  phase: null,
}
const called = {
  id: 'fc',
  type: 'function_call',
  call_id: 't',
  name: 'tide',
  arguments: args,
  status: 'completed',
  namespace: null,
}
const response = (status: string, output: readonly unknown[]) => ({
  id: 'resp',
  object: 'response',
  created_at: 1,
  status,
  model: 'gpt-5.1-codex',
  output,
  tools: null,
  tool_choice: null,
  parallel_tool_calls: null,
  text: null,
  error: null,
  incomplete_details: null,
  usage: status === 'completed' ? responsesCounts : null,
})
const responsesPieces = (logprobs: Wire): Wire[] =>
  [
    { type: 'response.created', response: response('in_progress', []) },
    { type: 'response.output_item.added', output_index: 0, item: { ...thought, summary: [] } },
    {
      type: 'response.reasoning_summary_part.added',
      item_id: 'rs',
      output_index: 0,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    {
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs',
      output_index: 0,
      summary_index: 0,
      delta: 'Hm.',
    },
    { type: 'response.output_item.done', output_index: 0, item: thought },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...said, status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      item_id: 'm',
      output_index: 1,
      content_index: 0,
      part: { ...text, text: '' },
    },
    ...['Tw', 'o', '.'].map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: 1,
      content_index: 0,
      delta,
      ...logprobs,
    })),
    {
      type: 'response.output_text.done',
      item_id: 'm',
      output_index: 1,
      content_index: 0,
      text: 'Two.',
      ...logprobs,
    },
    { type: 'response.content_part.done', item_id: 'm', output_index: 1, content_index: 0, part: text },
    { type: 'response.output_item.done', output_index: 1, item: said },
    {
      type: 'response.output_item.added',
      output_index: 2,
      item: { ...called, arguments: '', status: 'in_progress' },
    },
    { type: 'response.function_call_arguments.delta', item_id: 'fc', output_index: 2, delta: args },
    { type: 'response.function_call_arguments.done', item_id: 'fc', output_index: 2, arguments: args },
    { type: 'response.output_item.done', output_index: 2, item: called },
    { type: 'response.completed', response: response('completed', [thought, said, called]) },
  ].map((event, index) => ({ ...event, sequence_number: index }))

const messageCounts = { input_tokens: 5, output_tokens: 3, cache_creation_input_tokens: null }
const message = (content: readonly unknown[], more: Wire = {}) => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-1',
  content,
  stop_reason: null,
  stop_sequence: null,
  usage: messageCounts,
  ...more,
})
const blocks: Wire[] = [
  { type: 'thinking', thinking: 'Hm.', signature: 's' },
  { type: 'text', text: 'Two.', citations: null },
  { type: 'tool_use', id: 't', name: 'tide', input: { city: 'Bern' }, caller: null },
]
const deltas: Wire[][] = [
  [
    { type: 'thinking_delta', thinking: 'Hm.' },
    { type: 'signature_delta', signature: 's' },
  ],
  [{ type: 'text_delta', text: 'Two.' }],
  [{ type: 'input_json_delta', partial_json: args }],
]
const begun: Wire[] = [
  { type: 'thinking', thinking: '', signature: '' },
  { type: 'text', text: '' },
  { type: 'tool_use', id: 't', name: 'tide', input: {} },
]
const messagesPieces: Wire[] = [
  { type: 'message_start', message: message([], { usage: { input_tokens: 5, output_tokens: null } }) },
  ...begun.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: block },
    ...(deltas[index] ?? []).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
]

const geminiReply = (last: boolean, parts: readonly unknown[]) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(last ? { finishReason: 'STOP' } : {}) }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
  modelVersion: 'gemini-2.5-flash',
})
const geminiParts: unknown[] = [
  { text: 'Hm.', thought: true },
  { text: 'Two.' },
  { functionCall: { name: 'tide', args: { city: 'Bern' } } },
]

function streamed(frames: readonly Wire[], isNamed: boolean, ending = ''): Response {
  const body = frames.map((frame) => {
    const event = isNamed ? `event: ${String(frame['type'])}\n` : ''
    return `${event}data: ${JSON.stringify(frame)}\n\n`
  })
  return new Response(body.join('') + ending, { headers: { 'content-type': 'text/event-stream' } })
}

/** The log probabilities in a text delta of the host of responses. */
let deltaLogprobs: Wire = { logprobs: null }

function reply({ path, body }: UpstreamSeen): Response {
  const isStream = (JSON.parse(body) as Wire)['stream'] === true
  if (path.endsWith('/embeddings'))
    return Response.json({
      object: 'list',
      model: 'vectors',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: { prompt_tokens: 2, total_tokens: 2 },
    })
  if (path.endsWith('/chat/completions'))
    return isStream ? streamed(chatPieces, false, 'data: [DONE]\n\n') : Response.json(chatWhole)
  if (path.endsWith('/responses'))
    return isStream
      ? streamed(responsesPieces(deltaLogprobs), true)
      : Response.json(response('completed', [thought, said, called]))
  if (path.endsWith('/messages'))
    return isStream
      ? streamed(messagesPieces, true)
      : Response.json(message(blocks, { stop_reason: 'tool_use' }))
  return path.includes(':stream')
    ? streamed(
        geminiParts.map((part, index) => geminiReply(index === 2, [part])),
        false,
      )
    : Response.json(geminiReply(true, geminiParts))
}

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(reply)
})

// --- what callers ask ---

const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const question = [{ role: 'user', content: 'How many tides?' }]
const asks = {
  chat: {
    path: '/chat/completions',
    body: { messages: question, tools: [{ type: 'function', function: { name: 'tide', parameters } }] },
  },
  // A caller may leave out what only the answer must have.
  responses: {
    path: '/responses',
    body: { input: 'How many tides?', tools: [{ type: 'function', name: 'tide' }] },
  },
  messages: {
    path: '/messages',
    body: { messages: question, max_tokens: 99, tools: [{ name: 'tide', input_schema: parameters }] },
  },
} as const
type Caller = keyof typeof asks

async function ask(caller: Caller, model: string, stream: boolean): Promise<string> {
  const { path, body } = asks[caller]
  const { status, text: answer } = await gateway.post(path, { model, ...body, stream })
  expect([status, answer.slice(0, 300)]).toEqual([200, answer.slice(0, 300)])
  return answer
}

function eventsOf(body: string): Wire[] {
  return body
    .split('\n\n')
    .map((frame) => /^data: (\{.*)$/m.exec(frame)?.[1])
    .flatMap((data) => (data === undefined ? [] : [JSON.parse(data) as Wire]))
}

/** The faults that a schema finds, by their paths. */
function faultsIn(schema: z.ZodType, value: unknown): string[] {
  const { error } = schema.safeParse(value)
  return (error?.issues ?? []).map(
    ({ path, message: problem }) =>
      `${String((value as Wire)['type'] ?? '')} ${path.map(String).join('.')}: ${problem}`,
  )
}

function wholeFaults(caller: Caller, answer: string): string[] {
  const schema = { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer }[caller]
  return faultsIn(schema, JSON.parse(answer))
}

function streamFaults(caller: Caller, body: string): string[] {
  const events = eventsOf(body)
  expect(events.length).toBeGreaterThan(4)
  if (caller === 'chat') return events.flatMap((event) => faultsIn(chatChunk, event))
  const schemas = caller === 'responses' ? responsesEvents : messagesEvents
  return events.flatMap((event) => {
    const schema = schemas[String(event['type'])]
    return schema === undefined ? [] : faultsIn(schema, event)
  })
}

const pairs = (['chat', 'responses', 'messages'] as const).flatMap((caller) =>
  (Object.keys(models) as Format[]).map((format) => ({ caller, format })),
)

test.each(pairs)(
  'a whole answer of $format is read by every client of $caller',
  async ({ caller, format }) => {
    expect(wholeFaults(caller, await ask(caller, models[format], false))).toEqual([])
  },
)

test.each(pairs)('a stream of $format is read by every client of $caller', async ({ caller, format }) => {
  expect(streamFaults(caller, await ask(caller, models[format], true))).toEqual([])
})

test('a stream of responses without log probabilities is read by every client of responses', async () => {
  deltaLogprobs = {}
  expect(streamFaults('responses', await ask('responses', models.responses, true))).toEqual([])
  deltaLogprobs = { logprobs: null }
})

test('the end of a passed message has its container and the reason of its refusal', async () => {
  const events = eventsOf(await ask('messages', models.messages, true))
  const end = events.find(({ type }) => type === 'message_delta')
  expect(end?.['delta']).toEqual({
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: null,
    container: null,
  })
})

test('the end of a call that passes in responses names its tool', async () => {
  const events = eventsOf(await ask('responses', models.responses, true))
  const end = events.find(({ type }) => type === 'response.function_call_arguments.done')
  expect(end).toMatchObject({ name: 'tide', arguments: args })
})

test('a message begins with every count that clients look for', async () => {
  for (const format of ['chat', 'messages'] as const) {
    const [start = {}] = eventsOf(await ask('messages', models[format], true))
    const { usage } = start['message'] as Wire
    for (const name of [
      'cache_creation',
      'cache_creation_input_tokens',
      'cache_read_input_tokens',
      'inference_geo',
      'input_tokens',
      'output_tokens',
      'output_tokens_details',
      'server_tool_use',
      'service_tier',
    ])
      expect(usage).toHaveProperty(name)
  }
})

test('an answer without a known price has no cost, which clients would refuse as null', async () => {
  const chat = await ask('chat', 'acme/unpriced', false)
  expect(wholeFaults('chat', chat)).toEqual([])
  expect(streamFaults('chat', await ask('chat', 'acme/unpriced', true))).toEqual([])
  const { json } = await gateway.post('/embeddings', { model: 'acme/vectors', input: 'x' })
  expect(faultsIn(embeddingsAnswer, json)).toEqual([])
  expect(json['usage']).not.toHaveProperty('cost')
})

test('an empty list of citations that comes back in history is not sent on', async () => {
  const answer = JSON.parse(await ask('messages', models.messages, false)) as Wire
  const history = [
    ...question,
    { role: 'assistant', content: answer['content'] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'two' }] },
  ]
  upstream.seen.length = 0
  const { status, json } = await gateway.post('/messages', {
    ...asks.messages.body,
    model: models.messages,
    messages: history,
  })
  expect(status).toBe(200)
  const sent = JSON.parse(upstream.seen[0]?.body ?? '') as { messages: { content: Wire[] }[] }
  expect(sent.messages[1]?.content).toEqual([
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    { type: 'text', text: 'Two.' },
    { type: 'tool_use', id: 't', name: 'tide', input: { city: 'Bern' }, caller: { type: 'direct' } },
  ])
  expect(json).not.toHaveProperty('headrace_metadata')
})

test('members that only answers have are not listed as dropped when a client sends them back', async () => {
  const answer = JSON.parse(await ask('messages', models.chat, false)) as { content: Wire[] }
  const spoken = answer.content
    .filter(({ type }) => type !== 'thinking')
    .map((block) => (block['type'] === 'text' ? { ...block, citations: [] } : block))
  const { status, json } = await gateway.post('/messages', {
    ...asks.messages.body,
    model: models.chat,
    messages: [
      ...question,
      { role: 'assistant', content: spoken },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'two' }] },
    ],
  })
  expect(status).toBe(200)
  expect(json).not.toHaveProperty('headrace_metadata')
})

test('members that OpenAI’s own client adds to an answer are not sent to a provider', async () => {
  const noted = { ...said, content: [{ type: 'output_text', text: 'Two.', annotations: [], parsed: null }] }
  const input = [
    { role: 'user', content: 'How many tides?' },
    noted,
    { type: 'function_call', id: 'fc', call_id: 't', name: 'tide', arguments: args, parsed_arguments: null },
    { type: 'function_call_output', call_id: 't', output: 'two' },
  ]
  const { status } = await gateway.post('/responses', {
    ...asks.responses.body,
    model: models.responses,
    input,
  })
  expect(status).toBe(200)
  const sent = JSON.parse(upstream.seen[0]?.body ?? '') as { input: Wire[] }
  expect(sent.input[1]?.['content']).toEqual([{ type: 'output_text', text: 'Two.', annotations: [] }])
  expect(sent.input[2]).toEqual({
    type: 'function_call',
    id: 'fc',
    call_id: 't',
    name: 'tide',
    arguments: args,
  })
})

test('a thread is refused with the text on which Anthropic’s client sends the whole conversation', async () => {
  const thread = { type: 'continue', previous_message_id: 'gen-1' }
  const { status, json } = await gateway.post('/messages', {
    ...asks.messages.body,
    model: models.messages,
    thread,
  })
  expect(status).toBe(400)
  expect(json['error']).toMatchObject({ details: { error_code: 'thread_unsupported_request' } })
  expect(upstream.seen).toEqual([])
})
