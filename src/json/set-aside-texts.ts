import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { type BodyPieces, joinPieces } from '../core/body.ts'
import { GatewayError } from '../core/errors.ts'
import {
  leanBodyBytesMin,
  leanHeadBytesMax,
  leanTextBytesMin,
  setAsideTextBytesMin,
  wholeBodyBytesMax,
} from '../core/limits/text.ts'
import { inTurns } from '../core/turns.ts'
import { toBuffer } from './bytes.ts'
import { type JsonDocument, type LeanJson, leanMemberValue, type LeftOutText } from './document.ts'
import { JsonTextScanner } from './proof.ts'
import { requireFewElements } from './json-body.ts'
import { isEscaped } from './scan.ts'
import { parseExactly } from './values.ts'

/** Long texts are left out in steps of this many quotes. */
export const leanStepQuotes = 4_096

/** From this length on the elements of a body are counted in steps. */
const elementsBytesMin = 200_000

/**
 * The bytes at the beginning of a body that decide whether its texts are long, and the least length of a long text.
 * Parsing a shorter text costs less than leaving it out.
 */
const leanProbeBytes = 32_768
export const leanProbeTextBytesMin = 2_048
/** The slice size for a large text that must be read anyway. */
const leanSliceBytes = 262_144
/**
 * The most strings of one answer that are searched for long texts. An answer with more strings has few long ones, so it
 * is parsed whole.
 */
export const setAsideTextsSearchedMax = 1_000

const backslash = 0x5c
const colon = 0x3a
const quote = 0x22

// Random, so that neither a caller nor a model can write it. With a control character, so that JSON inside JSON is
// recognised by its escapes.
const nonce = randomBytes(12).toString('hex')
/** Stands for a text in a parsed value, before and after the text's number. */
export const mark = `\u0001${nonce}`
/** The same mark as JSON writes it. */
export const writtenMark = `\\u0001${nonce}`

/** Members whose long texts are only passed on. */
const setAsideNames: ReadonlySet<string> = new Set([
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'text',
  'thinking',
  'arguments',
  'data',
])

interface SetAsideText {
  /** The bytes between the quotes. */
  bytes: Uint8Array
  /** The length of the text in bytes after its escapes are decoded. */
  textBytes: number
}

/**
 * A JSON text with its long strings set aside, so that a megabyte that is only passed on is never built or written as a
 * string. Marks take the place of these strings.
 */
export interface SetAsideTexts {
  /** The rest of the text; it is valid JSON exactly when the whole text is. */
  skeleton: string
  texts: readonly SetAsideText[]
}

/** Sets aside the long texts of a JSON text; null when it has none, or when it is uncertain where they lie. */
export function setTextsAside(bytes: Uint8Array): SetAsideTexts | null {
  if (bytes.length < setAsideTextBytesMin || !isUtf8(bytes)) return null
  const buffer = toBuffer(bytes)
  const scanner = new JsonTextScanner(buffer)
  const texts: SetAsideText[] = []
  let skeleton = ''
  let copied = 0
  let keyStart = 0
  let position = 0
  for (let seen = 0; ; seen += 1) {
    const start = buffer.indexOf(quote, position)
    if (start === -1) break
    const found = seen < setAsideTextsSearchedMax ? scanner.scan(start) : null
    if (found === null) return null
    if (found.end - start > setAsideTextBytesMin && isSetAside(buffer, keyStart, position, start)) {
      skeleton += `${buffer.toString('utf8', copied, start + 1)}${writtenMark}${texts.length}${writtenMark}`
      texts.push({ bytes: buffer.subarray(start + 1, found.end), textBytes: found.textBytes })
      copied = found.end
    }
    keyStart = start
    position = found.end + 1
  }
  return texts.length === 0 ? null : { skeleton: skeleton + buffer.toString('utf8', copied), texts }
}

/**
 * Whether the string from `keyStart` to `keyEnd` is the name of the value at `start`, and that value's text may be set
 * aside.
 */
function isSetAside(buffer: Buffer, keyStart: number, keyEnd: number, start: number): boolean {
  const between = buffer.toString('latin1', keyEnd, start).trim()
  if (between.length !== 1 || between.charCodeAt(0) !== colon) return false
  return setAsideNames.has(buffer.toString('latin1', keyStart + 1, keyEnd - 1))
}

/** The bytes of a parsed string in UTF-8, set-aside texts included. */
export function wholeBytesOf(text: string, { texts }: SetAsideTexts): number {
  let bytes = 0
  for (const [index, part] of text.split(mark).entries()) {
    bytes += index % 2 === 0 ? Buffer.byteLength(part) : (texts[Number(part)]?.textBytes ?? 0)
  }
  return bytes
}

/** Whether a parsed string contains JSON with a mark; the text in it would need one more level of escapes. */
export function isSetAsideWithin(text: string): boolean {
  return text.includes(writtenMark)
}

/** Whether JSON has a mark inside a text that is JSON itself. */
export function isMarkedWithin(json: string): boolean {
  return json.includes(`\\${writtenMark}`)
}

/** JSON that was written with marks, with the set-aside texts back in place. */
export function putTextsBack(json: string, { texts }: SetAsideTexts): BodyPieces {
  return fillMarks(json, (index) => texts[index]?.bytes)
}

/** Excludes escapes, which would make a head longer than its text. */
const heads = /^(?:data:[^\\,]*,|hr1\.[a-z0-9@~_-]+\.[a-z]\.[^\\.]*\.)/

/**
 * A request body without its longer texts, when that is cheaper than parsing it whole or the body is too large to be
 * parsed. Null for a small body, and for a medium one with short texts. Rejects with `invalid_request` for too many
 * elements.
 */
export function leanOf(bytes: Uint8Array): Promise<LeanJson | null> | null {
  return bytes.length < Math.min(elementsBytesMin, leanBodyBytesMin) ? null : leanOfLarge(bytes)
}

async function leanOfLarge(bytes: Uint8Array): Promise<LeanJson | null> {
  if (bytes.length >= elementsBytesMin) await requireFewElements(bytes)
  const isWhole =
    bytes.length < leanBodyBytesMin || (bytes.length < wholeBodyBytesMax && !beginsWithLongTexts(bytes))
  return isWhole ? null : inTurns(leaveOutTexts(bytes))
}

/** Whether the beginning consists mostly of long texts. */
function beginsWithLongTexts(bytes: Uint8Array): boolean {
  const source = toBuffer(bytes.subarray(0, leanProbeBytes))
  let longBytes = 0
  let start = -1
  for (let found = source.indexOf(quote); found !== -1; found = source.indexOf(quote, found + 1)) {
    if (start === -1) start = found
    else if (!isEscaped(source, found, start + 1)) {
      if (found - start >= leanProbeTextBytesMin) longBytes += found - start
      start = -1
    }
  }
  // The last text may end after the probed bytes.
  if (start !== -1) longBytes += source.length - start
  return longBytes * 2 > source.length
}

/**
 * Leaves out the longer texts of a JSON text, in steps of a few milliseconds: parsing megabytes at once would block the
 * event loop, and the gateway does not read the contents of prompts or pictures. A fault inside a text is left for the
 * provider to find; a fault around the texts remains in the lean text.
 */
export function* leaveOutTexts(bytes: Uint8Array): Generator<void, LeanJson> {
  const source = toBuffer(bytes)
  const lean = new LeanWriter(source)
  let start = -1
  let position = 0
  for (let seen = 1; ; seen += 1) {
    const found = source.indexOf(quote, position)
    if (found === -1) return lean.end()
    position = found + 1
    if (start === -1) start = found
    else if (!isEscaped(source, found, start + 1)) {
      lean.addText(start, found)
      start = -1
    }
    if (seen % leanStepQuotes === 0) yield
  }
}

/** Copies the bytes between the left-out texts. */
class LeanWriter {
  readonly #source: Buffer
  readonly #target: Buffer
  readonly #texts: LeftOutText[] = []
  #length = 0
  #copied = 0
  /** The place of the previous string, quotes included. */
  #keyStart = 0
  #keyEnd = 0

  constructor(source: Buffer) {
    this.#source = source
    // Large enough, because a mark is shorter than any left-out text; memory that is never written costs nothing.
    this.#target = Buffer.allocUnsafeSlow(source.length)
  }

  /** Adds a string, given by the positions of its quotes. */
  addText(start: number, end: number): void {
    const from = end - start > leanTextBytesMin ? start + 1 + this.#headLength(start + 1) : end
    if (end - from >= leanTextBytesMin && !this.#isNeeded(start, end)) {
      this.#copyUpTo(from)
      const index = this.#texts.length
      this.#length += this.#target.write(`${writtenMark}${index}${writtenMark}`, this.#length, 'latin1')
      this.#texts.push({ start: from, end, leanEnd: this.#length })
      this.#copied = end
    }
    this.#keyStart = start
    this.#keyEnd = end + 1
  }

  end(): LeanJson {
    this.#copyUpTo(this.#source.length)
    return { bytes: this.#target.subarray(0, this.#length), texts: this.#texts }
  }

  #copyUpTo(end: number): void {
    this.#length += this.#source.copy(this.#target, this.#length, this.#copied, end)
  }

  /**
   * The length of the part of a long text that is read: the media type of a data URL, and the origin of a sealed
   * thought.
   */
  #headLength(start: number): number {
    const head = this.#source.toString('latin1', start, start + leanHeadBytesMax)
    return heads.exec(head)?.[0].length ?? 0
  }

  /** Names, and ids, which must stay comparable. */
  #isNeeded(start: number, end: number): boolean {
    const source = this.#source
    if (/^\s*:/.test(source.toString('latin1', end + 1, end + 16))) return true
    if (this.#keyEnd === 0 || start - this.#keyEnd > 16) return false
    const between = source.toString('latin1', this.#keyEnd, start).trim()
    const isValue = between.length === 1 && between.charCodeAt(0) === colon
    return isValue && source.toString('latin1', this.#keyStart, this.#keyEnd).endsWith('id"')
  }
}

/** A member for reading: without its longer texts when the document is lean. */
export class LookedInto {
  readonly bytes: Buffer
  readonly #name: string
  readonly #document: JsonDocument

  constructor(document: JsonDocument, name: string, bytes: Buffer) {
    this.bytes = bytes
    this.#name = name
    this.#document = document
  }

  /** The value, with marks in place of left-out texts. Throws `invalid_request`, which names the member. */
  value(): unknown {
    return leanMemberValue(this.#document, this.#name)
  }

  /** The same value; numbers that JavaScript cannot hold keep their digits. */
  exactValue(): unknown {
    return leanMemberValue(this.#document, this.#name, parseExactly)
  }

  /** The length of a text of the value in characters, or in bytes if it was left out. */
  lengthOf(text: string): number {
    const { lean } = this.#document
    return lean ? lengthOf(text, lean) : text.length
  }

  /** A text of the value, complete; null when it is longer than `lengthMax`. */
  textOf(text: string, lengthMax: number): string | null {
    const { lean } = this.#document
    if (!lean || !text.includes(mark)) return text.length > lengthMax ? null : text
    if (this.lengthOf(text) > lengthMax) return null
    return JSON.parse(Buffer.from(joinPieces(this.restore(JSON.stringify(text)))).toString('utf8')) as string
  }

  /** The beginning of a text of the value: all of it, or at least `lengthMin` characters. */
  beginningOf(text: string, lengthMin: number): string {
    if (!text.includes(mark)) return text
    let beginning = ''
    for (const slice of slicesOfText(text, this.#document)) {
      beginning += slice
      if (beginning.length >= lengthMin) break
    }
    return beginning
  }

  /** JSON made from the value, with the left-out texts back in place. */
  restore(json: string): BodyPieces {
    const { lean, bytes } = this.#document
    return lean ? restore(json, bytes, lean) : [json]
  }
}

/** Returns null when the document has no such member. */
export function lookInto(document: JsonDocument, name: string): LookedInto | null {
  const { bytes, members } = document.lean ?? document
  const member = members.get(name)
  if (member === undefined) return null
  return new LookedInto(document, name, toBuffer(bytes.subarray(member.valueStart, member.valueEnd)))
}

function lengthOf(text: string, { texts }: LeanJson): number {
  if (!text.includes(mark)) return text.length
  let length = 0
  for (const [index, part] of text.split(mark).entries()) {
    const left = index % 2 === 1 ? texts[Number(part)] : undefined
    length += left ? left.end - left.start : part.length
  }
  return length
}

/** A parsed text with its left-out parts. Throws `invalid_request` when these are not JSON. */
export function wholeText(text: string, source: Uint8Array, { texts }: LeanJson): string {
  const parts = text.split(mark).map((part, index) => {
    const left = index % 2 === 1 ? texts[Number(part)] : undefined
    return left === undefined ? part : parseText(toBuffer(source).toString('utf8', left.start, left.end))
  })
  return parts.join('')
}

/**
 * A text of a lean document in slices, with escapes decoded, so that megabytes of it do not block the event loop. For
 * ASCII texts: other bytes come as Latin-1. Throws `invalid_request` when it is not JSON.
 */
export function* slicesOfText(text: string, { bytes, lean }: JsonDocument): Generator<string> {
  for (const [index, part] of text.split(mark).entries()) {
    const left = index % 2 === 1 ? lean?.texts[Number(part)] : undefined
    if (left === undefined) yield part
    else yield* slicesOf(toBuffer(bytes).subarray(left.start, left.end))
  }
}

function* slicesOf(json: Buffer): Generator<string> {
  let start = 0
  while (start < json.length) {
    const end = endOfSlice(json, start)
    yield parseText(json.toString('latin1', start, end))
    start = end
  }
}

/** The end of a slice never lies inside an escape; the longest escape has six bytes. */
function endOfSlice(json: Buffer, start: number): number {
  const end = start + leanSliceBytes
  if (end >= json.length) return json.length
  for (let at = end - 5; at < end; at += 1)
    if (json[at] === backslash && !isEscaped(json, at, start)) return at
  return end
}

function parseText(json: string): string {
  try {
    return JSON.parse(`"${json}"`) as string
  } catch (cause) {
    throw new GatewayError(
      'invalid_request',
      'The request body is not valid: a text in it has a character that must be escaped. Send one JSON object.',
      { cause },
    )
  }
}

/** JSON that was written with marks, with the left-out texts back in place. */
export function restore(json: string, source: Uint8Array, { texts }: LeanJson): BodyPieces {
  return fillMarks(json, (index) => {
    const left = texts[index]
    return left && source.subarray(left.start, left.end)
  })
}

function fillMarks(json: string, textAt: (index: number) => Uint8Array | undefined): BodyPieces {
  return json
    .split(writtenMark)
    .map((part, index) => (index % 2 === 1 ? (textAt(Number(part)) ?? part) : part))
}
