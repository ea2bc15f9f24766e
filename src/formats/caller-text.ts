import { comparedTextLengthMax } from '../core/limits/text.ts'

/** The texts of the caller, and those of its words that are public names. */
export interface CallerWords {
  texts: readonly string[]
  /** Names of parameters and models. */
  names: readonly string[]
}

const mark = '[removed]'
/** The same words in a row, this many, are hardly chance. */
const wordsInARow = 3
const quoted = /(["'`“‘])([^"'`“”‘’]{2,})(["'`”’])/g

/**
 * A provider's message without the parts that repeat the caller's text: quoted text, three words in a row, and single
 * words with a digit, such as a telephone number. Null when the caller's text is too long to be compared.
 */
export function withoutCallerText(words: string, { texts, names }: CallerWords): string | null {
  let length = 0
  for (const text of texts) length += text.length
  if (length > comparedTextLengthMax) return null
  const written = ` ${texts.map(plain).join(' \n ')} `
  const isName = (word: string) => names.includes(word)
  const unquoted = words.replace(quoted, (whole, open: string, inner: string, close: string) =>
    !isName(inner) && written.includes(plain(inner)) ? `${open}${mark}${close}` : whole,
  )
  // A value after `=`, as in `input_value=…`, is a word of its own.
  return withoutRuns(unquoted.replace(/=(?=\S)/g, '= ').split(' '), written, isName)
}

function withoutRuns(words: readonly string[], written: string, isName: (word: string) => boolean): string {
  const kept: string[] = []
  for (let index = 0; index < words.length;) {
    let end = index + 1
    while (end <= words.length && isWritten(words.slice(index, end), written)) end += 1
    const count = end - 1 - index
    const word = bare(words[index] ?? '')
    const isTelling = count > 0 && /\d/.test(word) && word.length > 2 && !isName(word)
    if (count >= wordsInARow || isTelling) {
      if (kept.at(-1) !== mark) kept.push(mark)
      index += count
    } else {
      kept.push(words[index] ?? '')
      index += 1
    }
  }
  return kept.join(' ')
}

/** Whether the caller wrote these words in this order. Quotes and punctuation around them are the provider's. */
function isWritten(words: readonly string[], written: string): boolean {
  const searched = bare(plain(words.join(' ')))
  return searched !== '' && written.includes(searched)
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase()
}

function bare(text: string): string {
  return text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
}

/** Every string in a JSON value, except the names of members. The depth that a request may have bounds the walk. */
export function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsOf)
}
