import type { Finish, FinishReason } from '../../canonical/text/events.ts'
import { stringOrNull } from '../chat/chat-answer.ts'
import { isRecord } from '../chat/chat-media.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/**
 * Why the provider stopped; null while it goes on. A tool that was called decides over the provider's word, which some
 * compatible servers get wrong.
 */
export function readStop(wire: Readonly<Record<string, unknown>>, sawToolCalls: boolean): Finish | null {
  const native = stringOrNull(wire['stop_reason'])
  if (native === null) return null
  const reason = reasons.get(native) ?? 'stop'
  const details = wire['stop_details']
  return {
    reason: reason === 'stop' && sawToolCalls ? 'tool_calls' : reason,
    native,
    stopSequence: stringOrNull(wire['stop_sequence']),
    refusal: isRecord(details)
      ? { category: stringOrNull(details['category']), explanation: stringOrNull(details['explanation']) }
      : null,
  }
}
