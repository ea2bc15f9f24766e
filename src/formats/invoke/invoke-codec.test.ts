import { expect, test } from 'bun:test'
import { textAdapter } from '../text/adapter.ts'
import { testCharge, testContext, testEndpoint, textOf } from '../text/testing.ts'
import { bedrockEmbeddings } from './quirks.ts'
import { decodeEmbeddingsRequest } from '../embeddings/read-request.ts'

// Bodies after https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html and
// https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html

const adapter = textAdapter('embeddings', bedrockEmbeddings())

/** Follows a call to its end; each request is answered by `reply`. */
function follow(
  body: Record<string, unknown>,
  upstreamModel: string,
  reply: (asked: Record<string, unknown>, index: number) => { body: unknown; counted?: string },
) {
  const bytes = new TextEncoder().encode(JSON.stringify({ model: 'a/b', ...body }))
  const call = decodeEmbeddingsRequest(bytes, { sessionIdHeader: null })
  const at = { call, endpoint: testEndpoint(upstreamModel, 'amazon-bedrock'), context: testContext }
  const sent: { path: string; body: Record<string, unknown>; dropped: readonly string[] }[] = []
  let step = adapter.first(at)
  while (step.type === 'send') {
    const { request, dropped = [] } = step.exchange
    const asked = JSON.parse(textOf(request.body as Parameters<typeof textOf>[0])) as Record<string, unknown>
    sent.push({ path: request.path, body: asked, dropped })
    const { body: told, counted } = reply(asked, sent.length - 1)
    const headers = new Headers(counted === undefined ? {} : { 'x-amzn-bedrock-input-token-count': counted })
    step = adapter.next(step.state, { headers, bytes: new TextEncoder().encode(JSON.stringify(told)) }, at)
  }
  if (step.type !== 'answer') throw new Error('expected an answer')
  const shown = JSON.parse(textOf(step.answer.encode(testCharge))) as {
    data: { index: number; embedding: unknown }[]
  }
  return { sent, data: shown.data, usage: step.answer.reading.usage }
}

test('Titan is asked for one text after the other, and its counts are added', () => {
  const input = ['one', 'tw\u00f6 "quoted"', 'three']
  const { sent, data, usage } = follow(
    { input, dimensions: 256, user: 'u' },
    'us.amazon.titan-embed-text-v2:0',
    (asked, index) => ({
      body: { embedding: [index, 0.5], inputTextTokenCount: String(asked['inputText']).length },
    }),
  )
  expect(sent.map(({ body }) => body)).toEqual(input.map((inputText) => ({ inputText, dimensions: 256 })))
  expect(sent[0]?.path).toBe('/model/us.amazon.titan-embed-text-v2%3A0/invoke')
  expect(sent[0]?.dropped).toEqual(['user'])
  expect(data.map(({ index, embedding }) => [index, embedding])).toEqual([
    [0, [0, 0.5]],
    [1, [1, 0.5]],
    [2, [2, 0.5]],
  ])
  expect(usage?.inputTokens).toBe(3 + 12 + 5)
})

test('the first Titan cannot cut its vectors, and one text need not be in a list', () => {
  const { sent, data } = follow({ input: 'one', dimensions: 256 }, 'amazon.titan-embed-text-v1', () => ({
    body: { embedding: [1], inputTextTokenCount: 1 },
  }))
  expect(sent).toEqual([
    { path: '/model/amazon.titan-embed-text-v1/invoke', body: { inputText: 'one' }, dropped: ['dimensions'] },
  ])
  expect(data).toHaveLength(1)
})

test('Nova is told what each vector is for, and dimensions of its own name', () => {
  const { sent, data, usage } = follow(
    { input: ['one', 'two'], dimensions: 384, input_type: 'query' },
    'amazon.nova-2-multimodal-embeddings-v1:0',
    (_, index) => ({ body: { embeddings: [{ embeddingType: 'TEXT', embedding: [index] }] }, counted: '2' }),
  )
  expect(sent.map(({ body }) => body)).toEqual(
    ['one', 'two'].map((value) => ({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_RETRIEVAL',
        embeddingDimension: 384,
        text: { truncationMode: 'NONE', value },
      },
    })),
  )
  expect(sent[0]?.dropped).toEqual([])
  expect(data.map(({ embedding }) => embedding)).toEqual([[0], [1]])
  expect(usage?.inputTokens).toBe(4)
})

test('Cohere takes all texts at once, and Bedrock counts them in a header', () => {
  const { sent, data, usage } = follow(
    { input: ['x', 'y'], input_type: 'query', encoding_format: 'base64' },
    'cohere.embed-v4:0',
    () => ({
      body: { embeddings: { float: [[0.5], [1]] }, response_type: 'embeddings_by_type' },
      counted: '4',
    }),
  )
  expect(sent.map(({ body }) => body)).toEqual([
    { texts: ['x', 'y'], input_type: 'search_query', embedding_types: ['float'] },
  ])
  expect(data.map(({ embedding }) => embedding)).toEqual(['AAAAPw==', 'AACAPw=='])
  expect(usage?.inputTokens).toBe(4)
})

test('what cannot be sent, and an answer without a vector for each text, are errors', () => {
  const titan = 'amazon.titan-embed-text-v2:0'
  const many = Array.from({ length: 129 }, () => 'x')
  const one = () => ({ body: { embedding: [1], inputTextTokenCount: 1 } })
  expect(() => follow({ input: many }, titan, one)).toThrow('"input" has 129 entries')
  expect(() => follow({ input: [[1, 2]] }, titan, one)).toThrow('must be text')
  expect(() => follow({ input: ['x', 'y'] }, titan, () => ({ body: {} }))).toThrow()
  expect(() =>
    follow({ input: ['x', 'y'] }, 'cohere.embed-v4:0', () => ({ body: { embeddings: [[1]] } })),
  ).toThrow()
})
