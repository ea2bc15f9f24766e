import { jsonDepthMax, jsonMembersMax } from '../core/limits/text.ts'
import { isDigit, isSpace, isTokenByte } from './bytes.ts'
import { literalBytesMax } from './faults.ts'
import { skipSpace, stringEnd } from './scan.ts'
import type { WireRecord } from './values.ts'

/** An object up to this size is parsed at once. Its values stay in memory until its call has ended. */
export const smallObjectBytesMax = 16_384

const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/**
 * The place of one top-level member in the bytes of a JSON object: offsets of the first byte and of the byte after the
 * last.
 */
export interface JsonMember {
  keyStart: number
  valueStart: number
  valueEnd: number
}

/** The members of a small object, their values and their places, both in the order of the bytes. */
export interface SmallObject {
  values: WireRecord
  members: ReadonlyMap<string, JsonMember>
}

/**
 * A small JSON object, parsed at once. The runtime's parser proves that it is JSON, and a value with as many names as its
 * bytes proves that no name stands twice. Null for a larger object, and for anything that `parseJsonDocument` might
 * refuse: its scan then decides, and says what is wrong.
 */
export function parseSmallObject(buffer: Buffer): SmallObject | null {
  if (buffer.length > smallObjectBytesMax) return null
  const places: JsonMember[] = []
  const names = findPlaces(buffer, places)
  if (names === null || places.length > jsonMembersMax) return null
  const values = parseOrNull(buffer)
  if (values === null || countNames(values) !== names) return null
  const members = new Map<string, JsonMember>()
  for (const name in values) {
    const place = places[members.size]
    if (place === undefined || isLongLiteral(buffer, place)) return null
    // The runtime moves a name that is a number to the front.
    if (isDigit(name.charCodeAt(0))) return null
    members.set(name, place)
  }
  return { values, members }
}

/**
 * Finds the places of the members of an object, and counts its names and those of the objects inside it. What it finds
 * is right when the bytes are JSON. Null when they surely are no object that can be accepted.
 */
function findPlaces(buffer: Buffer, places: JsonMember[]): number | null {
  const end = buffer.length
  let at = skipSpace(buffer, 0)
  if (buffer[at] !== openBrace) return null
  let depth = 0
  let names = 0
  let keyStart = -1
  let valueStart = 0
  for (; at < end; at += 1) {
    const byte = buffer[at]
    if (byte === quote) {
      if (keyStart < 0) keyStart = at
      const after = stringEnd(buffer, at + 1, end)
      if (after < 0) return null
      at = after - 1
    } else if (byte === colon) {
      names += 1
      if (depth === 1) valueStart = skipSpace(buffer, at + 1)
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1
      if (depth > jsonDepthMax) return null
    } else if (byte === comma || byte === closeBrace || byte === closeBracket) {
      if (depth === 1 && keyStart >= 0) {
        places.push({ keyStart, valueStart, valueEnd: trimSpace(buffer, at) })
        keyStart = -1
      }
      if (byte !== comma) depth -= 1
      if (depth === 0) return names
    }
  }
  return null
}

/** The position after the last byte before `end` that is not white space. */
function trimSpace(buffer: Buffer, end: number): number {
  let position = end
  while (isSpace(buffer[position - 1])) position -= 1
  return position
}

/** Whether the value is a number that is longer than any meaningful one. */
function isLongLiteral(buffer: Buffer, { valueStart, valueEnd }: JsonMember): boolean {
  return valueEnd - valueStart > literalBytesMax && isTokenByte(buffer[valueStart] ?? 0)
}

function parseOrNull(buffer: Buffer): WireRecord | null {
  try {
    return JSON.parse(buffer.toString('utf8')) as WireRecord
  } catch {
    return null
  }
}

/** The names of all objects in a parsed value. */
function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const each of value) count += countNames(each)
    return count
  }
  for (const name in value) count += 1 + countNames((value as WireRecord)[name])
  return count
}
