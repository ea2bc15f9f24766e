import type { CanonicalTranscription, TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { transcriptPiecesMax } from '../../core/limits/audio.ts'
import { filledTextOrNull, isRecord } from '../../json/values.ts'
import { timesIn } from '../../formats/transcription/transcript-wire.ts'
import { readCandidate } from './sound-parts.ts'
import { readGeminiUsage } from '../../formats/text/gemini/usage.ts'
import { parseAnswer, parseAnswerText, unreadable } from '../../formats/upstream-json.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { createSpeakers } from '../../formats/transcription/speakers.ts'

type Wire = Readonly<Record<string, unknown>>

/** The parts of the request that are needed to read its answer. */
export interface GeminiTranscriptReading {
  call: TranscriptionCall
  context: AnswerContext
  /**
   * Whether `audioTranscriptionConfig` was sent; the parts of the answer are then pieces of the transcript with times.
   */
  isTimed: boolean
}

/** The tokens of one second of sound on this API, by Google's documentation (2026-11); Google Cloud counts 25. */
const audioTokensPerSecond = 32

/**
 * Reads a transcript that Gemini wrote. Throws `provider_failed` when it is not one, and the errors of `readCandidate`.
 */
export function readGeminiTranscript(
  bytes: Uint8Array,
  { call, context, isTimed }: GeminiTranscriptReading,
): CanonicalTranscription {
  const wire = parseAnswer(bytes)
  const { parts, hasEnded } = readCandidate(wire, context)
  if (!hasEnded) throw unreadable('it has no candidate that ended')
  const said = isTimed ? readPieces(parts) : readWritten(parts)
  const tokens = readTokens(wire['usageMetadata'])
  const language = call.language ?? said.language
  return {
    ...said,
    language: language === null ? null : toLanguageCode(language),
    // Used only when the sound's length could not be measured: the provider reports it only as tokens.
    durationSeconds:
      call.measuredMilliseconds === null && tokens !== null && tokens.inputAudio > 0
        ? tokens.inputAudio / audioTokensPerSecond
        : null,
    confidence: null,
    languageConfidence: null,
    entities: null,
    tokens,
    upstreamId: filledTextOrNull(wire['responseId']),
  }
}

type Said = Pick<CanonicalTranscription, 'text' | 'language' | 'segments' | 'words'>

/** Reads the JSON that the model was told to write. */
function readWritten(parts: readonly Wire[]): Said {
  const written = parseAnswerText(parts.map(({ text }) => filledTextOrNull(text) ?? '').join(''))
  if (typeof written['text'] !== 'string') throw unreadable('it has no text')
  const language = filledTextOrNull(written['language'])?.trim() ?? ''
  // A model may write a remark here; only a code or a name counts as a language.
  const isLanguage = /^\p{L}[\p{L} _-]{1,30}$/u.test(language)
  return { text: written['text'].trim(), language: isLanguage ? language : null, segments: null, words: null }
}

type SpeakerOf = ReturnType<typeof createSpeakers>

/** Reads the parts that `audioTranscriptionConfig` produces. */
function readPieces(parts: readonly Wire[]): Said {
  const pieces = parts.map((part) => part['audioTranscription']).filter(isRecord)
  const speakerOf = createSpeakers()
  const segments = pieces
    .slice(0, transcriptPiecesMax)
    .flatMap((piece, id) => readSegment(piece, id, speakerOf))
  const words = pieces.flatMap((piece) => readWords(piece, speakerOf)).slice(0, transcriptPiecesMax)
  const spoken = pieces.length > 0 ? pieces : parts
  return {
    text: spoken
      .map((piece) => filledTextOrNull(piece['text'])?.trim() ?? '')
      .filter((text) => text !== '')
      .join(' '),
    language:
      pieces.map((piece) => filledTextOrNull(piece['languageCode'])).find((code) => code !== null) ?? null,
    segments: segments.length > 0 ? segments : null,
    words: words.length > 0 ? words : null,
  }
}

function readSegment(piece: Wire, id: number, speakerOf: SpeakerOf): TranscriptSegment[] {
  const times = readTimes(piece)
  const text = filledTextOrNull(piece['text'])
  return times === null || text === null
    ? []
    : [{ id, ...times, text: text.trim(), ...speakerOf(piece['speakerLabel']) }]
}

function readWords(piece: Wire, speakerOf: SpeakerOf): TranscriptWord[] {
  const words = Array.isArray(piece['words']) ? piece['words'].filter(isRecord) : []
  return words.flatMap((wire) => {
    const times = readTimes(wire)
    const word = filledTextOrNull(wire['word'])?.trim() ?? ''
    return times === null || word === '' ? [] : [{ word, ...times, ...speakerOf(piece['speakerLabel']) }]
  })
}

/** Offsets are texts such as `1.2s`. */
function readTimes({ startOffset, endOffset }: Wire): { start: number; end: number } | null {
  return timesIn({ start: secondsOf(startOffset), end: secondsOf(endOffset) })
}

function secondsOf(offset: unknown): number | null {
  const digits = typeof offset === 'string' ? /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(offset)?.[1] : undefined
  return digits === undefined ? null : Number(digits)
}

function readTokens(wire: unknown): CanonicalTranscription['tokens'] {
  const usage = readGeminiUsage(wire)?.usage
  if (usage === undefined) return null
  return { input: usage.inputTokens, inputAudio: usage.inputAudioTokens, output: usage.outputTokens }
}
