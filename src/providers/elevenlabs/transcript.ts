import type { CanonicalTranscription, TranscriptEntity, TranscriptWord } from '../../canonical/audio.ts'
import { entitiesOfOffsets, type EntityOfOffsets } from '../../formats/transcription/entity-spans.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { segmentsOfWords } from '../../formats/transcription/segments-of-words.ts'
import { createSpeakers } from '../../formats/transcription/speakers.ts'
import { countText } from '../../formats/transcription/text-offsets.ts'
import { countOrNull, filledTextOrNull, type WireRecord } from '../../json/values.ts'
import {
  durationIn,
  notATranscript,
  parseTranscript,
  piecesOf,
  scoreIn,
  timesIn,
} from '../../formats/transcription/transcript-wire.ts'

/**
 * Reads an answer of `/v1/speech-to-text`: one transcript, or one for each channel. `asked` is the requested language.
 * Throws `provider_failed` when there is no transcript.
 */
export function readElevenLabsTranscript(bytes: Uint8Array, asked: string | null): CanonicalTranscription {
  const wire = parseTranscript(bytes)
  const parts = piecesOf(wire['transcripts']) ?? [wire]
  const [first] = parts
  if (first === undefined || parts.some((part) => typeof part['text'] !== 'string')) throw notATranscript()
  const text = parts.map(textOf).join('\n')
  const words = readWords(parts)
  const language = filledTextOrNull(first['language_code']) ?? asked
  return {
    text,
    language: language === null ? null : toLanguageCode(language),
    durationSeconds: durationIn(wire['audio_duration_secs']) ?? durationIn(first['audio_duration_secs']),
    segments: words === null || words.length === 0 ? null : segmentsOfWords(words, text),
    words,
    confidence: null,
    languageConfidence: scoreIn(first['language_probability']),
    entities: readEntities(parts),
    tokens: null,
    upstreamId: transcriptIdIn(wire),
  }
}

/** The id by which ElevenLabs keeps the transcript; null when it sends none. */
export function transcriptIdIn(wire: WireRecord): string | null {
  return (
    filledTextOrNull(wire['transcription_id']) ??
    filledTextOrNull(piecesOf(wire['transcripts'])?.[0]?.['transcription_id'])
  )
}

function textOf(part: WireRecord): string {
  return String(part['text']).trim()
}

/** Words and other sounds. The spaces between them have their own entries and are left out. */
function readWords(parts: readonly WireRecord[]): TranscriptWord[] | null {
  const speakerOf = createSpeakers()
  const isSeveral = parts.length > 1
  const told = parts.flatMap((part, index) =>
    (piecesOf(part['words']) ?? []).map((wire) => ({
      wire,
      channel: countOrNull(wire['channel_index']) ?? index,
    })),
  )
  if (parts.every((part) => !Array.isArray(part['words']))) return null
  const confidences = confidencesOf(told.map(({ wire }) => wire['logprob']))
  return told.flatMap(({ wire, channel }, at): TranscriptWord[] => {
    const word = filledTextOrNull(wire['text'])
    const times = timesIn(wire)
    const type = wire['type'] === 'audio_event' ? 'audio_event' : 'word'
    if (word === null || times === null || wire['type'] === 'spacing') return []
    const confidence = confidences[at] ?? null
    const spoken = { ...speakerOf(wire['speaker_id']), ...(isSeveral ? { channel } : {}) }
    return [{ word: word.trim(), ...times, ...(confidence === null ? {} : { confidence }), ...spoken, type }]
  })
}

/** Null when entities were not requested. Offsets count the text of their own channel. */
function readEntities(parts: readonly WireRecord[]): TranscriptEntity[] | null {
  if (parts.every((part) => !Array.isArray(part['entities']))) return null
  let before = 0
  return parts.flatMap((part) => {
    const whole = String(part['text'])
    // Trimming the beginning of the text shifts all offsets.
    const cut = whole.length - whole.trimStart().length
    const text = textOf(part)
    const told = (piecesOf(part['entities']) ?? []).flatMap((wire) => readEntity(wire, cut))
    const offset = before
    before += countText(text).length + 1
    return entitiesOfOffsets(text, told).map(({ start_char: start, end_char: end, ...entity }) => ({
      ...entity,
      start_char: start + offset,
      end_char: end + offset,
    }))
  })
}

function readEntity(wire: WireRecord, cut: number): EntityOfOffsets[] {
  const text = filledTextOrNull(wire['text'])
  const type = filledTextOrNull(wire['entity_type'])
  const start = countOrNull(wire['start_char'])
  const end = countOrNull(wire['end_char'])
  if (text === null || type === null || start === null || end === null) return []
  return [{ text, type, start: start - cut, end: end - cut }]
}

/**
 * Confidences from natural logarithms of probabilities, in the same order; null for a missing one. Some answers have 0
 * for every word, which would mean certainty; such answers have no scores.
 */
export function confidencesOf(logprobs: readonly unknown[]): (number | null)[] {
  const isScored = logprobs.some((logprob) => isLogprob(logprob) && logprob < 0)
  return logprobs.map((logprob) => (isScored && isLogprob(logprob) ? Math.exp(logprob) : null))
}

function isLogprob(value: unknown): value is number {
  return typeof value === 'number' && value <= 0
}
