import type { Endpoint } from '../canonical/endpoint.ts'

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
