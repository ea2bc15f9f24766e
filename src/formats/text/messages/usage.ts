import type { ReportedUsage } from '../../../canonical/text/events.ts'
import { noUsage, type Usage } from '../../../canonical/usage.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { readCacheWrites, readProviderCalls } from '../usage-readers.ts'

/**
 * The format's usage. Its `input_tokens` excludes cached tokens; here the input includes them. Null when it has no
 * usable count.
 */
export function readMessagesUsage(wire: unknown): ReportedUsage | null {
  if (!isRecord(wire)) return null
  const uncached = tokenCountOrNull(wire['input_tokens'])
  const output = tokenCountOrNull(wire['output_tokens'])
  if (uncached === null || output === null) return null
  const cached = tokenCountOrNull(wire['cache_read_input_tokens']) ?? 0
  const { written, hour } = readCacheWrites(
    tokenCountOrNull(wire['cache_creation_input_tokens']),
    wire['cache_creation'],
  )
  const compaction = readCompaction(wire['iterations'])
  const details = wire['output_tokens_details']
  const thinking = isRecord(details) ? (tokenCountOrNull(details['thinking_tokens']) ?? 0) : 0
  return {
    usage: {
      ...noUsage,
      inputTokens: uncached + cached + written + compaction.inputTokens,
      cachedInputTokens: cached + compaction.cachedInputTokens,
      cacheWriteTokens: written + compaction.cacheWriteTokens,
      cacheWriteHourTokens: hour + compaction.cacheWriteHourTokens,
      outputTokens: output + compaction.outputTokens,
      reasoningTokens: Math.min(thinking, output),
    },
    mediaTokens: null,
    serviceTier: filledTextOrNull(wire['service_tier']),
    reportedCostNanocredits: null,
    ...callsOf(wire),
  }
}

/** The searches, fetches and code runs of the provider; left out when there are none, as in nearly all answers. */
function callsOf(wire: Readonly<Record<string, unknown>>): Pick<ReportedUsage, 'providerCalls'> {
  if (wire['server_tool_use'] === undefined || wire['server_tool_use'] === null) return {}
  const providerCalls = readProviderCalls(wire)
  return providerCalls > 0 ? { providerCalls } : {}
}

/**
 * The tokens that the provider used to shorten a conversation before it answered. Its totals omit them, its bill does
 * not. https://platform.claude.com/docs/en/build-with-claude/compaction
 */
function readCompaction(iterations: unknown): Usage {
  const sum = { ...noUsage }
  if (!Array.isArray(iterations)) return sum
  for (const iteration of iterations) {
    if (!isRecord(iteration) || iteration['type'] !== 'compaction') continue
    // An iteration has no iterations of its own.
    const read = readMessagesUsage({ ...iteration, iterations: null })
    if (read === null) continue
    for (const unit of compactionUnits) sum[unit] += read.usage[unit]
  }
  return sum
}

const compactionUnits = [
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'cacheWriteHourTokens',
  'outputTokens',
] as const
