import { expect, test } from 'bun:test'
import type { BodyPieces } from '../core/body.ts'
import type { TextCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { GatewayError } from '../core/errors.ts'
import { chatAnswerSchema, chatChunkSchema } from '../formats/text/chat/answer-schema.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import {
  framesOf,
  runStream,
  streamOf,
  testCharge,
  testContext,
  testEndpoint,
  textOf,
} from '../formats/text/testing.ts'
import { selectCodec } from '../formats/text/formats.ts'
import { decodeEmbeddingsRequest } from '../formats/embeddings/read-request.ts'
import { embeddingsAnswerSchema } from '../formats/embeddings/request-schema.ts'
import type { TextInterface } from '../formats/text/text-interface.ts'
import type { Preset } from './define-provider.ts'
import { testCohere, testCohereEmbeddings } from './cohere.case.ts'
import { testGemini, testGeminiEmbeddings } from './gemini.case.ts'
import { testMessages } from './messages.case.ts'
import { testResponses } from './responses.case.ts'

const context = { sessionIdHeader: null }
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const jsonOf = (pieces: BodyPieces) => JSON.parse(textOf(pieces))

/** A request with everything that a caller may send, so that each preset must decide about all of it. */
const wholeRequest = {
  model: 'author/name',
  models: ['author/other'],
  messages: [
    { role: 'developer', content: 'be brief' },
    { role: 'user', content: [{ type: 'text', text: 'hi' }], name: 'ann' },
  ],
  provider: { sort: 'price' },
  session_id: 's',
  trace: { trace_id: 't' },
  plugins: [],
  transforms: [],
  route: 'fallback',
  preset: '',
  debug: {},
  usage: { include: true },
  headrace: {},
  stop_server_tools_when: [],
  stream: true,
  stream_options: { include_usage: false },
  temperature: 0,
  top_p: 1,
  top_k: 5,
  seed: 1,
  stop: ['x'],
  max_tokens: 10,
  logprobs: true,
  user: 'u',
  reasoning: { effort: 'low' },
  tools: [{ type: 'function', function: { name: 'f' } }],
  tool_choice: 'required',
  response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } },
  unknown_member: 1,
}
const gatewayOnly = [
  'models',
  'provider',
  'session_id',
  'trace',
  'plugins',
  'transforms',
  'route',
  'preset',
  'debug',
  'usage',
  'headrace',
  'stop_server_tools_when',
]

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'up-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

/** The promises of every provider, whatever its formats. */
export function testProvider(preset: Preset): void {
  test('is complete and consistent data', () => {
    expect(preset.slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(preset.name).not.toBe('')
    expect(Object.keys(preset.adapters)).not.toEqual([])
    if (preset.baseUrl !== null) expect(preset.baseUrl).toMatch(/^https?:\/\/[^/].*[^/]$/)
    // The clouds have logins of their own, and names of variables that their makers' tools read.
    if (preset.baseUrl !== null && !preset.isLocal && preset.identity === null)
      expect(preset.keyVariable).toMatch(/^[A-Z0-9]+(_[A-Z0-9]+)*_API_KEY$/)
    if (preset.auth.type === 'header') expect(preset.auth.name).toMatch(/^[a-z0-9-]+$/)
    if (preset.isLocal) expect(preset.dataPolicy).toEqual({ zdr: true, trains: false, stores: false })
    else if (preset.baseUrl !== null) expect(preset.baseUrl).toStartWith('https://')
  })
  const { language, embedding } = preset.adapters
  for (const adapter of language ?? []) {
    if (adapter.format === 'chat') testChat(preset, adapter)
    else if (adapter.format === 'responses') testResponses(preset, adapter)
    else if (adapter.format === 'messages') testMessages(preset, adapter)
    else if (adapter.format === 'gemini') testGemini(preset, adapter)
    else if (adapter.format === 'cohere') testCohere(preset, adapter)
  }
  for (const adapter of embedding ?? []) {
    if (adapter.format === 'gemini') testGeminiEmbeddings(preset, adapter)
    else if (adapter.format === 'cohere') testCohereEmbeddings(preset, adapter)
    else if (adapter.format === 'embeddings') testEmbeddings(preset, adapter)
  }
}

/** The whole request without the members that the provider's adapter refuses, and the names of these. */
function acceptedCall(
  adapter: TextInterface,
  endpoint: Endpoint,
): { call: TextCall; refused: readonly string[] } {
  const request: Record<string, unknown> = { ...wholeRequest }
  const refused: string[] = []
  for (const _ of Object.keys(wholeRequest)) {
    const call = decodeChatRequest(bytesOf(request), context)
    try {
      selectCodec('chat', adapter.format).encodeRequest(call, endpoint, adapter.quirks)
      return { call, refused }
    } catch (error) {
      const name = error instanceof GatewayError ? error.param : null
      if (typeof name !== 'string' || !(name in request)) throw error
      delete request[name]
      refused.push(name)
    }
  }
  throw new Error('the adapter refuses every request')
}

function testChat(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('chat', adapter.format)
  const endpoint = testEndpoint('up/name', preset.slug)
  const { call, refused } = acceptedCall(adapter, endpoint)

  test('refuses by name at most what changes the answer', () => {
    for (const name of refused) expect(['logprobs', 'stop', 'tool_choice']).toContain(name)
  })

  test('is sent its own model name, and nothing that is only the gateway’s', () => {
    const { body } = codec.encodeRequest(call, endpoint, adapter.quirks)
    const wire = jsonOf(body)
    expect(wire).toMatchObject({ model: 'up/name', stream: true })
    for (const name of gatewayOnly) expect(wire).not.toHaveProperty(name)
    expect(textOf(body)).not.toContain('sk-never-shown')
  })

  test('has every member of a request either carried, renamed or listed as dropped', () => {
    const { body, dropped } = codec.encodeRequest(call, endpoint, adapter.quirks)
    const text = textOf(body)
    const renamed: Record<string, string> = {
      max_tokens: 'max_completion_tokens',
      seed: 'random_seed',
      user: 'user_id',
      reasoning: 'reasoning_effort',
    }
    for (const name of Object.keys(wholeRequest)) {
      if (gatewayOnly.includes(name) || refused.includes(name) || name === 'stream_options') continue
      const isCarried = text.includes(`"${name}"`) || text.includes(`"${renamed[name]}"`)
      expect(isCarried || dropped.includes(name)).toBe(true)
    }
  })

  test('answers in the contract’s form', () => {
    const wire = {
      id: 'up-1',
      object: 'chat.completion',
      created: 1,
      model: 'up',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage,
    }
    const answer = codec.decodeAnswer(bytesOf(wire), testContext, adapter.quirks, call)
    expect(answer.reading.usage).toMatchObject({ inputTokens: 9, outputTokens: 3 })
    expect(chatAnswerSchema.safeParse(jsonOf(answer.encode(testCharge))).error).toBeUndefined()
  })

  test('streams in the contract’s form, its ending kept back', () => {
    const bytes = streamOf([
      chunk({ role: 'assistant', content: 'h' }),
      chunk({ content: 'i' }),
      { ...chunk({}, 'stop'), usage },
    ])
    const { shown, ending, rewriter } = runStream(
      codec.createStream(testContext, adapter.quirks, call),
      bytes,
    )
    for (const frame of framesOf(shown + ending))
      expect(chatChunkSchema.safeParse(frame).error).toBeUndefined()
    expect(framesOf(shown)).toHaveLength(2)
    expect(rewriter.reading().usage).toMatchObject({ inputTokens: 9, outputTokens: 3 })
  })

  test('turns what is no answer into a failed provider', () => {
    for (const junk of ['', '<html>', '{}', '[]', 'null', '{"choices":null}']) {
      const decoding = () =>
        codec.decodeAnswer(new TextEncoder().encode(junk), testContext, adapter.quirks, call)
      expect(decoding).toThrow(GatewayError)
    }
  })
}

function testEmbeddings(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('embeddings', adapter.format)
  const endpoint = testEndpoint('up/name', preset.slug)
  const body = {
    model: 'a/b',
    input: ['x', 'y'],
    encoding_format: 'base64',
    dimensions: 2,
    user: 'u',
    provider: {},
  }
  const call = decodeEmbeddingsRequest(bytesOf(body), context)

  test('is sent texts to embed, and nothing that is only the gateway’s', () => {
    const encoded = codec.encodeRequest(call, endpoint, adapter.quirks)
    const wire = jsonOf(encoded.body)
    expect(wire).toMatchObject({ model: 'up/name', input: ['x', 'y'] })
    expect(wire).not.toHaveProperty('provider')
  })

  test('gives vectors in the encoding the caller asked for', () => {
    const data = [1, 0].map((index) => ({ object: 'embedding', index, embedding: [index, 0.5] }))
    const answer = codec.decodeAnswer(
      bytesOf({ object: 'list', data, model: 'm', usage }),
      testContext,
      adapter.quirks,
      call,
    )
    const shown = jsonOf(answer.encode(testCharge))
    expect(embeddingsAnswerSchema.safeParse(shown).error).toBeUndefined()
    expect(shown.data.map((item: { embedding: string }) => item.embedding)).toEqual([
      'AAAAAAAAAD8=',
      'AACAPwAAAD8=',
    ])
  })
}
