import type { ShownCharge } from '../../canonical/upstream.ts'
import type { Usage } from '../../canonical/usage.ts'
import { toCredits } from '../../core/money.ts'
import { writeDebug } from '../debug-options.ts'

/** The written tokens by lifetime; null when none were written. */
export function showCacheCreation({ cacheWriteTokens, cacheWriteHourTokens }: Usage): CacheCreation | null {
  if (cacheWriteTokens === 0) return null
  return {
    ephemeral_5m_input_tokens: cacheWriteTokens - cacheWriteHourTokens,
    ephemeral_1h_input_tokens: cacheWriteHourTokens,
  }
}

/** The charged credits; absent when no price is known, because some clients refuse null. */
export function showCost({ costNanocredits }: ShownCharge): { cost?: number } {
  return costNanocredits === null ? {} : { cost: toCredits(costNanocredits) }
}

/** The parts of a cost by the names of chat completions. The sum is null when no price is known. */
export function showCostDetails({
  costNanocredits,
  promptNanocredits,
  completionNanocredits,
}: Pick<ShownCharge, 'costNanocredits' | 'promptNanocredits' | 'completionNanocredits'>): CostDetails {
  return {
    upstream_inference_cost:
      costNanocredits === null ? null : toCredits(promptNanocredits + completionNanocredits),
    upstream_inference_prompt_cost: toCredits(promptNanocredits),
    upstream_inference_completions_cost: toCredits(completionNanocredits),
  }
}

/**
 * The members about money in the usage of chat completions, completions, embeddings and rerank. Responses name the
 * parts of the cost differently; messages show the cost alone.
 */
export function showCharge(charge: ShownCharge): Record<string, unknown> {
  const { costNanocredits, isByok } = charge
  const details = showCostDetails(charge)
  return costNanocredits === null
    ? { cost_details: details, is_byok: isByok }
    : { cost: toCredits(costNanocredits), cost_details: details, is_byok: isByok }
}

/** Whether an answer's last part has such members; nearly none has. */
export function hasMetadata({ metadata, debug }: ShownCharge): boolean {
  return metadata !== null || debug !== undefined
}

/**
 * The `headrace_metadata` and `debug` members of an answer's last part, if they are due. `lost` names parts of the
 * answer that the caller's format has no place for.
 */
export function showMetadata(charge: ShownCharge, lost: readonly string[] = []): Record<string, unknown> {
  const debug = charge.debug === undefined ? {} : { debug: writeDebug(charge.debug) }
  const metadata = lost.length === 0 ? charge.metadata : withLost(charge.metadata, lost)
  if (metadata === null) return debug
  return {
    ...debug,
    headrace_metadata: metadata,
    ...(charge.metadataAlias ? { openrouter_metadata: metadata } : {}),
  }
}

/** The tokens written to the cache, by the time for which they are kept. */
interface CacheCreation {
  ephemeral_5m_input_tokens: number
  ephemeral_1h_input_tokens: number
}

/** The cost of the prompt and of what was generated, in credits. */
type CostDetails = Record<
  'upstream_inference_cost' | 'upstream_inference_prompt_cost' | 'upstream_inference_completions_cost',
  number | null
>

function withLost(metadata: ShownCharge['metadata'], lost: readonly string[]): Record<string, unknown> {
  const dropped: unknown = metadata?.['dropped']
  return { ...metadata, dropped: [...(Array.isArray(dropped) ? dropped : []), ...lost] }
}
