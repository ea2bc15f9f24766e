/**
 * Where JSON values end, found on bytes without building anything. Strings are left in leaps: the native search finds
 * the next quote, and only the backslashes before it are looked at.
 */

const quote = 0x22
const backslash = 0x5c
/** Strings up to about this long are cheaper to walk than to search. */
const walkedStringBytes = 24

/**
 * The offset after the closing quote of a string whose content continues at `from`, or -1 when the string is not closed
 * before `end`. `from` must not lie behind an unpaired backslash. Bytes from `end` on are never believed.
 */
export function stringEnd(bytes: Buffer, from: number, end: number): number {
  let position = from
  const near = Math.min(end, from + walkedStringBytes)
  while (position < near) {
    const byte = bytes[position]
    if (byte === quote) return position + 1
    position += byte === backslash ? 2 : 1
  }
  while (position < end) {
    const found = bytes.indexOf(quote, position)
    if (found < 0 || found >= end) return -1
    if (backslashesBefore(bytes, found, position) % 2 === 0) return found + 1
    position = found + 1
  }
  return -1
}

/** How many backslashes stand directly before `offset`, looking back no further than `start`. */
export function backslashesBefore(bytes: Uint8Array, offset: number, start: number): number {
  let first = offset
  while (first > start && bytes[first - 1] === backslash) first--
  return offset - first
}

/** Whether this byte may stand between the tokens of JSON. */
export function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The offset after the value that begins at `start`, in bytes known to be valid JSON. */
export function valueEnd(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start]
  if (first === quote) return stringEnd(bytes, start + 1, end)
  if (first !== 0x7b && first !== 0x5b) return scalarEnd(bytes, start, end)
  let depth = 0
  for (let position = start; position < end;) {
    const byte = bytes[position] ?? 0
    if (byte === quote) {
      position = stringEnd(bytes, position + 1, end)
      if (position < 0) return end
      continue
    }
    if ((byte | 0x20) === 0x7b) depth++
    else if ((byte | 0x20) === 0x7d && --depth === 0) return position + 1
    position++
  }
  return end
}

/** The offset of the first byte that cannot belong to a number or a literal. */
export function scalarEnd(bytes: Uint8Array, start: number, end: number): number {
  let position = start
  while (position < end && !endsScalar(bytes[position])) position++
  return position
}

/** Whether a number or literal has ended where this byte stands. */
export function endsScalar(byte: number | undefined): boolean {
  return byte === 0x2c || byte === 0x7d || byte === 0x5d || isWhitespace(byte)
}

/**
 * The bytes of one member's value in an object known to be valid JSON; null when there is none. Of members with the same
 * name the last counts, as it does for `JSON.parse`. `name` is ASCII. Shares memory with `bytes`.
 */
export function memberBytes(bytes: Buffer, name: string): Buffer | null {
  return findMember(bytes, name).last
}

/** Whether an object known to be valid JSON has a member of this ASCII name more than once. */
export function isTwice(bytes: Buffer, name: string): boolean {
  return findMember(bytes, name).count > 1
}

function findMember(bytes: Buffer, name: string): { last: Buffer | null; count: number } {
  const end = bytes.length
  const found: { last: Buffer | null; count: number } = { last: null, count: 0 }
  let position = bytes.indexOf(0x7b) + 1
  while (position > 0 && position < end) {
    position = skipWhitespace(bytes, position, end)
    if (bytes[position] !== quote) return found
    const keyEnd = stringEnd(bytes, position + 1, end)
    if (keyEnd < 0) return found
    const isNamed = isKey(bytes, position, keyEnd, name)
    // Behind the key and its colon.
    const start = skipWhitespace(bytes, skipWhitespace(bytes, keyEnd, end) + 1, end)
    const after = valueEnd(bytes, start, end)
    if (isNamed) {
      found.last = bytes.subarray(start, after)
      found.count += 1
    }
    // Behind the value and its comma, if any.
    position = skipWhitespace(bytes, after, end) + 1
  }
  return found
}

function skipWhitespace(bytes: Uint8Array, from: number, end: number): number {
  let position = from
  while (position < end && isWhitespace(bytes[position])) position++
  return position
}

function isKey(bytes: Buffer, start: number, end: number, name: string): boolean {
  if (end - start - 2 === name.length && bytes.toString('latin1', start + 1, end - 1) === name) return true
  if (end - start - 2 <= name.length || !bytes.subarray(start, end).includes(backslash)) return false
  return JSON.parse(bytes.toString('utf8', start, end)) === name
}
