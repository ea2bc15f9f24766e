import { retryAfterMsMax } from '../core/limits/text.ts'

/** The provider's own wait in milliseconds, bounded; null when it named none or nonsense. */
export function readRetryAfter(headers: Headers): number | null {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact) && exact >= 0) return bounded(exact)
  return waitOf(headers.get('retry-after') ?? '', headers)
}

/**
 * When the limit that refused a request begins anew, in milliseconds and bounded, by the headers of the limits of which
 * nothing remains; null where none says so. Several are waited for together. Providers name them
 * `x-ratelimit-reset-requests`, `anthropic-ratelimit-tokens-reset` and the like.
 */
export function readLimitReset(headers: Headers): number | null {
  let longestMs: number | null = null
  for (const [name, value] of headers) {
    if (!remainingPattern.test(name) || Number(value) > 0 || value.trim() === '') continue
    const waitMs = waitOf(headers.get(name.replace('-remaining', '-reset')) ?? '', headers)
    if (waitMs !== null) longestMs = Math.max(longestMs ?? 0, waitMs)
  }
  return longestMs
}

const remainingPattern = /ratelimit(?:-[a-z-]+)?-remaining(?:-|$)/

/** A duration such as `6m0s`, seconds, seconds since 1970, or a date. */
function waitOf(given: string, headers: Headers): number | null {
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
/** No limit lasts for thirty years: more are seconds since 1970. */
const epochSecondsMin = 1_000_000_000

/** A moment is measured against the provider's own clock, which the answer carries. */
function untilMs(momentMs: number, headers: Headers): number | null {
  const waitMs = momentMs - Date.parse(headers.get('date') ?? '')
  return Number.isFinite(waitMs) && waitMs >= 0 ? bounded(waitMs) : null
}

function bounded(waitMs: number): number {
  return Math.min(Math.ceil(waitMs), retryAfterMsMax)
}
