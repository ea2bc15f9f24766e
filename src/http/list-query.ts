import { fieldError } from '../core/errors.ts'

/** The most values of one filter. */
const filterValuesMax = 50
/** Characters of one value. */
const filterValueLengthMax = 512

/** The values of a parameter that may stand several times, or have commas. Throws `invalid_request` for too many. */
export function valuesOf(query: URLSearchParams, name: string): string[] {
  const values = query
    .getAll(name)
    .flatMap((text) => text.split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '')
  if (values.length > filterValuesMax)
    throw fieldError(name, `has ${values.length} values; name at most ${filterValuesMax}.`)
  const long = values.find((value) => value.length > filterValueLengthMax)
  if (long !== undefined)
    throw fieldError(name, `has a value of more than ${filterValueLengthMax} characters.`)
  return values
}

/** The same for values of a fixed set. */
export function choicesOf<T extends string>(
  query: URLSearchParams,
  name: string,
  allowed: readonly T[],
): readonly T[] {
  return valuesOf(query, name).map((value) => {
    const found = allowed.find((one) => one === value)
    if (found === undefined)
      throw fieldError(
        name,
        allowed.length === 1 ? `must be ${allowed[0]}.` : `must be one of ${allowed.join(', ')}.`,
      )
    return found
  })
}

/** One value of a fixed set; `usual` where there is none. */
export function choiceOf<T extends string>(
  query: URLSearchParams,
  name: string,
  allowed: readonly T[],
  usual: T,
): T {
  const values = choicesOf(query, name, allowed)
  if (values.length > 1) throw fieldError(name, `takes one value, of ${allowed.join(', ')}.`)
  return values[0] ?? usual
}

/** One text, or null. It may have commas. */
export function textOf(query: URLSearchParams, name: string): string | null {
  const text = query.get(name)
  if (text === null || text === '') return null
  if (text.length > filterValueLengthMax)
    throw fieldError(name, `must have at most ${filterValueLengthMax} characters.`)
  return text
}

/** A whole number between two others; `usual` where there is none. */
export function wholeOf(
  query: URLSearchParams,
  name: string,
  { min, max, usual }: { min: number; max: number; usual: number },
): number {
  const text = query.get(name)
  if (text === null || text === '') return usual
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw fieldError(name, `must be a whole number from ${min} to ${max}.`)
  return value
}

/** A time: ISO 8601, or Unix milliseconds; null where there is none. */
export function timeOf(query: URLSearchParams, name: string): number | null {
  const text = query.get(name)
  if (text === null || text === '') return null
  const atMs = /^\d{10,15}$/.test(text) ? Number(text) : Date.parse(text)
  if (!Number.isFinite(atMs) || atMs < 0 || atMs > latestMs)
    throw fieldError(name, 'must be a time as ISO 8601, such as 2026-11-24T14:00:00Z, or Unix milliseconds.')
  return atMs
}

/** The year 2100. */
const latestMs = 4_102_444_800_000

/** A span of time; `to` is now, and `from` the usual length before it, where they are not given. */
export function spanOf(
  query: URLSearchParams,
  { nowMs, usualMs }: { nowMs: number; usualMs: number },
): { fromMs: number; toMs: number } {
  const toMs = timeOf(query, 'to') ?? nowMs
  const fromMs = timeOf(query, 'from') ?? Math.max(0, toMs - usualMs)
  if (fromMs >= toMs) throw fieldError('from', 'must be before "to".')
  return { fromMs, toMs }
}
