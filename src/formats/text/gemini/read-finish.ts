import type { Finish, FinishReason } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { filledTextOrNull } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** Every other word is an error; the format has several for a failed answer. */
const reasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
])

/**
 * Why a candidate ended; null while it goes on. The format has no word for an answer that calls a tool, but it has one
 * for an unexpected call: the call is whole, and the caller decides what to do with it.
 */
export function readFinish(
  candidate: Wire,
  { sawToolCalls, context }: { sawToolCalls: boolean; context: AnswerContext },
): Finish | null {
  const native = filledTextOrNull(candidate['finishReason'])
  if (native === null) return null
  const reason = reasons.get(native) ?? 'error'
  const mayBeCall = reason === 'stop' || native === 'UNEXPECTED_TOOL_CALL'
  return {
    reason: mayBeCall && sawToolCalls ? 'tool_calls' : reason,
    native,
    stopSequence: null,
    refusal: reason === 'content_filter' ? refusalOf(candidate['finishMessage'], context) : null,
  }
}

/** Why a prompt was not answered at all; null when it was. */
export function readBlock(feedback: Wire, context: AnswerContext): Finish | null {
  const native = filledTextOrNull(feedback['blockReason'])
  if (native === null) return null
  return {
    reason: 'content_filter',
    native,
    stopSequence: null,
    refusal: refusalOf(feedback['blockReasonMessage'], context),
  }
}

/** The category comes from another format's closed list, which Google's words do not fit. */
function refusalOf(message: unknown, { hideSecrets }: AnswerContext): NonNullable<Finish['refusal']> {
  const explanation = filledTextOrNull(message)
  return { category: null, explanation: explanation === null ? null : hideSecrets(explanation) }
}
