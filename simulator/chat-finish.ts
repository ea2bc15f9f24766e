import type { Answer } from './answer.ts'

/** Finish reasons of other formats that a script may use, and their names in chat. */
const inChatWords: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** The finish reason of an answer by its chat name; a reason without one stays unchanged. */
export function chatFinish(answer: Answer): string {
  return inChatWords[answer.finish] ?? answer.finish
}
