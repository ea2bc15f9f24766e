import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wire } from './wire.ts'

/** One transcript that a real provider gave, and what a caller must be told of it, said after its documents. */
export interface RecordedTranscript {
  preset: string
  /** The name that the provider knows. */
  upstream: string
  file: string
  /** Only where word times can be asked for. */
  words: boolean
  expected(wire: Wire): Record<string, unknown>
}

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../shared/recordings')

const listOf = (value: unknown) => value as Wire[]
const first = (value: unknown) => listOf(value)[0] ?? {}

/** Transcripts of a whole API each; one provider may have several. */
export const recordedTranscripts: readonly RecordedTranscript[] = [
  {
    preset: 'openai',
    upstream: 'whisper-1',
    file: 'openai/src/transcription/__fixtures__/openai-transcription.json',
    words: true,
    expected: (wire) => ({
      text: wire['text'],
      language: 'en',
      duration: wire['duration'],
      words: wire['words'],
    }),
  },
  {
    preset: 'mistral',
    upstream: 'voxtral-mini-transcribe-3-0',
    file: 'mistral/src/__fixtures__/mistral-transcription.json',
    words: false,
    expected: (wire) => ({
      text: wire['text'],
      duration: (wire['usage'] as Wire)['prompt_audio_seconds'],
      segments: listOf(wire['segments']).map(({ start, end, text, speaker_id: label }, id) => ({
        id,
        start,
        end,
        text: String(text).trim(),
        speaker: 0,
        speaker_label: label,
      })),
    }),
  },
  {
    preset: 'deepgram',
    upstream: 'nova-3',
    file: 'deepgram/src/__fixtures__/deepgram-transcription.json',
    words: true,
    expected(wire) {
      const channel = first((wire['results'] as Wire)['channels'])
      const best = first(channel['alternatives'])
      return {
        text: best['transcript'],
        language: 'en',
        language_confidence: channel['language_confidence'],
        confidence: best['confidence'],
        duration: 36.744,
        words: listOf(best['words']).map(({ word, start, end, confidence, speaker }) => ({
          word,
          start,
          end,
          confidence,
          speaker: 0,
          speaker_label: String(speaker),
        })),
      }
    },
  },
  {
    preset: 'cartesia',
    upstream: 'ink-whisper',
    file: 'cartesia/src/__fixtures__/cartesia-transcription.json',
    words: true,
    expected: (wire) => ({
      text: wire['text'],
      language: 'en',
      duration: wire['duration'],
      words: wire['words'],
      segments: [{ id: 0, start: 0.199, end: 2.479, text: wire['text'] }],
    }),
  },
  {
    preset: 'elevenlabs',
    upstream: 'scribe_v2',
    file: 'elevenlabs/src/__fixtures__/elevenlabs-transcription.json',
    words: true,
    // Every logarithm is 0 there, so that no word has a confidence.
    expected: (wire) => ({
      text: wire['text'],
      language: 'en',
      language_confidence: wire['language_probability'],
      words: listOf(wire['words'])
        .filter(({ type }) => type !== 'spacing')
        .map(({ text, start, end, type }) => ({
          word: text,
          start,
          end,
          speaker: 0,
          speaker_label: 'speaker_0',
          type,
        })),
    }),
  },
]

/** The body that was recorded. */
export function readTranscript({ file }: RecordedTranscript): Wire {
  return JSON.parse(readFileSync(join(root, 'ai-sdk', file), 'utf8')) as Wire
}

/** Why they cannot be replayed, or null when they are here. */
export function whyNoTranscripts(): string | null {
  return existsSync(join(root, 'ai-sdk'))
    ? null
    : 'recorded transcripts are not here: set HEADRACE_RECORDINGS to read real ones'
}
