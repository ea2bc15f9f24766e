import { expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import type { TranscriptionAdapter } from '../canonical/audio.ts'
import type { TextCall } from '../canonical/call.ts'
import type { Modality, TextFormat } from '../canonical/operation.ts'
import type { ConversationFormat } from '../canonical/text/conversation.ts'
import { noUsage, type Usage } from '../canonical/usage.ts'
import { leastAudio, traitsOf } from '../catalog/capabilities.ts'
import { parseListing } from '../catalog/listing.ts'
import type { ErrorType } from '../core/errors.ts'
import { chatAnswerSchema, chatChunkSchema } from '../formats/text/chat/answer-schema.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import {
  framesOf,
  runStream,
  testCharge,
  testContext,
  testEndpoint,
  textOf,
} from '../formats/text/testing.ts'
import { selectCodec } from '../formats/text/formats.ts'
import { decodeEmbeddingsRequest } from '../formats/embeddings/read-request.ts'
import { decodeRerankRequest } from '../formats/rerank/read-request.ts'
import { readUpstreamFailure } from '../formats/upstream-errors.ts'
import { testTranscription } from '../formats/transcription/transcription-testing.ts'
import { hasOwnCodec } from '../formats/text/codec.ts'
import type { TextInterface } from '../formats/text/text-interface.ts'
import type { Preset } from './define-provider.ts'
import { modelRulesOf } from './registry.ts'

/** The answer that a chat completions caller gets from a sample. */
interface ExpectedAnswer {
  text: string | null
  reasoning?: string
  /** The arguments of each called tool, by name. */
  tools?: Readonly<Record<string, unknown>>
  finish: string
  /** Units that are absent must be zero. */
  usage: Partial<Usage>
}

/**
 * The gateway's reading of a refusal. `type` is in the first column of `docs/errors.md`: `invalid_request` for a fault
 * of the caller, `no_matching_endpoint` for a model that the provider does not know, `provider_failed` when the
 * provider refuses the operator's key or account; only then is `credentialFault` true.
 */
interface ExpectedRefusal {
  /** The provider's status, which `error.json` does not have. */
  status: number
  type: ErrorType
  credentialFault: boolean
}

/** The values read from a provider's samples, by file; written by hand. */
type Expected = Readonly<{
  [file: `${string}.sse`]: ExpectedAnswer
  'chat.json'?: ExpectedAnswer
  'responses.json'?: ExpectedAnswer
  'messages.json'?: ExpectedAnswer
  'gemini.json'?: ExpectedAnswer
  'converse.json'?: ExpectedAnswer
  /** Frames of Amazon's binary event stream. */
  'converse.frames'?: ExpectedAnswer
  'cohere.json'?: ExpectedAnswer
  /** Tokens are null when the provider does not count them. */
  'embeddings.json'?: { vectors: number[][]; inputTokens: number | null }
  /** The index and score of each document, the most relevant first; usage is null when the provider counts nothing. */
  'rerank.json'?: { scores: [number, number][]; usage: Partial<Usage> | null }
  'transcription.json'?: { text: string; language: string | null; durationSeconds: number | null }
  'error.json': ExpectedRefusal
  /** The kind of each listed model; null when no operation serves it. */
  'models.json'?: Readonly<Record<string, Modality | null>>
}>

const expectedFile = 'expected.json'
/** The replies before the last one, when an answer needs several requests. */
const jobReply = /^transcription\.\d\.json$/
const request = { model: 'a/b', messages: [{ role: 'user', content: 'hi' }] }
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const callOf = (stream: boolean) =>
  decodeChatRequest(bytesOf({ ...request, stream }), { sessionIdHeader: null })

/** Reads replies from the provider's documentation with its adapters. */
export function testSamples(preset: Preset): void {
  const folder = new URL(`./${preset.slug}/samples/`, import.meta.url)
  const { embedding, rerank, transcription } = preset.adapters
  // Legacy completions are the same everywhere; `test/contract/completions.test.ts` covers them.
  const language = preset.adapters.language?.filter(({ format }) => format !== 'completions')

  test('has a sample of every kind of reply, and says what is read from it', () => {
    const needed = [
      ...(language ?? []).flatMap(({ format }) => [`${format}.json`, streamFileOf(format)]),
      ...(embedding ? ['embeddings.json'] : []),
      ...(rerank ? ['rerank.json'] : []),
      ...(transcription ? ['transcription.json'] : []),
      ...(preset.listing ? ['models.json'] : []),
      'error.json',
    ]
    const name = `src/providers/${preset.slug}/samples`
    expect(
      existsSync(folder) ? name : `${name} is missing; write replies there after the provider’s documents`,
    ).toBe(name)
    const files = readdirSync(folder).filter((file) => file !== expectedFile && !jobReply.test(file))
    const wanted = [...new Set(needed)].toSorted()
    expect(files.toSorted()).toEqual(wanted)
    expect(Object.keys(expectedOf(folder)).toSorted()).toEqual(wanted)
  })
  if (!existsSync(new URL(expectedFile, folder))) return
  const expected = expectedOf(folder)
  const read = (file: string) => new Uint8Array(readFileSync(new URL(file, folder)))
  for (const one of language ?? []) testText(one, expected, read)
  for (const one of embedding ?? []) testVectors(one, expected, read)
  for (const one of rerank ?? []) testScores(one, expected, read)
  if (transcription) {
    const earlier = readdirSync(folder).filter((file) => jobReply.test(file))
    const replies = [...earlier.toSorted(), 'transcription.json'].map(read)
    testTranscript(transcription, expected, replies)
  }
  testRefusal(expected, read)
  if (preset.listing) testListing(preset, expected, read)
}

type Read = (file: string) => Uint8Array

function expectedOf(folder: URL): Expected {
  return JSON.parse(readFileSync(new URL(expectedFile, folder), 'utf8')) as Expected
}

function testText(adapter: TextInterface, expected: Expected, read: Read): void {
  const codec = selectCodec('chat', adapter.format)
  const { format } = adapter
  const kind = isConversation(format) ? format : 'chat'

  test('shows what its sample answer says', () => {
    const answer = codec.decodeAnswer(read(`${kind}.json`), testContext, adapter.quirks, callOf(false))
    const shown = JSON.parse(textOf(answer.encode(testCharge)))
    expect(chatAnswerSchema.safeParse(shown).error).toBeUndefined()
    const [{ message, finish_reason: finish }] = shown.choices
    const calls: WireCall[] = message.tool_calls ?? []
    const told = { text: message.content, reasoning: message.reasoning ?? '', calls, finish }
    expectAnswer(told, answer.reading.usage, expected[`${kind}.json`])
  })

  test('shows what its sample stream says, wherever it is cut', () => {
    const bytes = read(streamFileOf(kind))
    for (const cut of [0, 1, Math.floor(bytes.length / 3), Math.floor(bytes.length / 2), bytes.length - 3]) {
      const rewriter = codec.createStream(testContext, adapter.quirks, callOf(true))
      const { shown, ending } = runStream(rewriter, bytes, [cut])
      const frames = framesOf(shown + ending)
      for (const frame of frames) expect(chatChunkSchema.safeParse(frame).error).toBeUndefined()
      expect(rewriter.failure).toBeNull()
      expectAnswer(joined(frames), rewriter.reading().usage, expected[streamFileOf(kind)])
    }
  })
}

function isConversation(format: TextFormat): format is ConversationFormat {
  return ['chat', 'responses', 'messages', 'gemini', 'converse', 'cohere'].includes(format)
}

function streamFileOf(format: TextFormat): `${string}.sse` | 'converse.frames' {
  return format === 'converse' ? 'converse.frames' : `${format}.sse`
}

interface WireCall {
  index?: number
  function: { name?: string; arguments?: string }
}

interface Told {
  text: string | null
  reasoning: string
  calls: readonly WireCall[]
  finish: string | null
}

function expectAnswer(told: Told, usage: Usage | null, expected: ExpectedAnswer | undefined): void {
  const tools = told.calls.map(({ function: called }) => [called.name, JSON.parse(called.arguments ?? '')])
  const answer = {
    text: told.text || null,
    reasoning: told.reasoning,
    finish: told.finish,
    tools: Object.fromEntries(tools),
  }
  expect({ ...answer, usage }).toEqual({
    text: expected?.text ?? null,
    reasoning: expected?.reasoning ?? '',
    finish: expected?.finish ?? '',
    tools: expected?.tools ?? {},
    usage: { ...noUsage, ...expected?.usage },
  })
}

/** The answer as a client puts it together from the chunks of a stream. */
function joined(frames: readonly Record<string, unknown>[]): Told {
  let [text, reasoning] = ['', '']
  let finish: string | null = null
  const calls: { function: { name: string; arguments: string } }[] = []
  for (const frame of frames) {
    for (const { delta, finish_reason: reason } of frame['choices'] as WireChoice[]) {
      text += delta.content ?? ''
      reasoning += delta.reasoning ?? ''
      finish = reason ?? finish
      for (const { index = 0, function: piece } of delta.tool_calls ?? []) {
        const call = (calls[index] ??= { function: { name: '', arguments: '' } })
        call.function.name += piece.name ?? ''
        call.function.arguments += piece.arguments ?? ''
      }
    }
  }
  return { text, reasoning, calls, finish }
}

interface WireChoice {
  delta: { content?: string | null; reasoning?: string | null; tool_calls?: WireCall[] }
  finish_reason: string | null
}

function testVectors(adapter: TextInterface, expected: Expected, read: Read): void {
  test('gives the vectors of its sample', () => {
    const body = bytesOf({ model: 'a/b', input: ['x', 'y'] })
    const call: TextCall = decodeEmbeddingsRequest(body, { sessionIdHeader: null })
    const { quirks } = adapter
    const codec = hasOwnCodec(quirks) ? quirks.codec : selectCodec('embeddings', adapter.format)
    const answer = codec.decodeAnswer(read('embeddings.json'), testContext, adapter.quirks, call)
    const { data } = JSON.parse(textOf(answer.encode(testCharge))) as { data: { embedding: number[] }[] }
    const { vectors, inputTokens } = expected['embeddings.json'] ?? {}
    expect<unknown>(data.map(({ embedding }) => embedding)).toEqual(vectors)
    expect<unknown>(answer.reading.usage).toEqual(inputTokens === null ? null : { ...noUsage, inputTokens })
  })
}

function testScores(adapter: TextInterface, expected: Expected, read: Read): void {
  test('gives the scores of its sample', () => {
    if (!hasOwnCodec(adapter.quirks)) throw new Error('it has a codec of its own')
    const body = bytesOf({ model: 'a/b', query: 'q', documents: ['x', 'y'] })
    const call = decodeRerankRequest(body, { sessionIdHeader: null })
    const { codec } = adapter.quirks
    const answer = codec.decodeAnswer(read('rerank.json'), testContext, adapter.quirks, call)
    const shown = JSON.parse(textOf(answer.encode(testCharge))) as {
      results: { index: number; relevance_score: number; document: { text: string } }[]
    }
    const { scores, usage } = expected['rerank.json'] ?? {}
    expect<unknown>(shown.results.map(({ index, relevance_score: score }) => [index, score])).toEqual(scores)
    expect(shown.results.map(({ document }) => document.text)).toEqual(['y', 'x'])
    expect<unknown>(answer.reading.usage).toEqual(usage === null ? null : { ...noUsage, ...usage })
  })
}

function testTranscript(
  adapter: TranscriptionAdapter,
  expected: Expected,
  replies: readonly Uint8Array[],
): void {
  test('gives the transcript of its sample', () => {
    const endpoint = { ...testEndpoint('b'), modality: 'transcription' as const, audio: leastAudio }
    const asked = {
      call: testTranscription({ responseFormat: 'verbose_json' }),
      endpoint,
      context: testContext,
    }
    let step = adapter.first(asked)
    for (const bytes of replies) {
      if (step.type !== 'send') throw new Error('expected a request')
      step = adapter.next(step.state, { headers: new Headers(), bytes }, asked)
    }
    if (step.type !== 'answer') throw new Error('expected an answer')
    const { text, language, durationSeconds } = step.answer
    expect<unknown>({ text, language, durationSeconds }).toEqual(expected['transcription.json'])
  })
}

function testRefusal(expected: Expected, read: Read): void {
  test('is understood when it refuses', () => {
    const { status, type, credentialFault } = expected['error.json']
    const body = read('error.json')
    const refusal = { status, headers: new Headers(), body, requestedModel: 'a/b', parameterNames: [] }
    const failure = readUpstreamFailure(refusal)
    expect([failure.error.type, failure.credentialFault]).toEqual([type, credentialFault])
  })
}

function testListing(preset: Preset, expected: Expected, read: Read): void {
  test('lists models whose kind is known', () => {
    const models = parseListing(JSON.parse(new TextDecoder().decode(read('models.json'))))
    const kinds = models.map(({ upstream, modality }) => [
      upstream,
      modality === undefined ? traitsOf(upstream, modelRulesOf(preset)).modality : modality,
    ])
    expect<unknown>(Object.fromEntries(kinds)).toEqual(expected['models.json'])
  })
}
