import type { Finish, FinishReason } from '../../canonical/text/events.ts'
import { GatewayError } from '../../core/errors.ts'
import type { AnswerPart } from '../../canonical/text/answer.ts'

// A map, because an object would answer to `constructor` with what is no reason at all.
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
 * A provider's finish reason in the contract's words. A word that is not in the table is an error: an answer that was
 * blocked or cut off must not pass for a whole one. An answer that is whole without a reason is an ordinary stop. Some
 * providers say `stop` although the answer is a tool call, so what was seen decides.
 */
export function toFinishReason(native: string | null, sawToolCalls: boolean): FinishReason {
  const reason = native === null ? 'stop' : (finishReasons.get(native.toLowerCase()) ?? 'error')
  return reason === 'stop' && sawToolCalls ? 'tool_calls' : reason
}

/** An answer that its provider ended in an error, for callers whose format has no word for that. */
export function endedInError({ native }: Pick<Finish, 'native'>): GatewayError {
  const word = native !== null && endWord.test(native) ? ` (${native})` : ''
  return new GatewayError(
    'provider_failed',
    `The provider ended its answer in an error${word}. Try again, or ask another model.`,
  )
}

/** Why an answer was refused, where its provider says so beside the answer; null where that is a part of it. */
export function explanationOf(finish: Finish | null, isTold: boolean): string | null {
  return isTold ? null : (finish?.refusal?.explanation ?? null)
}

/** Whether the model refused in words of its own. */
export function hasRefusal(parts: readonly AnswerPart[]): boolean {
  return parts.some(({ head }) => head.type === 'refusal')
}

/** What is no single word may be anything that a provider wrote there. */
const endWord = /^\w{1,40}$/
