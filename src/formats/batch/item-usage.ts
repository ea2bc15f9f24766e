import type { MediaTokens } from '../../canonical/upstream.ts'
import type { Usage } from '../../canonical/usage.ts'
import { toCredits } from '../../core/money.ts'
import { showCacheCreation, showCostDetails } from '../text/shown-charge.ts'
import type { BatchUsage } from './batch-usage.ts'

/** What an item used and what it was charged. */
export interface ItemCharge {
  usage: Usage
  /** Null when no price was known. */
  costNanocredits: bigint | null
  promptNanocredits: bigint
  completionNanocredits: bigint
  serviceTier: string | null
  mediaTokens: MediaTokens | null
}

/** An item's part of its batch's usage object. */
export function itemUsage(charge: ItemCharge): BatchUsage {
  const { usage, costNanocredits: cost, serviceTier } = charge
  const { image_tokens: image, ...read } = charge.mediaTokens ?? {}
  const creation = showCacheCreation(usage)
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      audio_tokens: usage.inputAudioTokens,
      ...(usage.cacheWriteTokens > 0 ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
      ...read,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.outputAudioTokens,
      ...(image === undefined ? {} : { image_tokens: image }),
    },
    cost: cost === null ? null : toCredits(cost),
    cost_details: showCostDetails(charge),
    is_byok: false,
    ...(creation === null ? {} : { cache_creation: { ...creation } }),
    ...(serviceTier === null ? {} : { service_tier: serviceTier }),
  }
}
