import type { TranscriptEntity, TranscriptWord } from '../../canonical/audio.ts'
import { countText, type CountedText, type TextSpan } from './text-offsets.ts'
import { wordSpans } from './word-spans.ts'

/** Entities of a transcript that do not occur in its text; after so many, no further one is searched for. */
const entitiesMissedMax = 200

/** An entity from a provider: its own text, and its place in one of the provider's units. */
export interface ToldEntity {
  text: string
  type: string
}

/** Placed by numbers of words; the end is exclusive. */
export interface EntityOfWords extends ToldEntity {
  startWord: number
  endWord: number
}

/** Placed by seconds of the audio. */
export interface EntityOfTimes extends ToldEntity {
  start: number
  end: number
}

/**
 * Placed by offsets into the text. The provider does not state whether they count code points or UTF-16 units, nor
 * whether the end is inclusive.
 */
export interface EntityOfOffsets extends ToldEntity {
  start: number
  end: number
}

/** Converts places from word numbers to offsets. An entity that does not occur in the text is left out. */
export function entitiesOfWords(
  text: string,
  words: readonly Pick<TranscriptWord, 'word'>[],
  told: readonly EntityOfWords[],
): TranscriptEntity[] {
  if (told.length === 0) return []
  const counted = countText(text)
  const spans = wordSpans(counted, words)
  return placed(counted, told, ({ startWord, endWord }) => {
    const first = spans[startWord]
    const last = spans[endWord - 1]
    return first && last && last.end > first.start ? { start: first.start, end: last.end } : null
  })
}

/** Converts places from times to offsets: a word belongs to an entity if its middle does. */
export function entitiesOfTimes(
  text: string,
  words: readonly TranscriptWord[],
  told: readonly EntityOfTimes[],
): TranscriptEntity[] {
  const middles = words.map(({ start, end }) => (start + end) / 2)
  const numbered = told.map((entity) => ({
    ...entity,
    startWord: firstFrom(middles, entity.start),
    endWord: firstFrom(middles, entity.end),
  }))
  return entitiesOfWords(text, words, numbered)
}

/** The index of the first of rising numbers that is at least this one. */
function firstFrom(rising: readonly number[], least: number): number {
  let [low, high] = [0, rising.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rising[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Converts offsets whose unit and end the provider's documentation does not state. An offset is accepted when the
 * entity's own text stands there, counted in code points or in UTF-16 units, with an inclusive or an exclusive end.
 */
export function entitiesOfOffsets(text: string, told: readonly EntityOfOffsets[]): TranscriptEntity[] {
  const counted = countText(text)
  return placed(counted, told, ({ start, end, text: own }) => {
    const isOwn = (span: TextSpan) => counted.slice(span) === own
    const exclusive = { start, end }
    if (isOwn(exclusive)) return exclusive
    const inclusive = { start, end: end + 1 }
    if (isOwn(inclusive)) return inclusive
    const asUnits = [exclusive, inclusive].map((span) => ({
      start: counted.codePointsAt(span.start),
      end: counted.codePointsAt(span.end),
    }))
    return asUnits.find(isOwn) ?? null
  })
}

/**
 * The text at the place of each entity. An entity without a place is searched for after the previous one, and left out
 * if it is not found.
 */
function placed<Told extends ToldEntity>(
  counted: CountedText,
  told: readonly Told[],
  placeOf: (entity: Told) => TextSpan | null,
): TranscriptEntity[] {
  let cursor = 0
  let missed = 0
  return told.flatMap((entity): TranscriptEntity[] => {
    const own = entity.text.trim()
    const known = placeOf(entity)
    // A failed search covers the whole rest of the text, so the number of failures is bounded.
    if (known === null && missed >= entitiesMissedMax) return []
    const span = known === null ? searched(counted, own, cursor) : widened(counted, known, own)
    if (span === null) missed += 1
    if (span === null) return []
    cursor = span.end
    return [{ text: counted.slice(span), type: entity.type, start_char: span.start, end_char: span.end }]
  })
}

function searched({ text, unitAt, codePointsAt }: CountedText, own: string, cursor: number): TextSpan | null {
  if (own === '') return null
  const from = unitAt(cursor)
  const exact = text.indexOf(own, from)
  const at = exact >= 0 ? exact : searchedInAnyCase(text, own, from)
  return at < 0 ? null : { start: codePointsAt(at), end: codePointsAt(at + own.length) }
}

/** A few characters get longer in lower case, which would shift the offsets after them. */
function searchedInAnyCase(text: string, own: string, from: number): number {
  const small = text.toLowerCase()
  return small.length === text.length ? small.indexOf(own.toLowerCase(), from) : -1
}

/** Words are found by their letters; punctuation at the ends of an entity, as in `$5` or `U.S.`, belongs to it. */
function widened(counted: CountedText, { start, end }: TextSpan, own: string): TextSpan {
  const before = /^[^\p{L}\p{M}\p{N}\s]+/u.exec(own)?.[0] ?? ''
  const behind = /[^\p{L}\p{M}\p{N}\s]+$/u.exec(own)?.[0] ?? ''
  if (before === '' && behind === '') return { start, end }
  const widerStart = start - [...before].length
  const widerEnd = end + [...behind].length
  return {
    start: counted.slice({ start: Math.max(0, widerStart), end: start }) === before ? widerStart : start,
    end: counted.slice({ start: end, end: widerEnd }) === behind ? widerEnd : end,
  }
}
