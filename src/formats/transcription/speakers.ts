import type { TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'

/** The speaker of a word or a segment; empty when unknown. */
export interface NumberedSpeaker {
  speaker?: number
  speaker_label?: string
}

/** Numbers speakers from 0 in the order in which they are first heard; the provider's own label is kept too. */
export function createSpeakers(): (label: unknown) => NumberedSpeaker {
  const numbers = new Map<string, number>()
  return (given) => {
    if (typeof given !== 'string' && typeof given !== 'number') return {}
    const label = String(given)
    const speaker = numbers.get(label) ?? numbers.size
    numbers.set(label, speaker)
    return { speaker, speaker_label: label }
  }
}

/**
 * Gives a word without a speaker the speaker of the segment that contains the word's middle; segments are sorted by
 * time.
 */
export function withSpeakersOf(
  segments: readonly TranscriptSegment[],
  words: readonly TranscriptWord[],
): TranscriptWord[] {
  let at = 0
  return words.map((word) => {
    if (word.speaker !== undefined) return word
    const middle = (word.start + word.end) / 2
    while (at < segments.length - 1 && (segments[at]?.end ?? 0) < middle) at += 1
    const { start = 0, end = 0, speaker, speaker_label: label } = segments[at] ?? {}
    if (speaker === undefined || middle < start || middle > end) return word
    return { ...word, speaker, ...(label === undefined ? {} : { speaker_label: label }) }
  })
}
