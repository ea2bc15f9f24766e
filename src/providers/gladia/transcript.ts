import type { CanonicalTranscription, TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import { entitiesOfTimes } from '../../formats/transcription/entity-spans.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { createSpeakers } from '../../formats/transcription/speakers.ts'
import {
  channelsTold,
  durationIn,
  notATranscript,
  piecesOf,
  scoreIn,
  timesIn,
} from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull, recordOrNull, type WireRecord } from '../../json/values.ts'

/**
 * Reads the result of Gladia's job. A word begins with the space before it and has no speaker of its own; its utterance
 * has one. Throws `provider_failed` when there is no text.
 */
export function readGladiaTranscript(job: WireRecord, language: string | null): CanonicalTranscription {
  const result = recordOrNull(job['result'])
  const metadata = recordOrNull(result?.['metadata'])
  const transcription = recordOrNull(result?.['transcription'])
  const text = transcription?.['full_transcript']
  if (typeof text !== 'string') throw notATranscript()
  const speakerOf = createSpeakers()
  const segments: TranscriptSegment[] = []
  const words: TranscriptWord[] = []
  for (const utterance of piecesOf(transcription?.['utterances']) ?? []) {
    const about = { ...speakerOf(utterance['speaker']), ...channelOf(utterance) }
    const times = timesIn(utterance)
    const said = filledTextOrNull(utterance['text'])
    if (times !== null && said !== null)
      segments.push({ id: segments.length, ...times, text: said.trim(), ...about })
    for (const word of piecesOf(utterance['words']) ?? []) words.push(...readWord(word, about))
  }
  const languages: unknown = transcription?.['languages']
  const told = filledTextOrNull(Array.isArray(languages) ? languages[0] : null) ?? language
  return {
    text: text.trim(),
    language: told === null ? null : toLanguageCode(told),
    durationSeconds: durationIn(metadata?.['audio_duration']),
    ...channelsTold(metadata?.['number_of_distinct_channels']),
    segments: segments.length > 0 ? segments : null,
    words,
    confidence: null,
    languageConfidence: null,
    entities: readEntities(recordOrNull(result?.['named_entity_recognition']), text.trim(), words),
    tokens: null,
    upstreamId: filledTextOrNull(job['id']),
  }
}

type About = Pick<TranscriptWord, 'speaker' | 'speaker_label' | 'channel'>

function channelOf({ channel }: WireRecord): Pick<TranscriptWord, 'channel'> {
  return typeof channel === 'number' && Number.isSafeInteger(channel) && channel >= 0 ? { channel } : {}
}

function readWord(entry: WireRecord, about: About): TranscriptWord[] {
  const times = timesIn(entry)
  const word = filledTextOrNull(entry['word'])?.trim()
  if (times === null || !word) return []
  const confidence = scoreIn(entry['confidence'])
  return [{ word, ...times, ...(confidence === null ? {} : { confidence }), ...about }]
}

/** Times are seconds of the audio. Absent when entities were not requested, and empty when the search failed. */
function readEntities(
  found: WireRecord | null,
  text: string,
  words: readonly TranscriptWord[],
): CanonicalTranscription['entities'] {
  const entries = piecesOf(found?.['results'])
  if (entries === null) return null
  const told = entries.flatMap((entry) => {
    const times = timesIn(entry)
    const type = filledTextOrNull(entry['entity_type'])
    return times === null || type === null
      ? []
      : [{ ...times, type, text: filledTextOrNull(entry['text']) ?? '' }]
  })
  return entitiesOfTimes(text, words, told)
}
