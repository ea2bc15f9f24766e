import type { CanonicalTranscription, TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import { toLanguageCode } from '../../formats/transcription/language-names.ts'
import { createSpeakers } from '../../formats/transcription/speakers.ts'
import { countOrNull, filledTextOrNull, type WireRecord } from '../../json/values.ts'
import {
  durationIn,
  millisecondsUnit,
  notATranscript,
  parseTranscript,
  piecesOf,
  scoreIn,
  timesIn,
} from '../../formats/transcription/transcript-wire.ts'

/**
 * Reads an answer of Azure's fast transcription. A phrase has the speaker, the channel and the confidence of its words.
 * `asked` is the requested language. Throws `provider_failed` when there is no transcript.
 */
export function readAzureSpeechTranscript(bytes: Uint8Array, asked: string | null): CanonicalTranscription {
  const wire = parseTranscript(bytes)
  const combined = piecesOf(wire['combinedPhrases'])
  if (combined === null) throw notATranscript()
  const listed = piecesOf(wire['phrases']) ?? []
  const { segments, words } = readPhrases(listed, combined.length > 1)
  const length = countOrNull(wire['durationMilliseconds'])
  const language = filledTextOrNull(listed[0]?.['locale']) ?? asked
  return {
    text: joinedText(combined),
    language: language === null ? null : toLanguageCode(language),
    durationSeconds: length === null ? null : durationIn(length / millisecondsUnit),
    segments: segments.length > 0 ? segments : null,
    // Silence has no words. Phrases without words mean that the service did not send them.
    words: words.length > 0 || listed.length === 0 ? words : null,
    // Each phrase has its own confidence; there is none for the whole.
    confidence: null,
    languageConfidence: null,
    entities: null,
    tokens: null,
    upstreamId: null,
  }
}

const channelOf = ({ channel }: WireRecord) => countOrNull(channel) ?? 0

/** The text of every channel, in the order of channels. */
function joinedText(combined: readonly WireRecord[]): string {
  return combined
    .toSorted((left, right) => channelOf(left) - channelOf(right))
    .map(({ text }) => {
      if (typeof text !== 'string') throw notATranscript()
      return text.trim()
    })
    .join('\n')
    .trim()
}

function readPhrases(
  listed: readonly WireRecord[],
  isSeveral: boolean,
): { segments: TranscriptSegment[]; words: TranscriptWord[] } {
  const speakerOf = createSpeakers()
  const segments: TranscriptSegment[] = []
  const words: TranscriptWord[] = []
  for (const { wire, times } of inOrderOfTime(listed)) {
    const channel = isSeveral ? countOrNull(wire['channel']) : null
    const about = { ...speakerOf(wire['speaker']), ...(channel === null ? {} : { channel }) }
    const text = filledTextOrNull(wire['text'])
    if (text !== null) segments.push({ id: segments.length, ...times, text: text.trim(), ...about })
    const confidence = scoreIn(wire['confidence'])
    for (const { wire: said, times: saidAt } of inOrderOfTime(piecesOf(wire['words']) ?? [])) {
      const word = filledTextOrNull(said['text'])
      if (word === null) continue
      words.push({ word, ...saidAt, ...(confidence === null ? {} : { confidence }), ...about })
    }
  }
  return { segments, words }
}

interface Timed {
  wire: WireRecord
  times: { start: number; end: number }
}

/** The phrases that have a time. Phrases of two channels may be listed out of order. */
function inOrderOfTime(listed: readonly WireRecord[]): Timed[] {
  const timed = listed.flatMap((wire): Timed[] => {
    const { offsetMilliseconds: start, durationMilliseconds: length } = wire
    if (typeof start !== 'number' || typeof length !== 'number') return []
    const times = timesIn({ start, end: start + length }, millisecondsUnit)
    return times === null ? [] : [{ wire, times }]
  })
  return timed.toSorted((left, right) => left.times.start - right.times.start)
}
