import { z } from 'zod'
import type { TextCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { memberValue } from '../json/document.ts'

// The contract's tiers, and `on_demand`, the name that one provider's own clients use for the usual tier.
const tiers = ['auto', 'default', 'fast', 'flex', 'priority', 'scale', 'on_demand'] as const

/** The tiers that callers of chat completions and responses may ask for; messages has other names. */
export const serviceTierSchema = z
  .enum(tiers)
  .nullish()
  .describe('Which tier of service to be served at; `flex` leaves only endpoints that have it.')

const knownTiers: ReadonlySet<unknown> = new Set([...tiers, null])

/** Whether the schema surely accepts the value. */
export const isServiceTier = (value: unknown): boolean => knownTiers.has(value)

/** Whether the caller asks for exactly the flex tier and the endpoint cannot be asked for it, as `dropped` shows. */
export function isTierMissing(
  { document }: Pick<TextCall, 'document'>,
  dropped: readonly string[] = [],
): boolean {
  return dropped.includes('service_tier') && memberValue(document, 'service_tier') === 'flex'
}

/** Tiers whose name in OpenAI's formats differs from the provider's. */
const openAiNames: Readonly<Record<string, string>> = { standard: 'default', batch: 'default' }
/** The tiers of messages, and tiers of other formats that mean the same. */
const messagesNames: Readonly<Record<string, string>> = {
  standard: 'standard',
  priority: 'priority',
  batch: 'batch',
  default: 'standard',
  auto: 'standard',
}

/** The tier that served a call, by its name in chat completions and responses. */
export function openAiTierOf(tier: string | null): string | null {
  return tier === null ? null : (openAiNames[tier] ?? tier)
}

/** The same tier by its name in messages, whose clients know no others; null when messages has no such tier. */
export function messagesTierOf(tier: string | null): string | null {
  return tier === null ? null : (messagesNames[tier] ?? null)
}

/** Other names that callers use for a tier. */
const alias: Readonly<Record<string, string>> = { fast: 'priority' }

/**
 * The tier to ask the provider for: one that costs the same as its usual tier, or one with a stated price. Null for any
 * other tier, because the call would be billed wrongly.
 */
export function tierToSend(
  asked: unknown,
  samePrice: readonly string[],
  { tierPrices }: Pick<Endpoint, 'tierPrices'>,
): string | null {
  if (typeof asked !== 'string') return null
  if (samePrice.includes(asked)) return asked
  const tier = alias[asked] ?? asked
  return tierPrices !== undefined && Object.hasOwn(tierPrices, tier) ? tier : null
}
