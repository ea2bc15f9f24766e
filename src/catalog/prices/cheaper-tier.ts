import { atTier, type Endpoint } from '../../canonical/endpoint.ts'
import { priceUnits, type Price } from '../../canonical/usage.ts'

/** The tier under which an endpoint has the prices of its provider's batch service. */
export const batchTier = 'batch'

/**
 * The endpoint at the prices of a service tier that is cheaper than its usual one: no unit costs more there, and one costs
 * less. Null for any other tier: one without a stated price, and one that only has a name of its own.
 */
export function atCheaperTier(endpoint: Endpoint, tier: string): Endpoint | null {
  const tiered = atTier(endpoint, tier)
  return tiered !== endpoint && endpoint.isPriced && isCheaper(tiered.price, endpoint.price) ? tiered : null
}

function isCheaper(price: Price, usual: Price): boolean {
  let isLess = false
  for (const unit of priceUnits) {
    const usualAmount = usual[unit]
    if (usualAmount === undefined) continue
    const amount = price[unit]
    if (amount === undefined || amount > usualAmount) return false
    if (amount < usualAmount) isLess = true
  }
  return isLess
}
