import { describe, expect, test } from 'bun:test'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { asChat } from '../formats/text/chat/quirks.ts'
import { chatAnswerSchema, chatChunkSchema } from '../formats/text/chat/answer-schema.ts'
import { decodeChatAnswer } from '../formats/text/chat/pass-answer.ts'
import { createChatStream } from '../formats/text/chat/pass-stream.ts'
import {
  framesOf,
  runStream,
  testCharge,
  testContext,
  testEndpoint,
  textOf,
} from '../formats/text/testing.ts'
import { readUpstreamFailure } from '../formats/upstream-errors.ts'
import { leastAudio } from '../catalog/capabilities.ts'
import { testTranscription } from '../formats/transcription/transcription-testing.ts'
import { custom, deepseek, groq, mistral, openai, xai } from './index.ts'
import type { Preset } from './define-provider.ts'

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../shared/recordings')
const folders: readonly [folder: string, preset: Preset][] = [
  ['openai/src/chat', openai],
  ['groq/src', groq],
  ['mistral/src', mistral],
  ['deepseek/src/chat', deepseek],
  ['openai-compatible/src/chat', custom],
  ['xai/src', xai],
  ['perplexity/src', custom],
]

function filesOf(folder: string, pattern: string): string[] {
  return globSync(join(root, 'ai-sdk', folder, '__fixtures__', pattern))
}

function quirksOf({ adapters }: Preset) {
  const language = adapters.language?.find(({ format }) => format === 'chat')
  if (language === undefined) throw new Error('the preset has no chat adapter')
  return asChat(language.quirks)
}

interface Piece {
  content: string
  reasoning: string
  tools: Map<number, string>
}

/** The answer as a client puts it together from chunks; used for the provider's stream and for the gateway's. */
function assemble(frames: readonly Record<string, unknown>[]): Piece {
  const piece: Piece = { content: '', reasoning: '', tools: new Map() }
  for (const frame of frames) {
    for (const { delta = {} } of (frame['choices'] ?? []) as { delta?: Record<string, unknown> }[]) {
      addContent(piece, delta['content'])
      const reasoning = delta['reasoning'] ?? delta['reasoning_content']
      if (typeof reasoning === 'string') piece.reasoning += reasoning
      const calls = (delta['tool_calls'] ?? []) as {
        index: number
        function?: { name?: string; arguments?: string }
      }[]
      for (const { index = 0, function: called } of calls) {
        piece.tools.set(
          index,
          (piece.tools.get(index) ?? '') + (called?.name ?? '') + (called?.arguments ?? ''),
        )
      }
    }
  }
  return piece
}

/** The provider's total of tokens; the shown counts must add up to it. */
function totalOf(wire: Readonly<Record<string, unknown>>): unknown {
  return (wire['usage'] as Record<string, unknown>)['total_tokens']
}

function addContent(piece: Piece, content: unknown): void {
  if (typeof content === 'string') piece.content += content
  if (!Array.isArray(content)) return
  for (const part of content as { text?: string; thinking?: { text: string }[] }[]) {
    piece.content += part.text ?? ''
    for (const thought of part.thinking ?? []) piece.reasoning += thought.text
  }
}

const isThere = existsSync(join(root, 'ai-sdk'))
if (!isThere)
  console.log('recordings are not here: set HEADRACE_RECORDINGS to check adapters against real replies')

describe.if(isThere)('recorded streams', () => {
  for (const [folder, preset] of folders) {
    for (const file of filesOf(folder, '*.chunks.txt')) {
      test(`${preset.slug} ${basename(file)} has the same contents after rewriting, cut anywhere`, () => {
        const payloads = readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line.trim() !== '')
        const bytes = Buffer.from(payloads.map((payload) => `data: ${payload}\n\n`).join(''))
        const given = assemble(payloads.map((payload) => JSON.parse(payload) as Record<string, unknown>))
        const cuts = Array.from(
          { length: 40 },
          (_, index) => Math.floor((bytes.length * index * 17) / 680) + (index % 7),
        )
        for (const places of [[], cuts.filter((cut) => cut <= bytes.length)]) {
          const { shown, ending, rewriter } = runStream(
            createChatStream(testContext, quirksOf(preset)),
            bytes,
            places,
          )
          const frames = framesOf(shown + ending)
          expect(assemble(frames)).toEqual(given)
          for (const frame of frames) expect(chatChunkSchema.safeParse(frame).error).toBeUndefined()
          expect(rewriter.failure).toBeNull()
          expect(rewriter.reading().usage?.outputTokens).toBeGreaterThan(0)
        }
      })
    }
  }
})

describe.if(isThere)('recorded answers', () => {
  for (const [folder, preset] of folders) {
    for (const file of filesOf(folder, '*.json')) {
      const text = readFileSync(file, 'utf8')
      const wire = JSON.parse(text) as Record<string, unknown>
      if (!Array.isArray(wire['choices'])) continue
      test(`${preset.slug} ${basename(file)} has what the contract requires`, () => {
        const answer = decodeChatAnswer(Buffer.from(text), testContext, quirksOf(preset))
        const shown = JSON.parse(textOf(answer.encode(testCharge)))
        expect(chatAnswerSchema.safeParse(shown).error).toBeUndefined()
        expect(answer.reading.usage?.inputTokens).toBeGreaterThan(0)
        expect(shown).toMatchObject({ usage: { total_tokens: totalOf(wire) } })
      })
    }
  }

  test('a refused parameter is named', () => {
    const [file] = filesOf('openai/src/chat', 'reasoning-model-legacy-parameter-error.json')
    const failure = readUpstreamFailure({
      status: 400,
      headers: new Headers(),
      body: readFileSync(file ?? ''),
      requestedModel: 'openai/o3',
      parameterNames: ['max_tokens'],
    })
    expect(failure.error).toMatchObject({ type: 'invalid_request', param: 'max_tokens' })
  })
})

/** Reads a recording as its provider's adapter does, with times requested. */
function transcriptOf({ adapters }: Preset, file: string, model: string) {
  const call = testTranscription({ responseFormat: 'verbose_json', granularities: ['word'] })
  const endpoint = { ...testEndpoint(model), modality: 'transcription' as const, audio: leastAudio }
  const reply = { headers: new Headers(), bytes: readFileSync(file) }
  const step = adapters.transcription?.next(null, reply, { call, endpoint, context: testContext })
  if (step?.type !== 'answer') throw new Error('expected an answer')
  return step.answer
}

describe.if(isThere)('recorded transcripts', () => {
  test('of OpenAI have words, a language and a length', () => {
    const [file = ''] = filesOf('openai/src/transcription', 'openai-transcription.json')
    const read = transcriptOf(openai, file, 'whisper-1')
    const wire = JSON.parse(readFileSync(file, 'utf8'))
    expect(read).toMatchObject({ text: wire.text, language: 'en', durationSeconds: wire.duration })
    expect(read.words).toEqual(wire.words)
    expect(read.segments?.map(({ text }) => text).join(' ')).toBe(
      wire.words.map(({ word }: { word: string }) => word).join(' '),
    )
  })

  test('of Mistral have segments with their speakers, and the length in the usage', () => {
    const [file = ''] = filesOf('mistral/src', 'mistral-transcription.json')
    const read = transcriptOf(mistral, file, 'voxtral-mini-transcribe-3-0')
    const wire = JSON.parse(readFileSync(file, 'utf8'))
    expect(read).toMatchObject({
      text: wire.text,
      language: null,
      durationSeconds: wire.usage.prompt_audio_seconds,
      tokens: { input: wire.usage.prompt_tokens, output: wire.usage.completion_tokens },
    })
    expect(read.segments).toHaveLength(wire.segments.length)
    for (const [at, segment] of (read.segments ?? []).entries()) {
      const { start, end, text, speaker_id: label } = wire.segments[at]
      expect(segment).toEqual({ id: at, start, end, text: text.trim(), speaker: 0, speaker_label: label })
    }
  })
})
