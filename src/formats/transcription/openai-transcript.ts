import type { CanonicalTranscription, TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import { GatewayError } from '../../core/errors.ts'
import { audioDurationMsMax, transcriptPiecesMax } from '../../core/limits/audio.ts'
import { settleCounts } from '../token-counts.ts'
import { unjoinTerms } from './joined-terms.ts'
import { toLanguageCode } from './language-names.ts'
import { segmentsOfWords } from './segments-of-words.ts'

/** What must be known of the request to read its answer. */
export interface TranscriptReading {
  /** The entries of `segments` are words, as Mistral writes them when asked for words. */
  areSegmentsWords: boolean
  /** The text marks who speaks, and is made of the segments instead where there are some. */
  isTextOfSegments: boolean
  /** The language that was asked for. */
  language: string | null
  /** The terms that were sent as one word each, and how they were joined. */
  joinedTerms: { terms: readonly string[]; joiner: string } | null
}

type Wire = Readonly<Record<string, unknown>>

/**
 * Reads the transcript of an OpenAI-style provider. Only what is used is read, null is absent, and a wrong time or
 * score is left out rather than passed on. Throws `provider_failed` when there is no text.
 */
export function readOpenAiTranscript(bytes: Uint8Array, reading: TranscriptReading): CanonicalTranscription {
  const wire = parseWire(bytes)
  if (typeof wire['text'] !== 'string') throw notATranscript()
  const speakers = new Map<string, number>()
  const ofSpeakers = listOf(wire['speaker_segments'])
  // Together tells speakers most surely in a list of its own.
  const entries = ofSpeakers?.length ? ofSpeakers : listOf(wire['segments'])
  const spoken = reading.areSegmentsWords ? entries : (wordsOfSpeakers(ofSpeakers) ?? listOf(wire['words']))
  const words = spoken?.flatMap((word) => readWord(word, speakers)) ?? null
  const segments = reading.areSegmentsWords ? null : readSegments(entries, speakers)
  const usage = recordOf(wire['usage'])
  const languages = listOf(wire['languages'])
  const language = text(wire['language']) ?? text(languages?.[0]?.['code']) ?? reading.language
  const heard = reading.isTextOfSegments && segments !== null ? textOf(segments) : wire['text'].trim()
  return withTermsApart(reading, {
    // Whisper begins its text with a space.
    text: heard,
    language: language === null ? null : toLanguageCode(language),
    durationSeconds: readDuration(wire, usage),
    segments: segments ?? (words && words.length > 0 ? segmentsOfWords(words) : null),
    words,
    confidence: null,
    languageConfidence: null,
    entities: null,
    tokens: readTokens(usage),
    upstreamId: text(recordOf(wire['x_groq'])?.['id']) ?? text(wire['id']),
  })
}

function textOf(segments: readonly TranscriptSegment[]): string {
  return segments.map((segment) => segment.text).join(' ')
}

/** The entries of such a list hold their words. */
function wordsOfSpeakers(segments: Wire[] | null): Wire[] | null {
  const words = (segments ?? []).flatMap((segment) =>
    (listOf(segment['words']) ?? []).map((word) => ({ speaker_id: segment['speaker_id'], ...word })),
  )
  return words.length > 0 ? words : null
}

/** Terms that had to be sent as one word each, as the caller wrote them. */
function withTermsApart(
  { joinedTerms }: TranscriptReading,
  transcription: CanonicalTranscription,
): CanonicalTranscription {
  if (joinedTerms === null || joinedTerms.terms.length === 0) return transcription
  const apart = unjoinTerms(joinedTerms.terms, joinedTerms.joiner)
  return {
    ...transcription,
    text: apart(transcription.text),
    segments: transcription.segments?.map((segment) => ({ ...segment, text: apart(segment.text) })) ?? null,
    words: transcription.words?.map((entry) => ({ ...entry, word: apart(entry.word) })) ?? null,
  }
}

function parseWire(bytes: Uint8Array): Wire {
  try {
    const wire = recordOf(JSON.parse(new TextDecoder().decode(bytes)))
    if (wire) return wire
  } catch (cause) {
    throw notATranscript(cause)
  }
  throw notATranscript()
}

/** Times that the audio itself cannot have are nobody's duration; rounded-up billing seconds come after the exact figure. */
function readDuration(wire: Wire, usage: Wire | null): number | null {
  const figures = [wire['duration'], usage?.['prompt_audio_seconds'], usage?.['seconds']]
  for (const figure of figures) {
    // Some providers write the number as text.
    const seconds = typeof figure === 'string' && figure.trim() !== '' ? Number(figure) : figure
    if (typeof seconds === 'number' && seconds > 0 && seconds * 1000 <= audioDurationMsMax) return seconds
  }
  return null
}

const noParts = { cached: 0, written: 0, reasoning: 0, outputAudio: 0 }

function readTokens(usage: Wire | null): CanonicalTranscription['tokens'] {
  const input = count(usage?.['input_tokens']) ?? count(usage?.['prompt_tokens'])
  const output = count(usage?.['output_tokens']) ?? count(usage?.['completion_tokens'])
  if (usage === null || (input === null && output === null)) return null
  const details = recordOf(usage['input_token_details']) ?? recordOf(usage['prompt_tokens_details'])
  const counts = settleCounts(
    {
      ...noParts,
      input: input ?? 0,
      output: output ?? 0,
      total: count(usage['total_tokens']),
      inputAudio: count(details?.['audio_tokens']) ?? 0,
    },
    { isReasoningApart: false, isAudioHeard: true },
  )
  return { input: counts.input, inputAudio: counts.inputAudio, output: counts.output }
}

function readSegments(entries: Wire[] | null, speakers: Map<string, number>): TranscriptSegment[] | null {
  const segments = (entries ?? []).flatMap((entry, index) => readSegment(entry, index, speakers))
  return segments.length > 0 ? segments : null
}

const segmentScores = ['seek', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'] as const

function readSegment(entry: Wire, index: number, speakers: Map<string, number>): TranscriptSegment[] {
  const times = readTimes(entry)
  if (times === null || typeof entry['text'] !== 'string') return []
  const segment: TranscriptSegment = { id: count(entry['id']) ?? index, ...times, text: entry['text'].trim() }
  for (const name of segmentScores) {
    const score = entry[name]
    if (typeof score === 'number' && Number.isFinite(score)) segment[name] = score
  }
  const { tokens } = entry
  if (Array.isArray(tokens) && tokens.every((token) => Number.isSafeInteger(token))) segment.tokens = tokens
  return [{ ...segment, ...readSpeaker(entry, speakers) }]
}

function readWord(entry: Wire, speakers: Map<string, number>): TranscriptWord[] {
  const times = readTimes(entry)
  const word = text(entry['word']) ?? text(entry['text'])
  if (times === null || word === null) return []
  const score = entry['confidence'] ?? entry['score']
  const confidence = typeof score === 'number' && score >= 0 && score <= 1 ? { confidence: score } : {}
  return [{ word: word.trim(), ...times, ...confidence, ...readSpeaker(entry, speakers) }]
}

function readTimes(entry: Wire): { start: number; end: number } | null {
  const { start, end } = entry
  if (typeof start !== 'number' || typeof end !== 'number' || !(start >= 0) || !(end >= start)) return null
  // JSON can write a number beyond all numbers, which would be shown as null.
  return Number.isFinite(end) ? { start, end } : null
}

/** Speakers are numbered in the order in which they are first heard; the provider's own label is kept beside. */
function readSpeaker(
  entry: Wire,
  speakers: Map<string, number>,
): { speaker?: number; speaker_label?: string } {
  const given = entry['speaker'] ?? entry['speaker_id'] ?? entry['speaker_label']
  if (typeof given !== 'string' && typeof given !== 'number') return {}
  const label = String(given)
  const speaker = speakers.get(label) ?? speakers.size
  speakers.set(label, speaker)
  return { speaker, speaker_label: label }
}

function recordOf(value: unknown): Wire | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Wire) : null
}

function listOf(value: unknown): Wire[] | null {
  if (!Array.isArray(value)) return null
  return value.slice(0, transcriptPiecesMax).flatMap((entry: unknown): Wire[] => {
    const record = recordOf(entry)
    return record === null ? [] : [record]
  })
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

function notATranscript(cause?: unknown): GatewayError {
  return new GatewayError('provider_failed', 'The provider answered without a transcript.', { cause })
}
