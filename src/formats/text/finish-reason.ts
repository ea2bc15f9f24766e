import type { Finish, FinishReason } from '../../canonical/text/events.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AnswerPart } from '../../canonical/text/answer.ts'

// A map, because an object has inherited members such as `constructor`.
const finishReasons: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries<FinishReason>({
    stop: 'stop',
    eos: 'stop',
    eos_token: 'stop',
    endoftext: 'stop',
    end_of_text: 'stop',
    end_turn: 'stop',
    stop_sequence: 'stop',
    stop_token: 'stop',
    pause_turn: 'stop',
    compaction: 'stop',
    complete: 'stop',
    completed: 'stop',
    finished: 'stop',
    normal: 'stop',
    length: 'length',
    max_length: 'length',
    max_tokens: 'length',
    max_output_tokens: 'length',
    maximum_tokens: 'length',
    model_length: 'length',
    model_context_window_exceeded: 'length',
    tool_calls: 'tool_calls',
    tool_call: 'tool_calls',
    tool_use: 'tool_calls',
    function_call: 'tool_calls',
    content_filter: 'content_filter',
    content_filtered: 'content_filter',
    error_toxic: 'content_filter',
    guardrail_intervened: 'content_filter',
    model_armor: 'content_filter',
    prohibited_content: 'content_filter',
    recitation: 'content_filter',
    refusal: 'content_filter',
    safety: 'content_filter',
    sensitive: 'content_filter',
  }),
)

/**
 * A provider's finish reason in the contract's words. An unknown word becomes an error: a blocked or cut answer must
 * not pass for a whole one. No reason for a whole answer means an ordinary stop. Some providers say `stop` for a tool
 * call, so a call that was seen decides.
 */
export function toFinishReason(native: string | null, sawToolCalls: boolean): FinishReason {
  const reason = native === null ? 'stop' : (finishReasons.get(native.toLowerCase()) ?? 'error')
  return reason === 'stop' && sawToolCalls ? 'tool_calls' : reason
}

/** The error for an answer that its provider ended in an error, for callers whose format cannot say that. */
export function endedInError({ native }: Pick<Finish, 'native'>): GatewayError {
  const word = native !== null && endWord.test(native) ? ` (${native})` : ''
  return new GatewayError(
    'provider_failed',
    `The provider ended its answer in an error${word}. Try again, or ask another model.`,
  )
}

/** The provider's explanation of a refusal, when it stands beside the answer; null when it is part of the answer. */
export function explanationOf(finish: Finish | null, isTold: boolean): string | null {
  return isTold ? null : (finish?.refusal?.explanation ?? null)
}

/** Whether the answer has a refusal by the model itself. */
export function hasRefusal(parts: readonly AnswerPart[]): boolean {
  return parts.some(({ head }) => head.type === 'refusal')
}

/** A provider may write anything here, so only a single word is shown. */
const endWord = /^\w{1,40}$/
