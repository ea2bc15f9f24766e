import type { CanonicalTranscription, TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import { entitiesOfWords, type EntityOfWords } from '../../formats/transcription/entity-spans.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { segmentsOfWords } from '../../formats/transcription/segments-of-words.ts'
import { createSpeakers } from '../../formats/transcription/speakers.ts'
import {
  channelsTold,
  durationIn,
  notATranscript,
  parseTranscript,
  piecesOf,
  scoreIn,
  timesIn,
} from '../../formats/transcription/transcript-wire.ts'
import { countOrNull, filledTextOrNull, recordOrNull, type WireRecord } from '../../json/values.ts'

type SpeakerOf = ReturnType<typeof createSpeakers>

/** One channel of the audio: its text, its words, and its best alternative, which has the other members. */
interface HeardChannel {
  wire: WireRecord
  best: WireRecord
  text: string
  /** All words, also those without a time, because entities count them. */
  told: { word: string }[]
  words: TranscriptWord[]
}

/**
 * Reads an answer of `/v1/listen`; `asked` is the requested language. Throws `provider_failed` when there is no
 * transcript.
 */
export function readDeepgramTranscript(bytes: Uint8Array, asked: string | null): CanonicalTranscription {
  const wire = parseTranscript(bytes)
  const results = recordOrNull(wire['results'])
  const speakerOf = createSpeakers()
  const listed = piecesOf(results?.['channels']) ?? []
  const isSeveral = listed.length > 1
  const channels = listed.flatMap((channel, index) =>
    readChannel(channel, isSeveral ? index : null, speakerOf),
  )
  const [first] = channels
  if (first === undefined) throw notATranscript()
  const text = channels
    .map((channel) => channel.text)
    .join('\n')
    .trim()
  const words = channels.flatMap((channel) => channel.words)
  const metadata = recordOrNull(wire['metadata'])
  const language = filledTextOrNull(first.wire['detected_language']) ?? asked
  return {
    text,
    language: language === null ? null : toLanguageCode(language),
    durationSeconds: durationIn(metadata?.['duration']),
    ...channelsTold(metadata?.['channels']),
    segments: readUtterances(results, isSeveral, speakerOf) ?? segmentsOfWords(words, text),
    words,
    // Each channel has its own confidence; there is none for the whole.
    confidence: isSeveral ? null : scoreIn(first.best['confidence']),
    languageConfidence: scoreIn(first.wire['language_confidence']),
    entities: readEntities(channels, text),
    tokens: null,
    upstreamId: filledTextOrNull(metadata?.['request_id']),
  }
}

function readChannel(wire: WireRecord, number: number | null, speakerOf: SpeakerOf): HeardChannel[] {
  const best = piecesOf(wire['alternatives'])?.[0]
  if (best === undefined || typeof best['transcript'] !== 'string') return []
  const listed = piecesOf(best['words']) ?? []
  const words = listed.flatMap((word) => readWord(word, number, speakerOf))
  const told = listed.map((word) => ({ word: wordIn(word) ?? '' }))
  return [{ wire, best, text: best['transcript'].trim(), told, words }]
}

function wordIn(wire: WireRecord): string | null {
  return filledTextOrNull(wire['punctuated_word']) ?? filledTextOrNull(wire['word'])
}

function readWord(wire: WireRecord, channel: number | null, speakerOf: SpeakerOf): TranscriptWord[] {
  const word = wordIn(wire)
  const times = timesIn(wire)
  if (word === null || times === null) return []
  const confidence = scoreIn(wire['confidence'])
  return [
    {
      word,
      ...times,
      ...(confidence === null ? {} : { confidence }),
      ...speakerOf(wire['speaker']),
      ...(channel === null ? {} : { channel }),
    },
  ]
}

function readUtterances(
  results: WireRecord | null,
  isSeveral: boolean,
  speakerOf: SpeakerOf,
): TranscriptSegment[] | null {
  const segments = (piecesOf(results?.['utterances']) ?? []).flatMap((wire, id): TranscriptSegment[] => {
    const times = timesIn(wire)
    const text = wire['transcript']
    if (times === null || typeof text !== 'string') return []
    const channel = isSeveral ? countOrNull(wire['channel']) : null
    const spoken = { ...speakerOf(wire['speaker']), ...(channel === null ? {} : { channel }) }
    return [{ id, ...times, text: text.trim(), ...spoken }]
  })
  return segments.length > 0 ? segments : null
}

/**
 * Null when entities were not requested. Their positions count the words of their channel; in the published sample the
 * end is exclusive.
 */
function readEntities(channels: readonly HeardChannel[], text: string): CanonicalTranscription['entities'] {
  if (channels.every(({ best }) => !Array.isArray(best['entities']))) return null
  let before = 0
  const told = channels.flatMap(({ best, told: own }): EntityOfWords[] => {
    const offset = before
    before += own.length
    return (piecesOf(best['entities']) ?? []).flatMap((wire): EntityOfWords[] => {
      const type = filledTextOrNull(wire['label'])
      const value = filledTextOrNull(wire['value'])
      const start = countOrNull(wire['start_word'])
      const end = countOrNull(wire['end_word'])
      if (type === null || value === null || start === null || end === null) return []
      return [{ type, text: value, startWord: offset + start, endWord: offset + end }]
    })
  })
  return entitiesOfWords(
    text,
    channels.flatMap((channel) => channel.told),
    told,
  )
}
