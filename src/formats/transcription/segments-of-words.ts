import type { TranscriptSegment, TranscriptWord } from '../../canonical/audio.ts'
import { countText } from './text-offsets.ts'
import { wordSpans } from './word-spans.ts'

/** A silence of this length ends a segment, in seconds. */
const gapSeconds = 0.8

/**
 * Makes segments when a provider sends only words. A segment ends at the end of a sentence, at a silence, and where
 * another speaker or channel begins. Its times are times of words, and its text is the part of the whole text from its
 * first to its last word. `lastWords` are the words that end a sentence, if the provider marks them; otherwise
 * punctuation decides.
 */
export function segmentsOfWords(
  words: readonly TranscriptWord[],
  text: string,
  lastWords: ReadonlySet<TranscriptWord> | null = null,
): TranscriptSegment[] {
  const endsSentence = (word: TranscriptWord) => lastWords?.has(word) ?? sentenceEnd.test(word.word)
  const groups: TranscriptWord[][] = []
  for (const word of words) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (!group || !last || endsSentence(last) || isApart(last, word)) groups.push([word])
    else group.push(word)
  }
  const textOf = textsOf(text, words)
  let first = 0
  return groups.map((group, id) => {
    const segment = toSegment(group, { id, text: textOf(first, first + group.length) })
    first += group.length
    return segment
  })
}

/** The text around these words in the whole text, or the words themselves when the text lacks them. */
function textsOf(text: string, words: readonly TranscriptWord[]): (start: number, end: number) => string {
  const counted = countText(text)
  const spans = wordSpans(counted, words)
  return (start, end) => {
    const own = words.slice(start, end).map(({ word }) => word)
    // Some providers send punctuation as words; it is not searched for, because it stands between the words that are
    // found.
    const said = spans.slice(start, end).filter((_, at) => /[\p{L}\p{N}]/u.test(own[at] ?? ''))
    const [first] = said
    const last = said.at(-1)
    if (!first || !last || last.end <= first.start) return own.join(' ')
    const before = counted.slice({ start: Math.max(0, first.start - marksMax), end: first.start })
    const behind = counted.slice({ start: last.end, end: last.end + marksMax })
    const between = counted.slice({ start: first.start, end: last.end })
    return `${openingMarks.exec(before)?.[0] ?? ''}${between}${closingMarks.exec(behind)?.[0] ?? ''}`
  }
}

/** Punctuation right before or after a word belongs to its segment; there are rarely more than two marks. */
const marksMax = 8
const openingMarks = /[\p{Ps}\p{Pi}\p{Sc}¿¡"'-]*$/u
const closingMarks = /^[^\s\p{L}\p{M}\p{N}\p{Ps}\p{Pi}]*/u

const sentenceEnd = /[\p{Sentence_Terminal}…]["'”’)]?$/u

function isApart(last: TranscriptWord, next: TranscriptWord): boolean {
  return next.start - last.end > gapSeconds || next.speaker !== last.speaker || next.channel !== last.channel
}

function toSegment(group: readonly TranscriptWord[], named: { id: number; text: string }): TranscriptSegment {
  const [first] = group
  const segment: TranscriptSegment = {
    id: named.id,
    start: first?.start ?? 0,
    end: group.reduce((end, word) => Math.max(end, word.end), 0),
    text: named.text,
  }
  if (first?.speaker !== undefined) segment.speaker = first.speaker
  if (first?.speaker_label !== undefined) segment.speaker_label = first.speaker_label
  if (first?.channel !== undefined) segment.channel = first.channel
  return segment
}
