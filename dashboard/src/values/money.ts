/**
 * Money as the console shows it. An amount is a bigint of whole nanocredits; one credit is one US dollar. Nothing here
 * calculates with floats: a number of the API is read by its decimal digits.
 */
export const nanocreditsPerCredit = 1_000_000_000n
const decimals = 9

/** A decimal as `"12.5"`, `1.05e-5` or `"-0.25"`; digits beyond the ninth decimal are cut. Null when it is no number. */
export function parseCredits(value: string | number | null | undefined): bigint | null {
  if (value === null || value === undefined) return null
  const match = /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(String(value).trim())
  if (match === null) return null
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  if (whole === '' && fraction === '') return null
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const padded = point < 0 ? '0'.repeat(-point) + digits : digits
  const start = Math.max(point, 0)
  const units = padded.slice(0, start).padEnd(start, '0') || '0'
  const rest = padded.slice(start, start + decimals).padEnd(decimals, '0')
  const amount = BigInt(units) * nanocreditsPerCredit + BigInt(rest)
  return sign === '-' ? -amount : amount
}

/** A string of whole nanocredits, as the API has them below `/headrace`. */
export function parseNanocredits(value: string | null | undefined): bigint | null {
  return value !== null && value !== undefined && /^-?\d+$/.test(value) ? BigInt(value) : null
}

/** Every digit, without trailing zeros: `0.0000105`. For hover, copying and files. */
export function exactCredits(amount: bigint): string {
  const { sign, units, rest } = split(amount)
  const fraction = rest.replace(/0+$/, '')
  return `${sign}${units}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * An amount for people: from one credit on two decimals; below it four significant digits; below a millionth every
 * digit. What is not zero never looks like zero.
 */
export function formatMoney(amount: bigint): string {
  const { sign, units, rest } = split(amount)
  if (amount === 0n) return '$0.00'
  const size = amount < 0n ? -amount : amount
  if (size >= nanocreditsPerCredit) {
    const cents = (size + 5_000_000n) / 10_000_000n
    return `${sign}$${grouped(cents / 100n)}.${String(cents % 100n).padStart(2, '0')}`
  }
  if (size < 1000n) return `${sign}$${exactCredits(size)}`
  return `${sign}$${significant(units, rest)}`
}

/** Every digit, and at least two decimals: for amounts that people add up. */
export function formatWhole(amount: bigint): string {
  const { sign, units, rest } = split(amount)
  return `${sign}$${grouped(BigInt(units))}.${rest.replace(/0+$/, '').padEnd(2, '0')}`
}

const significantDigits = 4

function significant(units: string, rest: string): string {
  const first = rest.search(/[1-9]/)
  const kept = Math.min(first + significantDigits, decimals)
  const scale = 10n ** BigInt(decimals - kept)
  const rounded = (BigInt(rest) + scale / 2n) / scale
  const text = String(rounded).padStart(kept, '0')
  // Rounding may carry into the unit: 0.99996 is 1.00.
  if (text.length > kept) return '1.00'
  const fraction = text.replace(/0+$/, '').padEnd(2, '0')
  return `${units}.${fraction}`
}

/** The amount with a fixed number of decimals for the ticks of an axis. */
export function formatAxisMoney(credits: number): string {
  if (credits === 0) return '$0'
  if (credits >= 1000) return `$${compactNumber(credits)}`
  if (credits >= 1) return `$${trimZeros(credits.toFixed(2))}`
  return `$${trimZeros(credits.toPrecision(2).includes('e') ? credits.toFixed(9) : credits.toPrecision(2))}`
}

/** For bars and axes only, where a pixel is coarser than a float. */
export function toFloat(amount: bigint): number {
  return Number(amount) / Number(nanocreditsPerCredit)
}

/** A price for each token or second as a price for a million, an hour or one of it. */
export function pricePer(value: string | undefined, quantity: bigint): string | null {
  const match = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/i.exec(value ?? '')
  if (match === null) return null
  const [, whole = '0', fraction = '', exponent = '0'] = match
  const scale = 10n ** BigInt(fraction.length + Number(exponent))
  const product = BigInt(whole + fraction) * quantity * nanocreditsPerCredit
  return product === 0n ? null : formatMoney(product / scale)
}

export function formatCount(value: number): string {
  return value.toLocaleString('en-US')
}

/** 1,234 as it is; 12.3k, 4.5M from five digits on. */
export function compactNumber(value: number): string {
  if (Math.abs(value) < 10_000) return formatCount(Math.round(value))
  return Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
    .format(value)
    .replace('K', 'k')
}

const byteUnits = ['B', 'kB', 'MB', 'GB'] as const

/** Decimal units, as the limits of the API are stated. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < byteUnits.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toPrecision(3)} ${byteUnits[unit]}`
}

function split(amount: bigint): { sign: string; units: string; rest: string } {
  const size = amount < 0n ? -amount : amount
  return {
    sign: amount < 0n ? '−' : '',
    units: String(size / nanocreditsPerCredit),
    rest: String(size % nanocreditsPerCredit).padStart(decimals, '0'),
  }
}

function grouped(units: bigint): string {
  return units.toLocaleString('en-US')
}

function trimZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
