import type { CanonicalTranscription, TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import { entitiesOfTimes } from '../../formats/transcription/entity-spans.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { segmentsOfWords } from '../../formats/transcription/segments-of-words.ts'
import { createSpeakers } from '../../formats/transcription/speakers.ts'
import {
  durationIn,
  millisecondsUnit,
  notATranscript,
  piecesOf,
  scoreIn,
  timesIn,
} from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull, type WireRecord } from '../../json/values.ts'

type SpeakerOf = ReturnType<typeof createSpeakers>

/**
 * Reads a completed transcript of AssemblyAI. Its times, also those of entities, are milliseconds. Throws
 * `provider_failed` when it has no text.
 */
export function readAssemblyAiTranscript(wire: WireRecord, language: string | null): CanonicalTranscription {
  const { text } = wire
  if (typeof text !== 'string') throw notATranscript()
  const speakerOf = createSpeakers()
  const words = readWords(piecesOf(wire['words']) ?? [], speakerOf)
  const told = filledTextOrNull(wire['language_code']) ?? language
  return {
    text,
    language: told === null ? null : toLanguageCode(told),
    durationSeconds: durationIn(wire['audio_duration']),
    segments: readSegments(wire, speakerOf) ?? (words.length > 0 ? segmentsOfWords(words, text) : null),
    words,
    confidence: scoreIn(wire['confidence']),
    languageConfidence: scoreIn(wire['language_confidence']),
    entities: readEntities(wire, text, words),
    tokens: null,
    upstreamId: filledTextOrNull(wire['id']),
  }
}

function readWords(entries: readonly WireRecord[], speakerOf: SpeakerOf): TranscriptWord[] {
  const words: TranscriptWord[] = []
  for (const entry of entries) {
    const times = timesIn(entry, millisecondsUnit)
    const text = filledTextOrNull(entry['text'])
    if (times === null || text === null) continue
    const word: TranscriptWord = { word: text, start: times.start, end: times.end }
    const confidence = scoreIn(entry['confidence'])
    if (confidence !== null) word.confidence = confidence
    words.push(Object.assign(word, speakerOf(entry['speaker']), channelOf(entry)))
  }
  return words
}

/** Utterances exist only when speakers or channels were requested. */
function readSegments(wire: WireRecord, speakerOf: SpeakerOf): TranscriptSegment[] | null {
  const segments = (piecesOf(wire['utterances']) ?? []).flatMap((entry, id): TranscriptSegment[] => {
    const times = timesIn(entry, millisecondsUnit)
    const text = filledTextOrNull(entry['text'])
    if (times === null || text === null) return []
    return [{ id, ...times, text, ...speakerOf(entry['speaker']), ...channelOf(entry) }]
  })
  return segments.length > 0 ? segments : null
}

/** AssemblyAI sends the number as a text. */
function channelOf({ channel }: WireRecord): { channel?: number } {
  const number = typeof channel === 'string' && /^\d{1,3}$/.test(channel) ? Number(channel) : channel
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? { channel: number } : {}
}

function readEntities(
  wire: WireRecord,
  text: string,
  words: readonly TranscriptWord[],
): CanonicalTranscription['entities'] {
  const entries = piecesOf(wire['entities'])
  if (entries === null) return null
  const told = entries.flatMap((entry) => {
    const times = timesIn(entry, millisecondsUnit)
    const type = filledTextOrNull(entry['entity_type'])
    return times === null || type === null
      ? []
      : [{ ...times, type, text: filledTextOrNull(entry['text']) ?? '' }]
  })
  return entitiesOfTimes(text, words, told)
}
