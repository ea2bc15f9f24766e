import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { BodyPieces } from '../core/body.ts'
import { setAsideTextBytesMin, setAsideTextsSearchedMax } from '../core/limits/text.ts'
import { JsonTextScanner } from './text-scanner.ts'
import { toBuffer } from './document.ts'

const quote = 0x22
const colon = 0x3a

// Random, so that nobody who has a say in an answer can write it; a control character, so that it shows when JSON was
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
  return json
    .split(writtenMark)
    .map((part, index) => (index % 2 === 0 ? part : (texts[Number(part)]?.bytes ?? '')))
}
