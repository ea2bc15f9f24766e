import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Wire } from './wire.ts'

/** One transcript that a real provider gave, and what a caller must be told of it, said after its documents. */
export interface RecordedTranscript {
  preset: string
  /** The name that the provider knows. */
  upstream: string
  /** The last reply, which has the transcript. */
  file: string
  /** Replies to the requests before it, where the transcript is a job: one for each. */
  earlier?: readonly string[]
  /** The files have the request besides. */
  isExchange?: true
  /** Only where word times can be asked for. */
  words: boolean
  /** Where the provider told speakers apart, and says so only when it is asked. */
  diarize?: true
  expected(wire: Wire, earlier: readonly Wire[]): Record<string, unknown>
}

const root = process.env['HEADRACE_RECORDINGS'] ?? join(import.meta.dir, '../../../shared/recordings')

const listOf = (value: unknown) => value as Wire[]
const first = (value: unknown) => listOf(value)[0] ?? {}

/**
 * Transcripts of a whole API each; one provider may have several. Groq's is left out: it is plain text, which was asked for, and
 * the gateway asks Groq for JSON, because plain text does not say how long the sound was.
 */
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
  {
    preset: 'gladia',
    upstream: 'solaria-1',
    earlier: ['gladia/src/__fixtures__/gladia-upload.json', 'gladia/src/__fixtures__/gladia-initiate.json'],
    file: 'gladia/src/__fixtures__/gladia-result.json',
    words: true,
    expected(wire) {
      const result = wire['result'] as Wire
      const transcription = result['transcription'] as Wire
      const utterances = listOf(transcription['utterances'])
      return {
        text: transcription['full_transcript'],
        language: 'en',
        duration: (result['metadata'] as Wire)['audio_duration'],
        // Each word begins with the space before it, and has the channel of its utterance.
        words: utterances.flatMap(({ words }) =>
          listOf(words).map(({ word, start, end, confidence }) => ({
            word: String(word).trim(),
            start,
            end,
            confidence,
            channel: 0,
          })),
        ),
        segments: utterances.map(({ text, start, end }, id) => ({
          id,
          text: String(text).trim(),
          start,
          end,
          channel: 0,
        })),
      }
    },
  },
  {
    preset: 'revai',
    upstream: 'machine',
    earlier: ['revai/src/__fixtures__/revai-job-submit.json', 'revai/src/__fixtures__/revai-job-status.json'],
    file: 'revai/src/__fixtures__/revai-transcript.json',
    words: true,
    diarize: true,
    expected(wire, [, job = {}]) {
      const [monologue = {}] = listOf(wire['monologues'])
      const elements = listOf(monologue['elements'])
      return {
        text: elements.map(({ value }) => value).join(''),
        language: 'en',
        duration: job['duration_seconds'],
        // Marks are elements of their own there, behind their word.
        words: elements.flatMap(({ type, value, ts, end_ts: end, confidence }, at) => {
          const { type: next, value: mark } = elements[at + 1] ?? {}
          const word = `${String(value)}${next === 'punct' ? String(mark).trim() : ''}`
          const said = { word, start: ts, end, confidence, speaker: 0, speaker_label: '0' }
          return type === 'text' ? [said] : []
        }),
        segments: [{ id: 0, start: 0.075, end: 2.145, speaker: 0 }],
      }
    },
  },
  {
    preset: 'xai',
    upstream: 'grok-stt',
    file: '../outside/x2747.json',
    isExchange: true,
    words: true,
    diarize: true,
    expected: (wire) => ({
      text: wire['text'],
      language: 'en',
      duration: 3.7,
      words: listOf(wire['words']).map(({ text, start, end }) => ({
        word: text,
        start,
        end,
        speaker: 0,
        speaker_label: '0',
      })),
    }),
  },
]

/** The bodies that were recorded, in the order in which they came. */
export function readReplies({ file, earlier = [], isExchange }: RecordedTranscript): Wire[] {
  return [...earlier, file].map((name) => {
    const recorded = JSON.parse(readFileSync(join(root, 'ai-sdk', name), 'utf8')) as Wire
    return isExchange === true ? (recorded['response'] as Wire) : recorded
  })
}

/** Why they cannot be replayed, or null when they are here. */
export function whyNoTranscripts(): string | null {
  return existsSync(join(root, 'ai-sdk'))
    ? null
    : 'recorded transcripts are not here: set HEADRACE_RECORDINGS to read real ones'
}
