import { exactJsonLengthMax } from '../core/limits/text.ts'

declare global {
  /** Of the runtime, and not yet in the compiler's library. */
  interface JSON {
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

/** What such a number looks like: it has many digits or a large exponent, or is a zero with a sign. */
const suspicious = /[[:,\s]-?(?:\d[\d.]{15}|\d+(?:\.\d+)?[eE][+-]?\d{3}|0(?:\.0+)?[\s,\]}])/

/** `JSON.parse` with its one argument. */
export const parsePlainly = (json: string): unknown => JSON.parse(json)

/**
 * As `JSON.parse`, and a number that JavaScript cannot hold stays as it was written: it is an object of the runtime's own
 * kind, which `JSON.stringify` writes digit by digit and with which nobody can calculate by mistake. For what goes on to
 * another format, such as the input of a tool; never for what is counted. Beyond a length all numbers are ordinary ones,
 * because to look at each value takes ten times as long.
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

/** The value with ordinary numbers, for whoever must compare them. */
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

/** The same text for all ways of writing one number. */
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
