import type { ShownCharge } from '../../canonical/upstream.ts'
import type { Usage } from '../../canonical/usage.ts'
import { toCredits } from '../../core/money.ts'
import { writeDebug } from '../debug-options.ts'

/** The same division for callers, or null where nothing was written. */
export function showCacheCreation({ cacheWriteTokens, cacheWriteHourTokens }: Usage): CacheCreation | null {
  if (cacheWriteTokens === 0) return null
  return {
    ephemeral_5m_input_tokens: cacheWriteTokens - cacheWriteHourTokens,
    ephemeral_1h_input_tokens: cacheWriteHourTokens,
  }
}

/** Credits that were charged; not there where no price is known, because some clients refuse null. */
export function showCost({ costNanocredits }: ShownCharge): { cost?: number } {
  return costNanocredits === null ? {} : { cost: toCredits(costNanocredits) }
}

/** The members that every usage object of the contract carries about money. */
export function showCharge(charge: ShownCharge): Record<string, unknown> {
  const prompt = toCredits(charge.promptNanocredits)
  const completions = toCredits(charge.completionNanocredits)
  const isPriced = charge.costNanocredits !== null
  return {
    ...showCost(charge),
    cost_details: {
      upstream_inference_cost: isPriced
        ? toCredits(charge.promptNanocredits + charge.completionNanocredits)
        : null,
      upstream_inference_prompt_cost: prompt,
      upstream_inference_completions_cost: completions,
    },
    is_byok: charge.isByok,
  }
}

/**
 * The `headrace_metadata` and `debug` members of an answer's last part, when they are due. `lost` are parts of the answer
 * that the caller's format has no place for.
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

/** How a usage object divides what was written, by the time that it is kept. */
interface CacheCreation {
  ephemeral_5m_input_tokens: number
  ephemeral_1h_input_tokens: number
}

function withLost(metadata: ShownCharge['metadata'], lost: readonly string[]): Record<string, unknown> {
  const dropped: unknown = metadata?.['dropped']
  return { ...metadata, dropped: [...(Array.isArray(dropped) ? dropped : []), ...lost] }
}
