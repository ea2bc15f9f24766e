// Each file defines constants for the bytes that it needs. Bun inlines these, but loads and checks an imported constant
// at every use, which makes loops over bytes up to twice as slow.
const comma = 0x2c
const colon = 0x3a
const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d

/** The same memory as a Buffer, for its native searches and conversions. */
export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Whether this byte is white space between the tokens of JSON. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Whether this byte can belong to a number, `true`, `false` or `null`, or to an invalid token in such a place. */
export function isTokenByte(byte: number): boolean {
  return (
    byte > 0x20 &&
    byte !== comma &&
    byte !== colon &&
    byte !== quote &&
    (byte | 0x20) !== openBrace &&
    (byte | 0x20) !== closeBrace
  )
}

/** The bytes written as base64, in ASCII. */
export function toBase64(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('base64'), 'latin1')
}

/** Whether this byte is one of the digits from 0 to 9. */
export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

/** Whether this byte is a hexadecimal digit, of either case. */
export function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66)
}

const escapable = new Uint8Array(256)
for (const byte of Buffer.from('"\\/bfnrt')) escapable[byte] = 1

/** Whether this byte may follow a backslash in a two-character escape; `u`, which needs four digits, does not count. */
export function isSimpleEscape(byte: number): boolean {
  return escapable[byte] === 1
}

/** The length of a byte order mark of UTF-8 at the beginning, 0 without one; editors on Windows write it. */
export function markLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}
