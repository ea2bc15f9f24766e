import type { ReportedUsage } from '../../../canonical/text/events.ts'
import { noUsage } from '../../../canonical/usage.ts'
import { isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { readCacheWrites } from '../usage-readers.ts'
import { settleCounts } from '../token-counts.ts'

type Wire = Readonly<Record<string, unknown>>

/** The format's usage. Null when it has no usable count; the amount is then estimated. */
export function readResponsesUsage(wire: unknown, serviceTier: string | null): ReportedUsage | null {
  if (!isRecord(wire)) return null
  const input = tokenCountOrNull(wire['input_tokens'])
  const output = tokenCountOrNull(wire['output_tokens'])
  if (input === null || output === null) return null
  const inputDetails = detailsAt(wire, 'input_tokens_details')
  const outputDetails = detailsAt(wire, 'output_tokens_details')
  const writes = readCacheWrites(tokenCountOrNull(inputDetails['cache_write_tokens']), wire['cache_creation'])
  const counts = settleCounts(
    {
      input,
      output,
      total: tokenCountOrNull(wire['total_tokens']),
      cached: tokenCountOrNull(inputDetails['cached_tokens']) ?? 0,
      written: writes.written,
      inputAudio: tokenCountOrNull(inputDetails['audio_tokens']) ?? 0,
      reasoning: tokenCountOrNull(outputDetails['reasoning_tokens']) ?? 0,
      outputAudio: tokenCountOrNull(outputDetails['audio_tokens']) ?? 0,
    },
    { isReasoningApart: false, isAudioHeard: false },
  )
  return {
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
    mediaTokens: null,
    serviceTier,
    reportedCostNanocredits: null,
  }
}

function detailsAt(wire: Wire, name: string): Wire {
  const details = wire[name]
  return isRecord(details) ? details : {}
}
