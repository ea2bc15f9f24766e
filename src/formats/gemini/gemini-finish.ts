import type { Finish, FinishReason } from '../../canonical/text/events.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { stringOrNull } from '../chat/chat-answer.ts'

type Wire = Readonly<Record<string, unknown>>

/** Other words are an ordinary end. */
const reasons: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['LANGUAGE', 'error'],
  ['OTHER', 'error'],
  ['MALFORMED_FUNCTION_CALL', 'error'],
  ['UNEXPECTED_TOOL_CALL', 'error'],
  ['TOO_MANY_TOOL_CALLS', 'error'],
  ['NO_IMAGE', 'error'],
  ['IMAGE_OTHER', 'error'],
])

/** Why a candidate ended; null while it goes on. The format has no word for a tool that was called. */
export function readFinish(
  candidate: Wire,
  { sawToolCalls, context }: { sawToolCalls: boolean; context: AnswerContext },
): Finish | null {
  const native = stringOrNull(candidate['finishReason'])
  if (native === null) return null
  const reason = reasons.get(native) ?? 'stop'
  return {
    reason: reason === 'stop' && sawToolCalls ? 'tool_calls' : reason,
    native,
    stopSequence: null,
    refusal: reason === 'content_filter' ? refusalOf(native, candidate['finishMessage'], context) : null,
  }
}

/** Why a prompt was not answered at all; null for one that was. */
export function readBlock(feedback: Wire, context: AnswerContext): Finish | null {
  const native = stringOrNull(feedback['blockReason'])
  if (native === null) return null
  return {
    reason: 'content_filter',
    native,
    stopSequence: null,
    refusal: refusalOf(native, feedback['blockReasonMessage'], context),
  }
}

function refusalOf(
  category: string,
  message: unknown,
  { hideSecrets }: AnswerContext,
): NonNullable<Finish['refusal']> {
  const explanation = stringOrNull(message)
  return { category, explanation: explanation === null ? null : hideSecrets(explanation) }
}
