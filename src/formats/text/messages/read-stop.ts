import type { Finish } from '../../../canonical/text/events.ts'
import { filledTextOrNull, isRecord } from '../../../json/values.ts'
import { toFinishReason } from '../finish-reason.ts'

/**
 * Why the provider stopped; null while it goes on. A tool call wins over the provider's reason, which some compatible
 * servers get wrong.
 */
export function readStop(wire: Readonly<Record<string, unknown>>, sawToolCalls: boolean): Finish | null {
  const native = filledTextOrNull(wire['stop_reason'])
  if (native === null) return null
  const details = wire['stop_details']
  return {
    // Compatible servers also use reasons of chat completions.
    reason: toFinishReason(native, sawToolCalls),
    native,
    stopSequence: filledTextOrNull(wire['stop_sequence']),
    refusal: isRecord(details)
      ? {
          category: filledTextOrNull(details['category']),
          explanation: filledTextOrNull(details['explanation']),
        }
      : null,
  }
}
