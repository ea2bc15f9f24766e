/** How many letters ahead a word of a transcript is looked for in its text. */
const transcriptSearchLength = 256
import type { CountedText, TextSpan } from './text-offsets.ts'

/** The letters and digits of a text, in lower case, with their places. */
interface Letters {
  text: string
  /** The code point of the text at which each character stands. */
  points: ArrayLike<number>
  /** Whether each character begins, or ends, a word between spaces and punctuation. */
  begins: ArrayLike<boolean | number>
  ends: ArrayLike<boolean | number>
}

const letter = /[\p{L}\p{M}\p{N}]/u
const otherThanAscii = /[\u0080-\uffff]/
const asciiMarks = /[^A-Za-z0-9]+/g
/** Scripts without spaces between words: a word may begin and end anywhere. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/**
 * Finds each word in the text with one forward walk. Case and punctuation do not count. A word is searched only a short
 * way ahead, so that a word that is spelled differently costs only itself and not the words after it. Null for a word
 * that is not found.
 */
export function wordSpans(counted: CountedText, words: readonly { word: string }[]): (TextSpan | null)[] {
  const letters = lettersOf(counted.text)
  let cursor = 0
  let missed = 0
  return words.map(({ word }) => {
    const wanted = wantedOf(word)
    if (wanted === '') return null
    const at = find(letters, wanted, { from: cursor, within: transcriptSearchLength + missed })
    if (at < 0) {
      missed = Math.min(missed + 2 * wanted.length, transcriptSearchLength * 8)
      return null
    }
    missed = 0
    cursor = at + wanted.length
    return { start: letters.points[at] ?? 0, end: (letters.points[cursor - 1] ?? 0) + 1 }
  })
}

/** The letters and digits of a word; for most words no walk over the characters is needed. */
function wantedOf(word: string): string {
  return otherThanAscii.test(word) ? lettersOf(word).text : word.replace(asciiMarks, '').toLowerCase()
}

function isAsciiLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39)
}

function lettersOf(text: string): Letters {
  return otherThanAscii.test(text) ? lettersOfAny(text) : lettersOfAscii(text)
}

/** Most texts; for an hour of speech a tenth of the other's time. */
function lettersOfAscii(text: string): Letters {
  const points = new Uint32Array(text.length)
  const begins = new Uint8Array(text.length)
  const ends = new Uint8Array(text.length)
  let count = 0
  let wasLetter = false
  for (let point = 0; point < text.length; point++) {
    const isLetter = isAsciiLetter(text.charCodeAt(point))
    if (isLetter) {
      points[count] = point
      if (!wasLetter) begins[count] = 1
      count += 1
    } else if (wasLetter) ends[count - 1] = 1
    wasLetter = isLetter
  }
  if (wasLetter) ends[count - 1] = 1
  return { text: text.replace(asciiMarks, '').toLowerCase(), points, begins, ends }
}

function lettersOfAny(text: string): Letters {
  const points: number[] = []
  const begins: boolean[] = []
  const ends: boolean[] = []
  const found: string[] = []
  const markEnd = () => {
    if (ends.length > 0) ends[ends.length - 1] = true
  }
  let point = 0
  let wasLetter = false
  for (const character of text) {
    const code = character.charCodeAt(0)
    const isAscii = code < 0x80
    const isLetter = isAscii ? isAsciiLetter(code) : letter.test(character)
    const isAlone = !isAscii && isLetter && unspaced.test(character)
    if (!isLetter || isAlone) markEnd()
    if (isLetter) {
      const small = character.toLowerCase()
      for (let unit = 0; unit < small.length; unit++) {
        points.push(point)
        begins.push(unit === 0 && (!wasLetter || isAlone))
        ends.push(unit === small.length - 1 && isAlone)
      }
      found.push(small)
    }
    wasLetter = isLetter && !isAlone
    point += 1
  }
  markEnd()
  return { text: found.join(''), points, begins, ends }
}

function find(
  { text, begins, ends }: Letters,
  wanted: string,
  { from, within }: { from: number; within: number },
): number {
  // Only the searched part is cut out, so that a missing word does not cost a search of the rest of a long text.
  const searched = text.slice(from, from + within + wanted.length)
  for (let at = searched.indexOf(wanted); at >= 0; at = searched.indexOf(wanted, at + 1)) {
    const start = from + at
    if (begins[start] && ends[start + wanted.length - 1]) return start
  }
  return -1
}
