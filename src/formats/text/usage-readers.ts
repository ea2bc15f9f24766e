import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../json/values.ts'
import type { MeterReading } from '../../canonical/upstream.ts'
import { serviceTierLengthMax } from '../../core/limits/http.ts'

/**
 * The number of the provider's own searches and tool calls: by type at Anthropic and OpenRouter, one number elsewhere.
 */
export function readProviderCalls(wire: Readonly<Record<string, unknown>>): number {
  const kinds = wire['server_tool_use'] ?? wire['server_tool_use_details']
  let calls = 0
  if (isRecord(kinds)) for (const count of Object.values(kinds)) calls += tokenCountOrNull(count) ?? 0
  return Math.max(
    calls,
    tokenCountOrNull(wire['num_search_queries']) ?? 0,
    tokenCountOrNull(wire['num_server_side_tools_used']) ?? 0,
  )
}

/**
 * The cache writes in a usage object: their sum if it has one, and their division by lifetime. When only the division
 * is sent, the sum follows from it.
 */
export function readCacheWrites(sum: number | null, division: unknown): CacheWrites {
  if (!isRecord(division)) return { written: sum ?? 0, hour: 0 }
  const hour = tokenCountOrNull(division['ephemeral_1h_input_tokens']) ?? 0
  const usual = tokenCountOrNull(division['ephemeral_5m_input_tokens']) ?? 0
  return { written: sum ?? usual + hour, hour }
}

/** Input that a provider wrote to its cache; the price depends on the time for which it is kept. */
export interface CacheWrites {
  written: number
  /** The part that is kept for an hour. */
  hour: number
}

/** A reading before anything was counted; `usage` is null until the provider reports it. */
export function startReading(wire: Readonly<Record<string, unknown>>): MeterReading {
  return {
    usage: null,
    source: 'estimated',
    finishReason: null,
    nativeFinishReason: null,
    upstreamId: filledTextOrNull(wire['id']),
    upstreamModel: filledTextOrNull(wire['model']),
    mediaTokens: null,
    serviceTier: tierOf(wire),
    outputBytes: 0,
    outputPieces: 0,
    reportedCostNanocredits: null,
  }
}

/** A name longer than any tier's is ignored. */
export function tierOf(wire: Readonly<Record<string, unknown>>): string | null {
  const tier = filledTextOrNull(wire['service_tier'])
  return tier !== null && tier.length <= serviceTierLengthMax ? tier : null
}
