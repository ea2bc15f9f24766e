import type { Rates } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'

/** Batch creations per minute of an organization that has no limit of its own. */
const batchesPerMinuteDefault = 60
import { parseObject } from './stored-json.ts'

/** Rates without any limit. */
export const unlimitedRates: Rates = Object.freeze({
  requestsPerMinute: null,
  batchesPerMinute: null,
  tokensPerMinute: null,
})

/** The rates of an organization that states none. */
export const organizationRates: Rates = Object.freeze({
  requestsPerMinute: null,
  batchesPerMinute: batchesPerMinuteDefault,
  tokensPerMinute: null,
})

/** The highest value that each rate may have. */
export const rateMax = {
  requests_per_minute: 1_000_000,
  batches_per_minute: 1_000_000,
  tokens_per_minute: 1_000_000_000,
} as const
type RateMember = keyof typeof rateMax

/**
 * Rates as they are stored and sent. Null is unlimited; an absent member keeps `fallback`'s value. Throws
 * `invalid_request` that names the member.
 */
export function parseRates(value: unknown, fallback: Rates = unlimitedRates): Rates {
  const rates = parseObject(value, 'rates', Object.keys(rateMax))
  return Object.freeze({
    requestsPerMinute: rate(rates, 'requests_per_minute', fallback.requestsPerMinute),
    batchesPerMinute: rate(rates, 'batches_per_minute', fallback.batchesPerMinute),
    tokensPerMinute: rate(rates, 'tokens_per_minute', fallback.tokensPerMinute),
  })
}

/** As `parseRates`, with the default of organizations. */
export function parseOrganizationRates(value: unknown): Rates {
  return parseRates(value, organizationRates)
}

/** The stored form. */
export function renderRates({ requestsPerMinute, batchesPerMinute, tokensPerMinute }: Rates): string {
  return JSON.stringify({
    requests_per_minute: requestsPerMinute,
    batches_per_minute: batchesPerMinute,
    // Programs of the previous version refuse an unknown member, so it is written only when it is set.
    ...(tokensPerMinute === null ? {} : { tokens_per_minute: tokensPerMinute }),
  })
}

function rate(rates: Record<string, unknown>, member: RateMember, fallback: number | null): number | null {
  const value = rates[member]
  const most = rateMax[member]
  if (value === undefined) return fallback
  if (value === null) return null
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new GatewayError(
    'invalid_request',
    `rates.${member} must be null or a whole number from 1 to ${most}.`,
    {
      param: `rates.${member}`,
    },
  )
}
