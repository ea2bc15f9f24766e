import { expect, test } from 'bun:test'
import { embeddingsAnswerSchema } from '../formats/embeddings/request-schema.ts'
import { decodeEmbeddingsRequest } from '../formats/embeddings/read-request.ts'
import { selectCodec } from '../formats/text/formats.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import { testCharge, testContext, testEndpoint, textOf } from '../formats/text/testing.ts'
import type { TextInterface } from '../formats/text/text-interface.ts'
import type { Preset } from './define-provider.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const context = { sessionIdHeader: null }

/** The promises of every provider with Cohere's chat, for a chat completions caller. */
export function testCohere(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('chat', adapter.format)
  const endpoint = testEndpoint('command-a-03-2025', preset.slug)
  const request = {
    model: 'author/name',
    provider: { sort: 'price' },
    session_id: 's',
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ],
    top_k: 4,
    top_p: 0.5,
    tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }],
    tool_choice: 'required',
    logit_bias: { 1: 1 },
    unknown_member: 1,
  }

  test('is sent a chat of its own format, and nothing that is only the gateway’s', () => {
    const call = decodeChatRequest(bytesOf(request), context)
    const { body, dropped } = codec.encodeRequest(call, endpoint, adapter.quirks)
    expect(JSON.parse(textOf(body))).toEqual({
      model: 'command-a-03-2025',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'be brief' }] },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      ],
      stream: false,
      k: 4,
      p: 0.5,
      tools: [
        { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: 'REQUIRED',
    })
    expect([...dropped].toSorted()).toEqual(['logit_bias', 'unknown_member'])
  })

  test('is given back its calls and their results', () => {
    const calls = [{ id: 'look_1', type: 'function', function: { name: 'look', arguments: '{}' } }]
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'look_1', content: 'found' },
    ]
    const call = decodeChatRequest(bytesOf({ model: 'a/b', messages, tools: request.tools }), context)
    const { body } = codec.encodeRequest(call, endpoint, adapter.quirks)
    expect(JSON.parse(textOf(body)).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', tool_call_id: 'look_1', content: 'found' },
    ])
  })

  test('is not sent what would change the answer', () => {
    const changing = { n: 2, logprobs: true, stop: ['1', '2', '3', '4', '5', '6'] }
    for (const [name, value] of Object.entries(changing)) {
      const asked = decodeChatRequest(bytesOf({ ...request, [name]: value }), context)
      expect(() => codec.encodeRequest(asked, endpoint, adapter.quirks)).toThrow(`"${name}"`)
    }
  })
}

/** The promises of every provider with Cohere's embeddings. */
export function testCohereEmbeddings(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('embeddings', adapter.format)
  const body = {
    model: 'a/b',
    input: ['x', 'ü"'],
    encoding_format: 'base64',
    dimensions: 2,
    user: 'u',
    provider: {},
  }
  const call = decodeEmbeddingsRequest(bytesOf(body), context)

  test('is sent texts to embed, and nothing that is only the gateway’s', () => {
    const { body: sent, dropped } = codec.encodeRequest(call, testEndpoint('e', preset.slug), adapter.quirks)
    expect(JSON.parse(textOf(sent))).toEqual({
      model: 'e',
      input_type: 'search_document',
      embedding_types: ['float'],
      output_dimension: 2,
      texts: ['x', 'ü"'],
    })
    expect(dropped).toEqual(['user'])
    const one = decodeEmbeddingsRequest(bytesOf({ model: 'a/b', input: 'x', input_type: 'query' }), context)
    const { body: asked } = codec.encodeRequest(one, testEndpoint('e', preset.slug), adapter.quirks)
    expect(JSON.parse(textOf(asked))).toMatchObject({ input_type: 'search_query', texts: ['x'] })
  })

  test('gives vectors in the encoding the caller asked for', () => {
    const embeddings = {
      float: [
        [0, 0.5],
        [3, 4],
      ],
    }
    const wire = { id: 'e', embeddings, meta: { billed_units: { input_tokens: 4 } } }
    const answer = codec.decodeAnswer(bytesOf(wire), testContext, adapter.quirks, call)
    const shown = JSON.parse(textOf(answer.encode(testCharge)))
    expect(embeddingsAnswerSchema.safeParse(shown).error).toBeUndefined()
    const [first] = shown.data as { embedding: string }[]
    const bytes = Buffer.from(first?.embedding ?? '', 'base64')
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([0, 0.5])
    expect(answer.reading.usage).toMatchObject({ inputTokens: 4 })
  })
}
