import { z } from 'zod'
import type { TextCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { memberValue } from '../json/document.ts'

// The contract's, and `on_demand`, by which the own clients of a provider call the usual tier.
const tiers = ['auto', 'default', 'fast', 'flex', 'priority', 'scale', 'on_demand'] as const

/** What callers of chat completions and responses may ask for; those of messages have other words. */
export const serviceTierSchema = z
  .enum(tiers)
  .nullish()
  .describe('Which tier of service to be served at; `flex` leaves only endpoints that have it.')

const knownTiers: ReadonlySet<unknown> = new Set([...tiers, null])

/** Whether the schema surely takes the value. */
export const isServiceTier = (value: unknown): boolean => knownTiers.has(value)

/** Whether the caller asks for a tier and no other, of which these names of dropped members say that it cannot be asked for. */
export function isTierMissing(
  { document }: Pick<TextCall, 'document'>,
  dropped: readonly string[] = [],
): boolean {
  return dropped.includes('service_tier') && memberValue(document, 'service_tier') === 'flex'
}

/** Tiers that the formats of OpenAI name otherwise than a provider did. */
const openAiNames: Readonly<Record<string, string>> = { standard: 'default', batch: 'default' }
/** Tiers that messages have, and those of others that are one of them. */
const messagesNames: Readonly<Record<string, string>> = {
  standard: 'standard',
  priority: 'priority',
  batch: 'batch',
  default: 'standard',
  auto: 'standard',
}

/** The tier that served a call, in the words of chat completions and responses. */
export function openAiTierOf(tier: string | null): string | null {
  return tier === null ? null : (openAiNames[tier] ?? tier)
}

/** The same in the words of messages, whose clients know no others; null where none of them is meant. */
export function messagesTierOf(tier: string | null): string | null {
  return tier === null ? null : (messagesNames[tier] ?? null)
}

/** Other names that callers have for a tier. */
const alias: Readonly<Record<string, string>> = { fast: 'priority' }

/**
 * The tier that a provider may be asked for: one that costs what its usual one does, or one whose price is stated. Null for any
 * other, because serving it would bill it wrongly.
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
