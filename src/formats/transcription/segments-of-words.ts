import type { TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'

/** A silence this long ends a segment, seconds. */
const gapSeconds = 0.8

/**
 * Segments where a provider gives only words: broken at the end of a sentence, at a silence, and where another speaker
 * begins. All their times are times of words.
 */
export function segmentsOfWords(words: readonly TranscriptWord[]): TranscriptSegment[] {
  const segments: TranscriptSegment[] = []
  let group: TranscriptWord[] = []
  for (const word of words) {
    const last = group.at(-1)
    if (last && endsBefore(last, word)) {
      segments.push(toSegment(group, segments.length))
      group = []
    }
    group.push(word)
  }
  if (group.length > 0) segments.push(toSegment(group, segments.length))
  return segments
}

function endsBefore(last: TranscriptWord, next: TranscriptWord): boolean {
  return (
    /[.!?。！？…]["'”’)]?$/.test(last.word) ||
    next.start - last.end > gapSeconds ||
    next.speaker !== last.speaker
  )
}

function toSegment(group: readonly TranscriptWord[], id: number): TranscriptSegment {
  const [first] = group
  const segment: TranscriptSegment = {
    id,
    start: first?.start ?? 0,
    end: group.reduce((end, word) => Math.max(end, word.end), 0),
    text: group.map(({ word }) => word).join(' '),
  }
  if (first?.speaker !== undefined) segment.speaker = first.speaker
  if (first?.speaker_label !== undefined) segment.speaker_label = first.speaker_label
  return segment
}
