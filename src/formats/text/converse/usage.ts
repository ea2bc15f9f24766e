import type { ReportedUsage } from '../../../canonical/text/events.ts'
import { noUsage } from '../../../canonical/usage.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'

/**
 * The format's usage, from an answer or from the `metadata` event of a stream. Its `inputTokens` excludes cached tokens;
 * here the input includes them. Null when it has no usable count.
 */
export function readConverseUsage(wire: Readonly<Record<string, unknown>>): ReportedUsage | null {
  const { usage } = wire
  if (!isRecord(usage)) return null
  const uncached = tokenCountOrNull(usage['inputTokens'])
  const output = tokenCountOrNull(usage['outputTokens'])
  if (uncached === null || output === null) return null
  const cached = tokenCountOrNull(usage['cacheReadInputTokens']) ?? 0
  const { written, hour } = readWrites(usage)
  return {
    usage: {
      ...noUsage,
      inputTokens: uncached + cached + written,
      cachedInputTokens: cached,
      cacheWriteTokens: written,
      cacheWriteHourTokens: hour,
      outputTokens: output,
    },
    mediaTokens: null,
    serviceTier: isRecord(wire['serviceTier']) ? filledTextOrNull(wire['serviceTier']['type']) : null,
    reportedCostNanocredits: null,
  }
}

/** The sum of what was written to the cache, and the part of it that is kept for an hour, where the parts are told. */
function readWrites(usage: Readonly<Record<string, unknown>>): { written: number; hour: number } {
  const parts = Array.isArray(usage['cacheDetails']) ? usage['cacheDetails'].filter(isRecord) : []
  const sumOf = (chosen: typeof parts) =>
    chosen.reduce((sum, { inputTokens }) => sum + (tokenCountOrNull(inputTokens) ?? 0), 0)
  const written = tokenCountOrNull(usage['cacheWriteInputTokens']) ?? sumOf(parts)
  return { written, hour: Math.min(written, sumOf(parts.filter(({ ttl }) => ttl === '1h'))) }
}
