/** The text is not plain data; the message says where. */
export class NotData extends Error {}

/**
 * The first list in a JavaScript file, as data: lists, objects, texts, numbers, `!0`, `!1`, `true`, `false`, `null` and
 * `undefined`, as bundlers write them. No code runs: prices are data, and the gateway does not trust the package's
 * code. Throws NotData for anything else within the list.
 */
export function readDataLiteral(source: string): unknown {
  const start = source.indexOf('[')
  if (start === -1) throw new NotData('there is no list in it')
  return new Reader(source, start).value(0)
}

const depthMax = 64
const blank = /\s*/y
const name = /[A-Za-z_$][\w$]*/y
const number = /-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null, undefined }
const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
  // A backslash at the end of a line continues the text on the next line.
  '\n': '',
}
/** The number of hexadecimal digits after these escapes. */
const hexDigits: Readonly<Record<string, number>> = { u: 4, x: 2 }

class Reader {
  readonly #source: string
  #at: number

  constructor(source: string, at: number) {
    this.#source = source
    this.#at = at
  }

  value(depth: number): unknown {
    if (depth > depthMax) throw this.#bad('lists within lists without end')
    this.#match(blank)
    const char = this.#source[this.#at] ?? ''
    if (char === '[') return this.#list(depth)
    if (char === '{') return this.#object(depth)
    if (char === '"' || char === "'" || char === '`') return this.#text(char)
    if (char === '!') return this.#negation()
    const digits = this.#match(number)
    if (digits !== '') return Number(digits)
    const word = this.#match(name)
    if (Object.hasOwn(words, word)) return words[word]
    throw this.#bad(`"${word || char}" is no data`)
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = []
    this.#at += 1
    while (!this.#takes(']')) {
      items.push(this.value(depth + 1))
      if (!this.#takes(',') && !this.#sees(']')) throw this.#bad('a list does not go on')
    }
    return items
  }

  #object(depth: number): Record<string, unknown> {
    const members = new Map<string, unknown>()
    this.#at += 1
    while (!this.#takes('}')) {
      const char = this.#source[this.#at] ?? ''
      const key = char === '"' || char === "'" ? this.#text(char) : this.#match(name) || this.#match(number)
      if (key === '' || !this.#takes(':')) throw this.#bad('a member has no name')
      members.set(key, this.value(depth + 1))
      if (!this.#takes(',') && !this.#sees('}')) throw this.#bad('an object does not go on')
    }
    return Object.fromEntries(members)
  }

  #text(quote: string): string {
    let text = ''
    for (this.#at += 1; this.#at < this.#source.length; this.#at += 1) {
      const char = this.#source[this.#at] ?? ''
      if (char === quote) {
        this.#at += 1
        return text
      }
      if (quote === '`' && char === '$' && this.#source[this.#at + 1] === '{')
        throw this.#bad('a text is computed')
      text += char === '\\' ? this.#escaped() : char
    }
    throw this.#bad('a text does not end')
  }

  #escaped(): string {
    this.#at += 1
    const char = this.#source[this.#at] ?? ''
    const length = hexDigits[char] ?? 0
    if (length === 0) return escapes[char] ?? char
    const digits = this.#source.slice(this.#at + 1, this.#at + 1 + length)
    if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length !== length)
      throw this.#bad('a text has a broken escape')
    this.#at += length
    return String.fromCharCode(Number.parseInt(digits, 16))
  }

  #negation(): boolean {
    const digit = this.#source[this.#at + 1]
    if (digit !== '0' && digit !== '1') throw this.#bad('something is computed')
    this.#at += 2
    return digit === '0'
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #sees(char: string): boolean {
    this.#match(blank)
    return this.#source[this.#at] === char
  }

  #takes(char: string): boolean {
    if (!this.#sees(char)) return false
    this.#at += 1
    this.#match(blank)
    return true
  }

  #bad(problem: string): NotData {
    const line = this.#source.slice(0, this.#at).split('\n').length
    return new NotData(`${problem}, in line ${line}`)
  }
}
