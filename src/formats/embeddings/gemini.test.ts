import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../core/errors.ts'
import { testCharge, testContext, testEndpoint, textOf } from '../text/testing.ts'
import { decodeEmbeddingsRequest } from './read-request.ts'
import { decodeGeminiEmbeddings, encodeGeminiEmbeddings } from './gemini.ts'
import { geminiQuirks } from '../text/gemini/quirks.ts'

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const decode = (body: object) =>
  decodeEmbeddingsRequest(bytesOf({ model: 'google/e', ...body }), { sessionIdHeader: null })

function encode(body: object) {
  const { body: pieces, dropped } = encodeGeminiEmbeddings(decode(body), testEndpoint('e'), geminiQuirks())
  return { wire: JSON.parse(textOf(pieces)), dropped }
}

describe('texts to embed', () => {
  test('are requests of one batch each, by any spelling of their JSON', () => {
    const texts = ['a "quoted" \\ text, with ] and ,', 'ünï 🙂', '\u0000']
    const { wire } = encode({ input: texts })
    expect(wire.requests).toEqual(
      texts.map((text) => ({ content: { parts: [{ text }] }, model: 'models/e' })),
    )
    expect(encode({ input: 'one' }).wire.requests).toHaveLength(1)
    const spaced = new TextEncoder().encode('{"model":"a/b", "input" : [ "x" , "y" ] }')
    const call = decodeEmbeddingsRequest(spaced, { sessionIdHeader: null })
    const { body } = encodeGeminiEmbeddings(call, testEndpoint('e'), geminiQuirks())
    expect(JSON.parse(textOf(body)).requests).toHaveLength(2)
  })

  test('carry their task type in the provider’s word', () => {
    const taskOf = (inputType: string) => encode({ input: 'x', input_type: inputType })
    expect(taskOf('search_query').wire.requests[0].taskType).toBe('RETRIEVAL_QUERY')
    expect(taskOf('clustering').wire.requests[0].taskType).toBe('CLUSTERING')
    const unknown = taskOf('dreaming')
    expect([unknown.wire.requests[0].taskType, unknown.dropped]).toEqual([undefined, ['input_type']])
  })

  test('are refused when there are none or too many', () => {
    expect(() => encode({ input: [1, 2, 3] })).toThrow('"input"')
    expect(() => encode({ input: [[1], [2]] })).toThrow('"input"')
    expect(() => encode({ input: Array.from({ length: 101 }, () => 'x') })).toThrow('101 entries')
  })
})

describe('vectors', () => {
  const shown = (answer: object, body: object = { input: ['x', 'y'] }) => {
    const decoded = decodeGeminiEmbeddings(bytesOf(answer), testContext, decode(body))
    return { reading: decoded.reading, wire: JSON.parse(textOf(decoded.encode(testCharge))) }
  }

  test('come in the order of their texts, as they are', () => {
    const { wire } = shown({ embeddings: [{ values: [3, 4] }, { values: [0.5, 0] }] })
    expect(wire.data).toEqual([
      { object: 'embedding', index: 0, embedding: [3, 4] },
      { object: 'embedding', index: 1, embedding: [0.5, 0] },
    ])
  })

  test('with fewer dimensions are normalised to unit length', () => {
    const { wire } = shown({ embeddings: [{ values: [3, 4] }] }, { input: 'x', dimensions: 2 })
    expect(wire.data[0].embedding).toEqual([0.6, 0.8])
    const zero = shown({ embeddings: [{ values: [0, 0] }] }, { input: 'x', dimensions: 2 })
    expect(zero.wire.data[0].embedding).toEqual([0, 0])
  })

  test('are counted where the provider counts them', () => {
    const answer = { embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: 4 } }
    expect(shown(answer, { input: 'x' }).reading).toMatchObject({
      usage: { inputTokens: 4 },
      source: 'provider',
    })
  })

  test.each([
    [{}],
    [{ embeddings: [{ values: [1] }] }],
    [{ embeddings: [{ values: [1] }, { values: [] }] }],
    [{ embeddings: [{ values: [1] }, { values: ['x'] }] }],
    [{ embeddings: [{ values: [1] }, null] }],
  ])('%j is not an answer for two texts', (answer) => {
    expect(() => shown(answer)).toThrow(GatewayError)
  })
})
