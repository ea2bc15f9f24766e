import type { MediaTokens, ShownCharge } from '../../../canonical/upstream.ts'
import { noUsage, type Usage } from '../../../canonical/usage.ts'
import { parseCredits } from '../../../core/money.ts'
import { settleCounts } from '../token-counts.ts'
import { isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { showCacheCreation, showCharge } from '../shown-charge.ts'
import { type CacheWrites, readCacheWrites, readProviderCalls } from '../usage-readers.ts'

/** A provider's counts as the meter reads them, with the detail objects for the caller. */
export interface ReadUsage {
  usage: Usage
  promptDetails: Readonly<Record<string, number>>
  completionDetails: Readonly<Record<string, number>>
  reportedCostNanocredits: bigint | null
  /** The searches and tools that the provider ran itself, if it counts them; otherwise 0. */
  providerCalls: number
}

/** Where a provider's counts differ from OpenAI's. */
export interface UsageQuirks {
  reasoningNotCounted: boolean
}

/**
 * Reads a chat usage object, known misspellings included. Null when it is missing or absurd (negative, fractional,
 * beyond any context); the amount is then estimated, never taken as zero. `breakdown` is an object of some hosts beside
 * it, with an entry for each time they asked a model.
 */
export function readChatUsage(wire: unknown, quirks: UsageQuirks, breakdown?: unknown): ReadUsage | null {
  if (!isRecord(wire)) return null
  const input = tokenCountOrNull(wire['prompt_tokens'])
  const output = tokenCountOrNull(wire['completion_tokens'])
  if (input === null || output === null) return null
  const promptDetails = readCounts(wire['prompt_tokens_details'] ?? wire['prompt_token_details'])
  const completionDetails = readCounts(wire['completion_tokens_details'])
  const writes = readWrites(wire, promptDetails)
  const counts = settleCounts(
    {
      input,
      output,
      total: tokenCountOrNull(wire['total_tokens']),
      cached:
        promptDetails['cached_tokens'] ??
        tokenCountOrNull(wire['prompt_cache_hit_tokens']) ??
        tokenCountOrNull(wire['num_cached_tokens']) ??
        tokenCountOrNull(wire['cached_tokens']) ??
        0,
      written: writes.written,
      inputAudio: promptDetails['audio_tokens'] ?? 0,
      reasoning: completionDetails['reasoning_tokens'] ?? 0,
      outputAudio: completionDetails['audio_tokens'] ?? 0,
    },
    {
      isReasoningApart: quirks.reasoningNotCounted,
      // Mistral's models for sound count the tokens of the sound only in the sum.
      isAudioHeard: (tokenCountOrNull(wire['prompt_audio_seconds']) ?? 0) > 0,
    },
  )
  show(promptDetails, 'cached_tokens', counts.cached)
  show(promptDetails, 'cache_write_tokens', counts.written)
  show(promptDetails, 'audio_tokens', counts.inputAudio)
  show(completionDetails, 'reasoning_tokens', counts.reasoning)
  show(completionDetails, 'audio_tokens', counts.outputAudio)
  return {
    promptDetails,
    completionDetails,
    reportedCostNanocredits: readCost(wire['estimated_cost']),
    providerCalls: Math.max(readProviderCalls(wire), roundsTold(breakdown)),
    usage: {
      ...noUsage,
      inputTokens: counts.input,
      cachedInputTokens: counts.cached,
      cacheWriteTokens: counts.written,
      cacheWriteHourTokens: Math.min(writes.hour, counts.written),
      inputAudioTokens: counts.inputAudio,
      outputTokens: counts.output,
      reasoningTokens: counts.reasoning,
      outputAudioTokens: counts.outputAudio,
    },
  }
}

/** Each entry is one request to a model. */
function roundsTold(breakdown: unknown): number {
  const models = isRecord(breakdown) ? breakdown['models'] : null
  return Array.isArray(models) ? models.length : 0
}

/**
 * Tokens written to the cache, as OpenRouter names them, or LiteLLM for the providers behind it. OpenRouter divides
 * them beside the sum, LiteLLM within the details.
 */
function readWrites(
  wire: Readonly<Record<string, unknown>>,
  details: Readonly<Record<string, number>>,
): CacheWrites {
  const nested = wire['prompt_tokens_details']
  const division = isRecord(nested) ? nested['cache_creation_token_details'] : undefined
  const sum = details['cache_write_tokens'] ?? details['cache_creation_tokens'] ?? null
  return readCacheWrites(sum, wire['cache_creation'] ?? division)
}

/** Sets a detail to the billed count, when the provider sent the detail or the gateway worked it out. */
function show(details: Record<string, number>, name: string, count: number): void {
  if (count > 0 || details[name] !== undefined) details[name] = count
}

/** The counts that a sum over answers shows besides the billed usage. */
export function mediaTokensOf({ promptDetails, completionDetails }: ReadUsage): MediaTokens | null {
  const { file_tokens: file = 0, video_tokens: video = 0 } = promptDetails
  const { image_tokens: image = 0 } = completionDetails
  if (file + video + image === 0) return null
  return {
    ...(file > 0 ? { file_tokens: file } : {}),
    ...(video > 0 ? { video_tokens: video } : {}),
    ...(image > 0 ? { image_tokens: image } : {}),
  }
}

/** Null and invalid counts are left out, as the contract requires. */
function readCounts(wire: unknown): Record<string, number> {
  const counts: Record<string, number> = {}
  if (!isRecord(wire)) return counts
  for (const [name, value] of Object.entries(wire)) {
    const count = tokenCountOrNull(value)
    if (count !== null) counts[name] = count
  }
  return counts
}

function readCost(value: unknown): bigint | null {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return null
  try {
    return parseCredits(value)
  } catch {
    return null
  }
}

/**
 * The caller's `usage` object: the provider's counts if they were billed, otherwise the billed counts, and the charge.
 */
export function showChatUsage(reported: ReadUsage | null, charge: ShownCharge): Record<string, unknown> {
  const read = charge.isEstimated ? null : reported
  const usage = read?.usage ?? charge.usage
  const promptDetails: Record<string, number> = { cached_tokens: usage.cachedInputTokens }
  const completionDetails: Record<string, number> = { reasoning_tokens: usage.reasoningTokens }
  if (read !== null) {
    Object.assign(promptDetails, read.promptDetails)
    Object.assign(completionDetails, read.completionDetails)
  }
  if (usage.cacheWriteTokens > 0) promptDetails['cache_write_tokens'] = usage.cacheWriteTokens
  if (usage.inputAudioTokens > 0) promptDetails['audio_tokens'] = usage.inputAudioTokens
  const shown: Record<string, unknown> = {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: promptDetails,
    completion_tokens_details: completionDetails,
  }
  if (usage.cacheWriteHourTokens > 0) shown['cache_creation'] = showCacheCreation(usage)
  return Object.assign(shown, showCharge(charge))
}
