import type { ResponseHeaders } from '../canonical/upstream.ts'

/** An answer that is not valid HTTP/1.1, or whose end cannot be told for certain. The code says why and repeats no byte of it. */
export class BadAnswer extends Error {
  readonly code: string

  constructor(reason: string) {
    super(`bad answer: ${reason}`)
    this.code = `bad answer: ${reason}`
  }
}

/** How the end of a body is told; `none` where there is no body, `close` where it ends with its connection. */
export type BodyFraming = 'none' | 'length' | 'chunked' | 'close'

/** The head of an answer. A name that occurs several times has all its values, separated by commas. */
export class AnswerHead implements ResponseHeaders {
  status = 0
  framing: BodyFraming = 'close'
  /** Of the body; -1 when it is not stated. */
  contentLength = -1
  /** Whether the connection may serve another request once this answer has ended. */
  keepsConnection = true
  /** Seconds of rest after which the server closes the connection; null when it does not say. */
  restSeconds: number | null = null
  hasZero = false
  readonly #text: string
  /** Where each name begins and ends in the text, and its value. Most headers are never asked for, and so never cut out. */
  readonly #places: number[] = []

  constructor(text: string) {
    this.#text = text
  }

  add(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): void {
    this.#places.push(nameStart, nameEnd, valueStart, valueEnd)
    const first = this.#text.charCodeAt(valueStart)
    // Beyond ASCII there are more blanks, which a pattern may pass over.
    this.hasZero ||= first === zero || first >= 128
  }

  get(name: string): string | null {
    const places = this.#places
    let found: string | null = null
    for (let at = 0; at < places.length; at += 4) {
      if (!isText(this.#text, places[at] ?? 0, places[at + 1] ?? 0, name)) continue
      const value = this.#text.slice(places[at + 2], places[at + 3])
      found = found === null ? value : `${found}, ${value}`
    }
    return found
  }

  *[Symbol.iterator](): Generator<[string, string], void> {
    const places = this.#places
    for (let at = 0; at < places.length; at += 4) {
      const name = this.#text.slice(places[at], places[at + 1]).toLowerCase()
      yield [name, this.#text.slice(places[at + 2], places[at + 3])]
    }
  }
}

const cr = 13
const lf = 10
const space = 32
const tab = 9
const colon = 58
const zero = 48
const upperA = 65
const upperZ = 90
/** From an upper-case letter to its lower-case one. */
const toLower = 32

/** Bytes of a token, such as a header's name. */
export const isTokenByte = new Uint8Array(256)
for (const byte of Buffer.from(
  "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
))
  isTokenByte[byte] = 1

/** Bytes of a header's value: no control character but the tab. */
export const isValueByte = new Uint8Array(256).fill(1, space)
isValueByte[127] = 0
isValueByte[tab] = 1

/** Reads a head from its first byte to the line break of its last line. Throws BadAnswer. */
export function readAnswerHead(bytes: Buffer, start: number, end: number): AnswerHead {
  const text = bytes.toString('latin1', start, end)
  const head = new AnswerHead(text)
  const isNewest = readVersion(text)
  head.status = readStatus(text)
  head.keepsConnection = isNewest
  let at = endOfLine(text, 12)
  while (at < text.length) {
    const nameStart = at
    while (isTokenByte[text.charCodeAt(at)] === 1) at += 1
    if (at === nameStart || text.charCodeAt(at) !== colon) throw new BadAnswer('header name')
    const nameEnd = at
    const valueStart = afterBlanks(text, at + 1)
    at = endOfLine(text, valueStart)
    const valueEnd = beforeBlanks(text, valueStart, at - 2)
    head.add(nameStart, nameEnd, valueStart, valueEnd)
    switch (nameEnd - nameStart) {
      case 10:
      case 14:
      case 17:
        readFraming(head, text, { nameStart, nameEnd, valueStart, valueEnd })
    }
  }
  settleFraming(head, isNewest)
  return head
}

/** Whether a part of the text is this one, given in lower case, in any case. Without a copy in lower case, which would cost ten times more. */
function isText(text: string, start: number, end: number, lower: string): boolean {
  if (end - start !== lower.length) return false
  for (let at = 0; at < lower.length; at += 1) {
    const code = text.charCodeAt(start + at)
    const wanted = lower.charCodeAt(at)
    if (code !== wanted && (code < upperA || code > upperZ || code + toLower !== wanted)) return false
  }
  return true
}

/** Whether the version is 1.1; false for 1.0. */
function readVersion(text: string): boolean {
  if (!text.startsWith('HTTP/1.') || text.charCodeAt(8) !== space) throw new BadAnswer('version')
  const minor = text.charCodeAt(7) - 48
  if (minor !== 0 && minor !== 1) throw new BadAnswer('version')
  return minor === 1
}

function readStatus(text: string): number {
  let status = 0
  for (let at = 9; at < 12; at += 1) {
    const digit = text.charCodeAt(at) - 48
    if (!(digit >= 0 && digit <= 9)) throw new BadAnswer('status')
    status = status * 10 + digit
  }
  const next = text.charCodeAt(12)
  if (status < 100 || (next !== space && next !== cr)) throw new BadAnswer('status')
  return status
}

/** The place after the line break of the line. */
function endOfLine(text: string, start: number): number {
  let at = start
  while (isValueByte[text.charCodeAt(at)] === 1) at += 1
  if (text.charCodeAt(at) !== cr || text.charCodeAt(at + 1) !== lf) throw new BadAnswer('character in a head')
  return at + 2
}

function afterBlanks(text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) === space || text.charCodeAt(at) === tab) at += 1
  return at
}

function beforeBlanks(text: string, start: number, end: number): number {
  let at = end
  while (at > start && (text.charCodeAt(at - 1) === space || text.charCodeAt(at - 1) === tab)) at -= 1
  return at
}

/** Where a header is in the text of its head. */
interface HeaderPlace {
  nameStart: number
  nameEnd: number
  valueStart: number
  valueEnd: number
}

/** The headers that say where the answer ends and whether its connection stays open; their names have 10, 14 or 17 letters. */
function readFraming(head: AnswerHead, text: string, place: HeaderPlace): void {
  const { nameStart, nameEnd, valueStart, valueEnd } = place
  if (isText(text, nameStart, nameEnd, 'content-length')) {
    if (head.contentLength !== -1) throw new BadAnswer('two lengths')
    head.contentLength = readLength(text, valueStart, valueEnd)
    // A tab behind a length is a blank by the standard, and other parsers refuse it.
    for (let at = valueEnd; text.charCodeAt(at) !== cr; at += 1)
      if (text.charCodeAt(at) === tab) throw new BadAnswer('length')
  } else if (isText(text, nameStart, nameEnd, 'transfer-encoding')) {
    if (head.framing === 'chunked' || !isText(text, valueStart, valueEnd, 'chunked'))
      throw new BadAnswer('transfer encoding')
    head.framing = 'chunked'
  } else if (isText(text, nameStart, nameEnd, 'connection')) {
    if (!isText(text, valueStart, valueEnd, 'keep-alive')) head.keepsConnection = false
  } else if (isText(text, nameStart, nameEnd, 'keep-alive')) {
    const stated = /(?:^|[,;\s])timeout=(\d{1,6})(?:$|[,;\s])/i.exec(text.slice(valueStart, valueEnd))
    if (stated) head.restSeconds = Number(stated[1])
  }
}

/** Digits of a stated length, which JavaScript's numbers hold exactly. */
const lengthDigitsMax = 15

function readLength(text: string, start: number, end: number): number {
  if (end === start || end - start > lengthDigitsMax) throw new BadAnswer('length')
  let length = 0
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - zero
    if (!(digit >= 0 && digit <= 9)) throw new BadAnswer('length')
    length = length * 10 + digit
  }
  return length
}

function settleFraming(head: AnswerHead, isNewest: boolean): void {
  const { status, contentLength } = head
  const isChunked = head.framing === 'chunked'
  if (isChunked && contentLength !== -1) throw new BadAnswer('two lengths')
  if (isChunked && !isNewest) throw new BadAnswer('transfer encoding')
  if (status < 200 || status === 204) {
    if (status === 101) throw new BadAnswer('another protocol')
    if (isChunked || contentLength > 0) throw new BadAnswer('body of a status that has none')
    head.framing = 'none'
  } else if (status === 304) head.framing = 'none'
  else if (isChunked) return
  else if (contentLength >= 0) head.framing = contentLength === 0 ? 'none' : 'length'
  else {
    head.framing = 'close'
    head.keepsConnection = false
  }
}
