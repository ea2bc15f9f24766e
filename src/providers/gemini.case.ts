import { expect, test } from 'bun:test'
import type { TextFormat } from '../canonical/operation.ts'
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

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const context = { sessionIdHeader: null }
const model = 'gemini-2.5-flash'

function pathOf({ path }: TextInterface, stream: boolean): string {
  const address = typeof path === 'string' ? path : path({ model, stream })
  return typeof address === 'string' ? address : address.path
}

const usageMetadata = {
  promptTokenCount: 9,
  cachedContentTokenCount: 5,
  candidatesTokenCount: 1,
  thoughtsTokenCount: 2,
  totalTokenCount: 12,
}

/** The promises of every provider with Gemini's format, for a chat completions caller. */
export function testGemini(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('chat', adapter.format)
  const endpoint = testEndpoint(model, preset.slug)
  const request = {
    model: 'author/name',
    provider: { sort: 'price' },
    session_id: 's',
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ],
    seed: 1,
    logit_bias: { 1: 1 },
    stream: true,
    unknown_member: 1,
  }
  const call = decodeChatRequest(bytesOf(request), context)

  test('is asked at the path of its model, streamed or not', () => {
    expect(pathOf(adapter, false)).toEndWith(`/models/${model}:generateContent`)
    expect(pathOf(adapter, true)).toEndWith(`/models/${model}:streamGenerateContent?alt=sse`)
  })

  test('is sent contents of its own format, and nothing that is only the gateway’s', () => {
    const { body, dropped } = codec.encodeRequest(call, endpoint, adapter.quirks)
    expect(JSON.parse(textOf(body))).toEqual({
      systemInstruction: { parts: [{ text: 'be brief' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { seed: 1 },
    })
    expect([...dropped].toSorted()).toEqual(['logit_bias', 'unknown_member'])
  })

  test('is not sent what would change the answer', () => {
    const changing = { web_search_options: {}, stop: ['1', '2', '3', '4', '5', '6'] }
    for (const [name, value] of Object.entries(changing)) {
      expect(() => {
        const asked = decodeChatRequest(bytesOf({ ...request, [name]: value }), context)
        codec.encodeRequest(asked, endpoint, adapter.quirks)
      }).toThrow(`"${name}"`)
    }
  })

  test('answers in the contract’s form', () => {
    const wire = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata,
      modelVersion: 'up',
      responseId: 'r-1',
    }
    const answer = codec.decodeAnswer(bytesOf(wire), testContext, adapter.quirks, call)
    expect(answer.reading.usage).toMatchObject({ inputTokens: 9, cachedInputTokens: 5, outputTokens: 3 })
    const shown = JSON.parse(textOf(answer.encode(testCharge)))
    expect(chatAnswerSchema.safeParse(shown).error).toBeUndefined()
    expect(shown.choices[0]).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'STOP' })
  })

  test('streams in the contract’s form, its ending kept back', () => {
    const bytes = streamOf(
      [
        { candidates: [{ content: { parts: [{ text: 'hi' }], role: 'model' }, index: 0 }] },
        { candidates: [{ finishReason: 'STOP', index: 0 }], usageMetadata },
      ],
      { done: false },
    )
    const { shown, ending, rewriter } = runStream(
      codec.createStream(testContext, adapter.quirks, call),
      bytes,
    )
    const frames = framesOf(shown + ending)
    for (const frame of frames) expect(chatChunkSchema.safeParse(frame).error).toBeUndefined()
    expect(framesOf(shown)).toHaveLength(1)
    expect(rewriter.reading().usage).toMatchObject({ inputTokens: 9, outputTokens: 3 })
  })
}

/** The promises of every provider with Gemini's embeddings. */
export function testGeminiEmbeddings(preset: Preset, adapter: TextInterface): void {
  const codec = selectCodec('embeddings' satisfies TextFormat, adapter.format)
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
    const { body: sent, dropped } = codec.encodeRequest(call, testEndpoint('e', preset.slug), adapter.quirks)
    const requestOf = (text: string) => ({
      content: { parts: [{ text }] },
      model: 'models/e',
      outputDimensionality: 2,
    })
    expect(JSON.parse(textOf(sent))).toEqual({ requests: [requestOf('x'), requestOf('y')] })
    expect(dropped).toEqual(['user'])
    expect(pathOf(adapter, false)).toEndWith(`/models/${model}:batchEmbedContents`)
  })

  test('gives vectors in the encoding the caller asked for', () => {
    const embeddings = [{ values: [0, 0.5] }, { values: [3, 4] }]
    const answer = codec.decodeAnswer(bytesOf({ embeddings }), testContext, adapter.quirks, call)
    const shown = JSON.parse(textOf(answer.encode(testCharge)))
    expect(embeddingsAnswerSchema.safeParse(shown).error).toBeUndefined()
    // Cut vectors are normalized: [0, 1] and [0.6, 0.8].
    expect(shown.data.map((item: { embedding: string }) => item.embedding)).toEqual([
      'AAAAAAAAgD8=',
      'mpkZP83MTD8=',
    ])
    expect(answer.reading).toMatchObject({ usage: null, source: 'estimated' })
  })
}
