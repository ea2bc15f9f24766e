import Anthropic from '@anthropic-ai/sdk'
import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { eventFrame, exceptionFrame } from '../../simulator/bedrock/frames.ts'
import { at, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { requestOf } from './lab.ts'
import { callers, upstreams, type Caller, type Json, type Upstream } from './table.ts'

// Errors before and inside a stream, in the words of the caller's format whatever the provider's; docs/fidelity.md, E1 to E3.

const upstream = startScriptedUpstream()
const providerAt = (preset: string, id: string, upstreamName?: string) => ({
  preset,
  base_url: `${upstream.url}/v1`,
  api_key: 'scripted',
  weight: 1,
  discover: false,
  models: [
    {
      id,
      ...(upstreamName === undefined ? {} : { upstream: upstreamName }),
      prices: { input_per_million: '1', output_per_million: '1' },
    },
  ],
})
const gateway = await startTestGateway({
  providers: () => [
    providerAt('sandbox', 'sandbox/gpt-4o-mini'),
    providerAt('openai', 'openai/gpt-5.1-codex'),
    providerAt('anthropic', 'anthropic/claude-sonnet-4-5'),
    providerAt('google-ai-studio', 'google/gemini-2.5-flash'),
    providerAt('cohere', 'cohere/command-a-plus', 'command-a-plus-05-2026'),
    providerAt('amazon-bedrock', 'amazon/nova-2-lite-v1', 'us.amazon.nova-2-lite-v1:0'),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const paths: Readonly<Record<Caller, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
}
const modelOf: Readonly<Record<Upstream, string>> = {
  chat: 'sandbox/gpt-4o-mini',
  responses: 'openai/gpt-5.1-codex',
  messages: 'anthropic/claude-sonnet-4-5',
  gemini: 'google/gemini-2.5-flash',
  converse: 'amazon/nova-2-lite-v1',
  cohere: 'cohere/command-a-plus',
}

/** An error body of the provider's own. */
const bodies: Readonly<Record<Upstream, (type: string) => Json>> = {
  chat: (type) => ({ error: { type, message: 'It went wrong.', code: null, param: null } }),
  responses: (type) => ({ error: { type, message: 'It went wrong.', code: null, param: null } }),
  messages: (type) => ({ type: 'error', error: { type, message: 'It went wrong.' } }),
  gemini: (type) => ({
    error:
      type === 'overloaded_error'
        ? { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded.' }
        : { code: 400, status: 'INVALID_ARGUMENT', message: 'It went wrong.' },
  }),
  converse: () => ({ message: 'It went wrong.' }),
  cohere: () => ({ id: 'c1', message: 'It went wrong.' }),
}

/** What is told beside the body: the status of an overload, and for Bedrock the class of the error. */
const overloads: Partial<Record<Upstream, ResponseInit>> = {
  converse: { status: 503, headers: { 'x-amzn-errortype': 'ServiceUnavailableException' } },
  cohere: { status: 503 },
}
const refusals: Partial<Record<Upstream, ResponseInit>> = {
  converse: { status: 400, headers: { 'x-amzn-errortype': 'ValidationException' } },
}

type Bytes = string | Uint8Array

/** A stream that says a word and then breaks off with an error of the provider's own. */
const streams: Readonly<Record<Upstream, readonly [said: Bytes, broken: Bytes]>> = {
  chat: [
    frame({
      id: 'c',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'So' } }],
    }),
    frame({ error: { type: 'server_error', message: 'It went wrong.' } }),
  ],
  responses: [
    [
      { type: 'response.created', response: { id: 'r', model: 'up', status: 'in_progress', output: [] } },
      { type: 'response.in_progress', response: { id: 'r', model: 'up', status: 'in_progress', output: [] } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'm', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
      },
      { type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'So' },
    ]
      .map((event, index) => frame({ ...event, sequence_number: index }))
      .join(''),
    frame({
      type: 'error',
      sequence_number: 3,
      error: { type: 'server_error', code: 'server_error', message: 'It went wrong.' },
    }),
  ],
  messages: [
    [
      {
        type: 'message_start',
        message: { id: 'm', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So' } },
    ]
      .map(frame)
      .join(''),
    frame({ type: 'error', error: { type: 'overloaded_error', message: 'It went wrong.' } }),
  ],
  gemini: [
    frame({ candidates: [{ content: { role: 'model', parts: [{ text: 'So' }] }, index: 0 }] }),
    frame({ error: { code: 500, status: 'INTERNAL', message: 'It went wrong.' } }),
  ],
  converse: [
    Buffer.concat([
      eventFrame('messageStart', { role: 'assistant' }, ''),
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'So' } }, ''),
    ]),
    exceptionFrame('internalServerException', 'It went wrong.'),
  ],
  cohere: [
    [
      { id: 'c1', type: 'message-start', delta: { message: { role: 'assistant', content: [] } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'So' } } } },
    ]
      .map(frame)
      .join(''),
    frame({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'It went wrong.' } }),
  ],
}

function frame(value: Json): string {
  return `${typeof value['type'] === 'string' ? `event: ${value['type']}\n` : ''}data: ${JSON.stringify(value)}\n\n`
}

/** The first part, and the second once somebody has read the first. */
function streamOf(first: Bytes, isRead: Promise<void>, second: Bytes): Response {
  async function* parts() {
    yield first
    await isRead
    yield second
  }
  return new Response(parts(), { headers: eventStream })
}

/** The whole text of a stream; says when this word was in it. */
async function readStream(response: Response, word: string, onRead: () => void): Promise<string> {
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.includes(word)) onRead()
  }
  return text
}

const eventStream = { 'content-type': 'text/event-stream' }
const chatEnd = `${frame({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`

for (const caller of callers) {
  for (const format of upstreams) {
    const request = requestOf(caller, modelOf[format], {})

    test(`E1 ${format} to ${caller}: what the provider refuses is 400 in the caller's envelope`, async () => {
      upstream.answer(() =>
        Response.json(bodies[format]('invalid_request_error'), refusals[format] ?? { status: 400 }),
      )
      const { status, json } = await gateway.post(paths[caller], request)
      expect([status, at(json, 'error.code')]).toEqual([400, 400])
      expect([json['type'], at(json, 'error.type')]).toEqual(
        caller === 'messages' ? ['error', 'invalid_request_error'] : [undefined, undefined],
      )
    })

    test(`E2 ${format} to ${caller}: a provider that is overloaded is 529, also before a stream`, async () => {
      upstream.answer(() =>
        Response.json(bodies[format]('overloaded_error'), overloads[format] ?? { status: 529 }),
      )
      for (const stream of [false, true]) {
        const { status, json, text } = await gateway.post(paths[caller], { ...request, stream })
        expect([stream, status, text.includes('overloaded')]).toEqual([stream, 529, true])
        if (caller === 'messages') expect(at(json, 'error.type')).toBe('overloaded_error')
      }
    })

    test(`E3 ${format} to ${caller}: an error inside a stream ends it in the caller's words`, async () => {
      const [said, broken] = streams[format]
      const isRead = Promise.withResolvers<void>()
      upstream.answer(() => streamOf(said, isRead.promise, broken))
      const response = await gateway.request(paths[caller], {
        method: 'POST',
        body: { ...request, stream: true },
      })
      expect(response.status).toBe(200)
      const text = await readStream(response, 'So', isRead.resolve)
      const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Json)
      const last = events.at(-1) ?? {}
      if (caller === 'messages')
        expect(last).toMatchObject({
          type: 'error',
          error: { type: expect.any(String) },
          request_id: response.headers.get('x-generation-id'),
        })
      if (caller === 'responses') {
        const shown = at(events, '2.item.id')
        expect(events.slice(-2)).toMatchObject([
          { type: 'error', sequence_number: events.length - 2, code: 'server_error', param: null },
          {
            type: 'response.failed',
            sequence_number: events.length - 1,
            response: {
              status: 'failed',
              error: { code: 'server_error', message: at(events.at(-2), 'message') },
              output: [{ id: shown, type: 'message', status: 'incomplete', content: [{ text: 'So' }] }],
            },
          },
        ])
      }
      if (caller === 'chat')
        expect(last).toMatchObject({
          error: { code: expect.any(Number) },
          choices: [{ finish_reason: 'error' }],
        })
      expect(text).not.toContain('[DONE]')
    })
  }
}

test("messages: Anthropic's client has the id of a request that failed, before a stream and inside it", async () => {
  const address = gateway.listen().replace(/\/v1$/, '')
  const client = new Anthropic({ baseURL: address, authToken: gateway.key, apiKey: null, maxRetries: 0 })
  const idsOf = async (call: PromiseLike<unknown>) => {
    const error: unknown = await Promise.resolve(call).catch((thrown: unknown) => thrown)
    if (!(error instanceof Anthropic.APIError)) throw new Error('the call did not fail')
    expect(error.headers?.get('x-request-id')).toBe(error.requestID ?? '')
    const generationId = error.headers?.get('x-generation-id') ?? null
    return { asked: error.requestID, told: at(error.error, 'request_id'), generationId }
  }
  const ask = {
    model: modelOf.chat,
    max_tokens: 9,
    messages: [{ role: 'user' as const, content: 'Hi.' }],
  }
  const early = await idsOf(client.messages.create({ ...ask, max_tokens: 0 }))
  expect(early).toEqual({ asked: expect.stringMatching(/^req_/), told: null, generationId: null })

  const began = expect.stringMatching(/^gen-/)
  upstream.answer(() => Response.json(bodies.chat('invalid_request_error'), { status: 400 }))
  const refused = await idsOf(client.messages.create(ask))
  expect(refused).toEqual({ asked: expect.stringMatching(/^req_/), told: began, generationId: began })
  expect(refused.told).toBe(refused.generationId)

  const isRead = Promise.withResolvers<void>()
  upstream.answer(() => streamOf(streams.chat[0], isRead.promise, streams.chat[1]))
  const stream = client.messages.stream(ask).on('text', () => isRead.resolve())
  const broken = await idsOf(stream.finalMessage())
  expect(broken).toEqual({ asked: expect.stringMatching(/^req_/), told: began, generationId: began })
  expect(broken.told).toBe(broken.generationId)

  upstream.answer(() => new Response(streams.chat[0] + chatEnd, { headers: eventStream }))
  const { response } = await client.messages.create({ ...ask, stream: true }).withResponse()
  expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
  await response.body?.cancel()
})

test("responses: OpenAI's helper raises what breaks a stream, and a call under way is told as unfinished", async () => {
  const called = frame({
    id: 'c',
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'a', arguments: '{"c' } }],
        },
      },
    ],
  })
  let isRead = Promise.withResolvers<void>()
  upstream.answer(() => streamOf(called, isRead.promise, streams.chat[1]))
  const client = new OpenAI({ baseURL: gateway.listen(), apiKey: gateway.key, maxRetries: 0 })
  const ask = { model: modelOf.chat, input: 'Hi.', tools: [] }
  const stream = client.responses.stream(ask)
  stream.on('response.function_call_arguments.delta', () => isRead.resolve())
  const error: unknown = await stream.finalResponse().catch((thrown: unknown) => thrown)
  // The helper rejects with the event itself.
  expect(error).toMatchObject({ type: 'error', code: 'server_error' })

  isRead = Promise.withResolvers<void>()
  const response = await gateway.request('/responses', { method: 'POST', body: { ...ask, stream: true } })
  const text = await readStream(response, 'arguments.delta', isRead.resolve)
  const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Json)
  const begun = events.find(({ type }) => type === 'response.output_item.added')
  expect(at(events.at(-1), 'response.output')).toEqual([
    { ...(at(begun, 'item') as Json), arguments: '{"c', status: 'incomplete' },
  ])
})
