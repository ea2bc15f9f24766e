import type { Endpoint } from '../canonical/endpoint.ts'
import { priceUnits } from '../canonical/usage.ts'

/** Three parts of input to one of output: what chat traffic looks like, so that one number compares two price lists. */
const inputShare = 3
const outputShare = 1

const cache = new WeakMap<Endpoint, { price: number | null }>()

/**
 * One number to compare endpoints of the same modality by, in nanocredits per million units; null when the price is
 * unknown. For ordering only, never for money: it is a float and a mixture.
 */
export function effectivePrice(endpoint: Endpoint): number | null {
  const known = cache.get(endpoint)
  if (known) return known.price
  const price = compute(endpoint)
  cache.set(endpoint, { price })
  return price
}

function compute({ modality, price, isPriced }: Endpoint): number | null {
  if (!isPriced) return null
  const input = Number(price.inputToken ?? 0n)
  switch (modality) {
    case 'language':
      return (inputShare * input + outputShare * Number(price.outputToken ?? 0n)) / (inputShare + outputShare)
    case 'embedding':
      return input
    case 'transcription':
      return Number(price.audioHour ?? price.inputAudioToken ?? price.inputToken ?? 0n)
    case 'speech':
      return Number(price.character ?? price.utf8Byte ?? price.outputAudioToken ?? price.audioHour ?? 0n)
  }
}

/** Whether every stated price of the endpoint is zero. */
export function isFree({ isPriced, price }: Endpoint): boolean {
  return isPriced && priceUnits.every((unit) => (price[unit] ?? 0n) === 0n)
}
