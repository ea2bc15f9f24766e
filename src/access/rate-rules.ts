import type { Rates } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'
import { batchesPerMinuteDefault } from '../core/limits/access.ts'
import { parseObject } from './stored-json.ts'

/** No limit of its own. */
export const unlimitedRates: Rates = Object.freeze({ requestsPerMinute: null, batchesPerMinute: null })

/** What an organization has that states nothing. */
export const organizationRates: Rates = Object.freeze({
  requestsPerMinute: null,
  batchesPerMinute: batchesPerMinuteDefault,
})

const members = ['requests_per_minute', 'batches_per_minute']
const rateMax = 1_000_000

/**
 * Rates as they are stored and sent. Null is unlimited; an absent member keeps `fallback`'s value. Throws
 * `invalid_request` that names the member.
 */
export function parseRates(value: unknown, fallback: Rates = unlimitedRates): Rates {
  const rates = parseObject(value, 'rates', members)
  return Object.freeze({
    requestsPerMinute: rate(rates, 'requests_per_minute', fallback.requestsPerMinute),
    batchesPerMinute: rate(rates, 'batches_per_minute', fallback.batchesPerMinute),
  })
}

/** As `parseRates`, with the default of organizations. */
export function parseOrganizationRates(value: unknown): Rates {
  return parseRates(value, organizationRates)
}

/** The stored form. */
export function renderRates({ requestsPerMinute, batchesPerMinute }: Rates): string {
  return JSON.stringify({ requests_per_minute: requestsPerMinute, batches_per_minute: batchesPerMinute })
}

function rate(rates: Record<string, unknown>, member: string, fallback: number | null): number | null {
  const value = rates[member]
  if (value === undefined) return fallback
  if (value === null) return null
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= rateMax) return value
  throw new GatewayError(
    'invalid_request',
    `rates.${member} must be null or a whole number from 1 to ${rateMax}.`,
    {
      param: `rates.${member}`,
    },
  )
}
