import type { ReportedUsage } from '../../../canonical/text/events.ts'
import { noUsage } from '../../../canonical/usage.ts'
import { isRecord, tokenCountOrNull } from '../../../json/values.ts'

/**
 * The format's usage. `billed_units` is what is paid: without the tokens of the provider's own prompts, of which `tokens` and
 * `cached_tokens` tell. Thoughts are within the output of both. Null when it has no usable count.
 */
export function readCohereUsage(wire: unknown): ReportedUsage | null {
  if (!isRecord(wire)) return null
  const billed = isRecord(wire['billed_units']) ? wire['billed_units'] : null
  const counted = isRecord(wire['tokens']) ? wire['tokens'] : null
  const units = billed ?? counted
  const input = tokenCountOrNull(units?.['input_tokens'])
  const output = tokenCountOrNull(units?.['output_tokens'])
  if (input === null || output === null) return null
  const thinking = tokenCountOrNull(counted?.['reasoning_tokens']) ?? 0
  return {
    usage: {
      ...noUsage,
      inputTokens: input,
      outputTokens: output,
      reasoningTokens: Math.min(thinking, output),
    },
    mediaTokens: null,
    serviceTier: null,
    reportedCostNanocredits: null,
  }
}
