/**
 * Numbers that JavaScript cannot hold are preserved in JSON texts up to this length; there each value costs a fifth of
 * a microsecond.
 */
export const exactJsonLengthMax = 524_288
/** Counts of tokens beyond this are absurd and treated as not reported. */
const tokenCountMax = 1_000_000_000

// Every reader takes a parsed value of unknown kind. Its name says what it returns for a value of another kind:
// `…OrNull` returns null, `…OrEmpty` an empty value, `…OrZero` the number 0. None of them throws.

/** An object of an answer or a request, with unknown members. */
export type WireRecord = Readonly<Record<string, unknown>>

/** True for a JSON object, not for null or a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is an object, otherwise null. */
export function recordOrNull(value: unknown): WireRecord | null {
  return isRecord(value) ? value : null
}

/** The object, so that optional members can be read without a ladder of checks. */
export function recordOrEmpty(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

/** The value if it is a list, otherwise an empty list. */
export function listOrEmpty(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The objects of a list; its other elements are left out. */
export function recordsOrEmpty(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** The texts of a list; its other elements are left out. */
export function textsOrEmpty(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** The text, which may be empty. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The text if it has at least one character; null for an empty one. */
export function filledTextOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The value if it is a text, otherwise an empty text. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The text; any other value as JSON; empty for `undefined`. */
export function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The number. It is infinite when the JSON has one beyond the largest double. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** The value if it is a finite number, otherwise null. */
export function finiteNumberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The value if it is a finite number, otherwise 0. */
export function numberOrZero(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}

/** The whole number, at least 0 and small enough for JavaScript to hold exactly. */
export function countOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** Whether the value is a whole number from 0, such as the number of a token. */
export function isWholeNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

/** The whole number from 0 to the most tokens that a call can have. */
export function tokenCountOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= tokenCountMax
    ? value
    : null
}

/** The value if it is a boolean, otherwise null. */
export function booleanOrNull(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

/** The type of a tool or of a part of a message, for an error; it may be any value that the caller wrote. */
export function typeNameOf({ type }: WireRecord): string {
  return textOrJson(type)
}

declare global {
  /** The runtime has these; the compiler's library does not yet. */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

/** Matches such numbers: many digits, a large exponent, or a zero with a minus. */
const suspicious = /[[:,\s](?:-?(?:\d[\d.]{15}|\d+(?:\.\d+)?[eE][+-]?\d{3})|-0(?:\.0+)?[\s,\]}])/

/** `JSON.parse` with its one argument. */
export const parsePlainly = (json: string): unknown => JSON.parse(json)

/**
 * Like `JSON.parse`, but a number that JavaScript cannot hold stays an object of the runtime: `JSON.stringify` writes
 * it with all digits, and code cannot calculate with it by mistake. For values that go on to another format, such as
 * the input of a tool; never for counts. Above a length all numbers are ordinary, because checking each value takes ten
 * times as long.
 */
export function parseExactly(json: string): unknown {
  return json.length <= exactJsonLengthMax && suspicious.test(json)
    ? JSON.parse(json, keepNumber)
    : JSON.parse(json)
}

/** Whether a parsed value is such a number. */
export function isKeptNumber(value: unknown): boolean {
  return JSON.isRawJSON(value)
}

/** The value with ordinary numbers, for comparisons. */
export function withPlainNumbers<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

function keepNumber(
  this: unknown,
  _name: string,
  value: unknown,
  { source }: { source?: string } = {},
): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  const isHeld =
    !Object.is(value, -0) && Number.isFinite(value) && digitsOf(source) === digitsOf(String(value))
  return isHeld ? value : JSON.rawJSON(source)
}

const zero = 0x30
const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** The same text for all spellings of one number. */
function digitsOf(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = numberParts.exec(number) ?? []
  const digits = whole + fraction
  let start = 0
  let end = digits.length
  while (start < end && digits.charCodeAt(start) === zero) start += 1
  while (end > start && digits.charCodeAt(end - 1) === zero) end -= 1
  const power = Number(exponent) - fraction.length + digits.length - end
  return start === end ? '0' : `${sign}${digits.slice(start, end)}e${power}`
}
