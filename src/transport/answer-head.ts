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
  readonly #names: string[] = []
  readonly #values: string[] = []

  add(name: string, value: string): void {
    this.#names.push(name)
    this.#values.push(value)
  }

  get(name: string): string | null {
    const names = this.#names
    let found: string | null = null
    for (let index = 0; index < names.length; index += 1) {
      const own = names[index] ?? ''
      if (own.length !== name.length || (own !== name && own.toLowerCase() !== name)) continue
      const value = this.#values[index] ?? ''
      found = found === null ? value : `${found}, ${value}`
    }
    return found
  }

  *[Symbol.iterator](): Generator<[string, string], void> {
    for (const [index, name] of this.#names.entries()) yield [name.toLowerCase(), this.#values[index] ?? '']
  }
}

const cr = 13
const lf = 10
const space = 32
const tab = 9
const colon = 58

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
  const head = new AnswerHead()
  const isNewest = readVersion(text)
  head.status = readStatus(text)
  head.keepsConnection = isNewest
  let at = endOfLine(text, 12)
  while (at < text.length) {
    const nameStart = at
    while (isTokenByte[text.charCodeAt(at)] === 1) at += 1
    if (at === nameStart || text.charCodeAt(at) !== colon) throw new BadAnswer('header name')
    const name = text.slice(nameStart, at)
    const valueStart = afterBlanks(text, at + 1)
    at = endOfLine(text, valueStart)
    const valueEnd = beforeBlanks(text, valueStart, at - 2)
    const value = text.slice(valueStart, valueEnd)
    head.add(name, value)
    readFraming(head, name, value)
    // A tab behind a length is a blank by the standard, and other parsers refuse it.
    if (head.contentLength !== -1 && name.length === 14 && text.slice(valueEnd, at - 2).includes('\t'))
      throw new BadAnswer('length')
  }
  settleFraming(head, isNewest)
  return head
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

/** The headers that say where the answer ends and whether its connection stays open. */
function readFraming(head: AnswerHead, name: string, value: string): void {
  // Only these lengths, because lower case costs more than the comparison.
  if (name.length !== 10 && name.length !== 14 && name.length !== 17) return
  switch (name.toLowerCase()) {
    case 'content-length':
      if (head.contentLength !== -1) throw new BadAnswer('two lengths')
      if (!/^\d{1,15}$/.test(value)) throw new BadAnswer('length')
      head.contentLength = Number(value)
      return
    case 'transfer-encoding':
      if (head.framing === 'chunked' || value.toLowerCase() !== 'chunked')
        throw new BadAnswer('transfer encoding')
      head.framing = 'chunked'
      return
    case 'connection':
      if (value.toLowerCase() !== 'keep-alive') head.keepsConnection = false
      return
    case 'keep-alive': {
      const stated = /(?:^|[,;\s])timeout=(\d{1,6})(?:$|[,;\s])/i.exec(value)
      if (stated) head.restSeconds = Number(stated[1])
    }
  }
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
