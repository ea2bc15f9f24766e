import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { type BodyPieces, joinPieces } from '../core/body.ts'
import { GatewayError } from '../core/errors.ts'
import {
  elementsBytesMin,
  leanBodyBytesMin,
  leanHeadBytesMax,
  leanStepQuotes,
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

/** Bytes at the beginning of a body that show whether its texts are long, and the length of a long text: parsing a shorter text costs less than leaving it out. */
const leanProbeBytes = 32_768
export const leanProbeTextBytesMin = 2_048
/** A large body that must be read all the same is read in slices of so many bytes. */
const leanSliceBytes = 262_144
/** Strings of one answer looked through for such texts. An answer of many strings has few that are long, and is parsed whole. */
export const setAsideTextsSearchedMax = 1_000

const backslash = 0x5c
const colon = 0x3a
const quote = 0x22

// Random, so that neither a caller nor a model can write it; with a control character, so that it shows when JSON was
// written into JSON.
const nonce = randomBytes(12).toString('hex')
/** Stands for a text in a parsed value, before and after the text's number. */
export const mark = `\u0001${nonce}`
/** The same as it is written in JSON. */
export const writtenMark = `\\u0001${nonce}`

/** Members whose long texts are passed on and never looked into. */
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
  /** What stood between the quotes. */
  bytes: Uint8Array
  /** Bytes of the text once its escapes are read. */
  textBytes: number
}

/**
 * A JSON text with its long strings set aside, so that a megabyte that is only passed on is neither built nor written.
 * Marks stand in for them.
 */
export interface SetAsideTexts {
  /** The rest, valid JSON exactly when the whole is. */
  skeleton: string
  texts: readonly SetAsideText[]
}

/** Sets aside the long texts of a JSON text; null when it has none, or when that cannot be done beyond doubt. */
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

/** Whether the string before, from `keyStart` to `keyEnd`, is the name of the value at `start`, and one to set aside. */
function isSetAside(buffer: Buffer, keyStart: number, keyEnd: number, start: number): boolean {
  const between = buffer.toString('latin1', keyEnd, start).trim()
  if (between.length !== 1 || between.charCodeAt(0) !== colon) return false
  return setAsideNames.has(buffer.toString('latin1', keyStart + 1, keyEnd - 1))
}

/** Bytes of a parsed string as UTF-8, with what was set aside of it. */
export function wholeBytesOf(text: string, { texts }: SetAsideTexts): number {
  let bytes = 0
  for (const [index, part] of text.split(mark).entries()) {
    bytes += index % 2 === 0 ? Buffer.byteLength(part) : (texts[Number(part)]?.textBytes ?? 0)
  }
  return bytes
}

/** Whether a parsed string has a mark inside JSON of its own, where the text would need to be escaped once more. */
export function isSetAsideWithin(text: string): boolean {
  return text.includes(writtenMark)
}

/** Whether JSON has a mark in a text that is JSON itself. */
export function isMarkedWithin(json: string): boolean {
  return json.includes(`\\${writtenMark}`)
}

/** JSON written with marks, with the texts that were set aside back in their places. */
export function putTextsBack(json: string, { texts }: SetAsideTexts): BodyPieces {
  return fillMarks(json, (index) => texts[index]?.bytes)
}

/** Without escapes, which would make a head longer than its text. */
const heads = /^(?:data:[^\\,]*,|hr1\.[a-z0-9@~_-]+\.[a-z]\.[^\\.]*\.)/

/**
 * A request body without its longer texts, where that costs less than to parse it whole or must be: null for a small
 * one, and for one of middling size whose texts are short. Rejects with `invalid_request` for one of too many elements.
 */
export async function leanOf(bytes: Uint8Array): Promise<LeanJson | null> {
  if (bytes.length >= elementsBytesMin) await requireFewElements(bytes)
  const isWhole =
    bytes.length < leanBodyBytesMin || (bytes.length < wholeBodyBytesMax && !beginsWithLongTexts(bytes))
  return isWhole ? null : inTurns(leaveOutTexts(bytes))
}

/** Whether the beginning is mostly of long texts. */
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
  // The last one has its end behind what is looked at.
  if (start !== -1) longBytes += source.length - start
  return longBytes * 2 > source.length
}

/**
 * Leaves the longer texts of a JSON text out, in steps of a few milliseconds: to parse megabytes at once would stall
 * everybody, and nobody looks into what a prompt or a picture says. What is broken in a text stays for the provider to
 * find, and what is broken around them is still broken in what is left.
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

/** Copies what is between the texts that are left out. */
class LeanWriter {
  readonly #source: Buffer
  readonly #target: Buffer
  readonly #texts: LeftOutText[] = []
  #length = 0
  #copied = 0
  /** The string before: where it begins and ends, quotes included. */
  #keyStart = 0
  #keyEnd = 0

  constructor(source: Buffer) {
    this.#source = source
    // A mark is shorter than any text that is left out, and memory that is not written costs nothing.
    this.#target = Buffer.allocUnsafeSlow(source.length)
  }

  /** A string, by the positions of its quotes. */
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

  /** What is looked into of a long text: the type of what a data URL has in it, and where a sealed thought is from. */
  #headLength(start: number): number {
    const head = this.#source.toString('latin1', start, start + leanHeadBytesMax)
    return heads.exec(head)?.[0].length ?? 0
  }

  /** Names, and ids, which must stay equal to each other. */
  #isNeeded(start: number, end: number): boolean {
    const source = this.#source
    if (/^\s*:/.test(source.toString('latin1', end + 1, end + 16))) return true
    if (this.#keyEnd === 0 || start - this.#keyEnd > 16) return false
    const between = source.toString('latin1', this.#keyEnd, start).trim()
    const isValue = between.length === 1 && between.charCodeAt(0) === colon
    return isValue && source.toString('latin1', this.#keyStart, this.#keyEnd).endsWith('id"')
  }
}

/** A member as it can be looked into: without its longer texts, where the document is lean. */
export class LookedInto {
  readonly bytes: Buffer
  readonly #name: string
  readonly #document: JsonDocument

  constructor(document: JsonDocument, name: string, bytes: Buffer) {
    this.bytes = bytes
    this.#name = name
    this.#document = document
  }

  /** The value, marks in place of what was left out. Throws `invalid_request` naming the member. */
  value(): unknown {
    return leanMemberValue(this.#document, this.#name)
  }

  /** The same, numbers that JavaScript cannot hold as they were written. */
  exactValue(): unknown {
    return leanMemberValue(this.#document, this.#name, parseExactly)
  }

  /** Characters of a text of the value; bytes where it was left out. */
  lengthOf(text: string): number {
    const { lean } = this.#document
    return lean ? lengthOf(text, lean) : text.length
  }

  /** A text of the value, whole, or null when it is longer. */
  textOf(text: string, lengthMax: number): string | null {
    const { lean } = this.#document
    if (!lean || !text.includes(mark)) return text.length > lengthMax ? null : text
    if (this.lengthOf(text) > lengthMax) return null
    return JSON.parse(Buffer.from(joinPieces(this.restore(JSON.stringify(text)))).toString('utf8')) as string
  }

  /** The beginning of a text of the value: all of it, or at least so many characters. */
  beginningOf(text: string, lengthMin: number): string {
    if (!text.includes(mark)) return text
    let beginning = ''
    for (const slice of slicesOfText(text, this.#document)) {
      beginning += slice
      if (beginning.length >= lengthMin) break
    }
    return beginning
  }

  /** JSON that was made of the value, whole again. */
  restore(json: string): BodyPieces {
    const { lean, bytes } = this.#document
    return lean ? restore(json, bytes, lean) : [json]
  }
}

/** Null when the document has no such member. */
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

/** A parsed text with what was left out of it. Throws `invalid_request` when that is no JSON. */
export function wholeText(text: string, source: Uint8Array, { texts }: LeanJson): string {
  const parts = text.split(mark).map((part, index) => {
    const left = index % 2 === 1 ? texts[Number(part)] : undefined
    return left === undefined ? part : parseText(toBuffer(source).toString('utf8', left.start, left.end))
  })
  return parts.join('')
}

/**
 * A text of a lean document in slices, its escapes read, so that megabytes of it stall nobody. For texts in ASCII: other bytes
 * come as Latin-1. Throws `invalid_request` when it is no JSON.
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

/** Not within an escape, of which the longest has six bytes. */
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

/** JSON written with marks, with the texts that were left out back in their places. */
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
