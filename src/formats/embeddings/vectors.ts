import { isRecord, tokenCountOrNull } from '../../json/values.ts'
import { unreadable } from '../upstream-json.ts'

/** The vectors that the caller asked for: their encoding and their number. */
export interface WantedVectors {
  encoding: 'float' | 'base64'
  count: number
  /** The provider's base64 is of signed bytes, not of float32. */
  isInt8?: boolean
}

/**
 * Converts a provider's `data` array for the caller, in the order of the inputs; returns the same bytes when nothing
 * differs. Throws `provider_failed` unless there is exactly one valid vector for each input.
 */
export function encodeVectors(data: Buffer, wanted: WantedVectors): Buffer {
  if (wanted.isInt8 !== true && isReady(data, wanted)) return data
  const wire = parseJson(data)
  if (!Array.isArray(wire) || wire.length !== wanted.count)
    throw unreadable(`data has not ${wanted.count} vectors`)
  const items = wire.map((item: unknown, position) => toItem(item, position, wanted))
  items.sort((a, b) => a.index - b.index)
  if (items.some(({ index }, position) => index !== position))
    throw unreadable('an input has no vector or several')
  return Buffer.from(JSON.stringify(items))
}

const itemPattern = /^\{"object":"embedding","index":(\d+),"embedding":(?:\[-?\d|("))/

/** The start of `null`, `NaN` and `Infinity`, which Python writes into its JSON; a valid vector has none of them. */
const unwritable = [Buffer.from('null'), 0x4e, 0x49]

/**
 * Whether the vectors may pass unchanged: OpenAI's spelling, indexes in order, and the wanted encoding. Looks only at
 * the beginning of each item; vectors hold no braces.
 */
function isReady(data: Buffer, { encoding, count }: WantedVectors): boolean {
  if (encoding === 'float' && unwritable.some((text) => data.includes(text))) return false
  let position = data.indexOf(0x7b)
  for (let index = 0; index < count; index += 1) {
    if (position === -1) return false
    const match = itemPattern.exec(data.toString('latin1', position, position + 80))
    if (!match || Number(match[1]) !== index || (match[2] === undefined) !== (encoding === 'float'))
      return false
    const start = position + match[0].length
    if (encoding === 'base64' && !isSound(data.toString('latin1', start, data.indexOf(0x22, start))))
      return false
    position = data.indexOf(0x7b, start)
  }
  return position === -1
}

/** Whether this is base64 of finite float32 values, padded so that every decoder reads it. */
function isSound(text: string): boolean {
  const bytes = Buffer.from(text, 'base64')
  if (text.length !== Math.ceil(bytes.length / 3) * 4 || bytes.length === 0) return false
  if (bytes.length % 4 !== 0 || bytes.byteOffset % 4 !== 0) return false
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  for (let at = 0; at < words.length; at += 1) if (((words[at] ?? 0) & exponent) === exponent) return false
  return true
}

/** NaN and the infinities have all exponent bits set; numbers do not. */
const exponent = 0x7f800000

function toItem(wire: unknown, position: number, wanted: WantedVectors) {
  if (!isRecord(wire)) throw unreadable('a vector is not an object')
  const index = tokenCountOrNull(wire['index']) ?? position
  return { object: 'embedding', index, embedding: toEncoding(wire['embedding'], wanted) }
}

function toEncoding(wire: unknown, { encoding, isInt8 = false }: WantedVectors): readonly number[] | string {
  if (typeof wire === 'string' && encoding === 'base64' && !isInt8 && isSound(wire)) return wire
  const decode = isInt8 ? decodeBytes : decodeFloats
  const values: unknown = typeof wire === 'string' ? decode(wire) : wire
  if (!Array.isArray(values) || values.length === 0 || !values.every((value) => Number.isFinite(value))) {
    throw unreadable('a vector is not a list of numbers')
  }
  return encoding === 'float' ? values : encodeFloats(values)
}

/** Numbers as base64 of little-endian float32, which OpenAI's clients decode. */
export function encodeFloats(values: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(values.length * 4))
  for (const [index, value] of values.entries()) view.setFloat32(index * 4, value, true)
  return Buffer.from(view.buffer).toString('base64')
}

/** The numbers in such base64. Throws `provider_failed` when it is not base64 of whole float32 values. */
export function decodeFloats(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64')
  // A decoder skips invalid characters, and all numbers after them would be wrong.
  const isWhole = bytes.length === Math.floor((text.replace(/={1,2}$/, '').length * 3) / 4)
  if (!isWhole || bytes.length === 0 || bytes.length % 4 !== 0)
    throw unreadable('a vector is not base64 of float32')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / 4 }, (_, index) => view.getFloat32(index * 4, true))
}

function decodeBytes(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== Math.floor((text.replace(/={1,2}$/, '').length * 3) / 4))
    throw unreadable('a vector is not base64')
  return Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length))
}

/** Parses a part of an answer. Throws `provider_failed`. */
export function parseJson(buffer: Buffer): unknown {
  try {
    return JSON.parse(buffer.toString('utf8'))
  } catch (cause) {
    throw unreadable('it is not JSON', cause)
  }
}
