import type { ReportedUsage } from '../../canonical/text/events.ts'
import { noUsage } from '../../canonical/usage.ts'
import { isRecord } from '../chat/chat-media.ts'
import { readCacheWrites, readCount } from '../chat/chat-usage.ts'
import { stringOrNull } from '../chat/chat-answer.ts'

/**
 * The format's usage. Its `input_tokens` are those that no cache had; here the input has them all. Null when it says
 * nothing usable.
 */
export function readMessagesUsage(wire: unknown): ReportedUsage | null {
  if (!isRecord(wire)) return null
  const uncached = readCount(wire['input_tokens'])
  const output = readCount(wire['output_tokens'])
  if (uncached === null || output === null) return null
  const cached = readCount(wire['cache_read_input_tokens']) ?? 0
  const { written, hour } = readCacheWrites(
    readCount(wire['cache_creation_input_tokens']),
    wire['cache_creation'],
  )
  const details = wire['output_tokens_details']
  const thinking = isRecord(details) ? (readCount(details['thinking_tokens']) ?? 0) : 0
  return {
    usage: {
      ...noUsage,
      inputTokens: uncached + cached + written,
      cachedInputTokens: cached,
      cacheWriteTokens: written,
      cacheWriteHourTokens: hour,
      outputTokens: output,
      reasoningTokens: Math.min(thinking, output),
    },
    mediaTokens: null,
    serviceTier: stringOrNull(wire['service_tier']),
    reportedCostNanocredits: null,
  }
}
