import type { ResponseHeaders } from '../canonical/upstream.ts'
import { retryAfterMsMax } from '../core/limits/text.ts'

/** The wait that the provider names, in milliseconds and bounded; null when it names none or an invalid one. */
export function readRetryAfter(headers: ResponseHeaders): number | null {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return bounded(exact)
  return waitOf(headers.get('retry-after') ?? '', headers)
}

/**
 * The time until an exhausted limit starts anew, in milliseconds and bounded: the longest among the limits whose
 * headers say that nothing remains; null when no header says when. Providers name such headers
 * `x-ratelimit-reset-requests`, `anthropic-ratelimit-tokens-reset` and the like.
 */
export function readLimitReset(headers: ResponseHeaders): number | null {
  if (headers.hasZero === false) return null
  let longestMs: number | null = null
  for (const [name, value] of headers) {
    // Anything but a plain zero, such as -1 or `unlimited`, does not say that nothing remains.
    if (!remainingPattern.test(name) || !zeroPattern.test(value)) continue
    const waitMs = waitOf(headers.get(name.replace('-remaining', '-reset')) ?? '', headers)
    if (waitMs !== null) longestMs = Math.max(longestMs ?? 0, waitMs)
  }
  return longestMs
}

const zeroPattern = /^\s*0+(?:\.0+)?\s*$/
const remainingPattern = /ratelimit(?:-[a-z-]+)?-remaining(?:-|$)/

/** A duration such as `6m0s`, seconds, seconds since 1970, or a date. */
function waitOf(given: string, headers: ResponseHeaders): number | null {
  const text = given.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const seconds = Number(text)
    return seconds > epochSecondsMin ? untilMs(seconds * 1000, headers) : bounded(seconds * 1000)
  }
  const duration = durationPattern.exec(text)
  if (duration !== null && text !== '') {
    const [, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = duration
    return bounded(
      Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(milliseconds),
    )
  }
  return untilMs(Date.parse(text), headers)
}

const durationPattern = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/
/** No limit lasts thirty years, so larger numbers are seconds since 1970. */
const epochSecondsMin = 1_000_000_000

/** The wait is measured from the provider's own clock, which the answer's `date` header has. */
function untilMs(momentMs: number, headers: ResponseHeaders): number | null {
  const waitMs = momentMs - Date.parse(headers.get('date') ?? '')
  return Number.isFinite(waitMs) && waitMs >= 0 ? bounded(waitMs) : null
}

function bounded(waitMs: number): number {
  return Math.min(Math.ceil(waitMs), retryAfterMsMax)
}
