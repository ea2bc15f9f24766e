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
