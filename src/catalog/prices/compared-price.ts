import type { Endpoint } from '../../canonical/endpoint.ts'
import { modalityRow } from '../../canonical/operation.ts'
import { priceUnits } from '../../canonical/usage.ts'

const cache = new WeakMap<Endpoint, { price: number | null }>()

/**
 * One number by which to compare endpoints of the same modality, in nanocredits per million units; null when the price
 * is unknown. For ordering only, never for money: it is a float, and mixes several units.
 */
export function comparedPrice(endpoint: Endpoint): number | null {
  const known = cache.get(endpoint)
  if (known) return known.price
  const price = compute(endpoint)
  cache.set(endpoint, { price })
  return price
}

function compute({ modality, price, isPriced }: Endpoint): number | null {
  if (!isPriced) return null
  return modalityRow(modality).comparedPrice(price)
}

/** Whether every stated price of the endpoint is zero. */
export function isFree({ isPriced, price }: Endpoint): boolean {
  return isPriced && priceUnits.every((unit) => (price[unit] ?? 0n) === 0n)
}
