import type { Answer } from './answer.ts'

/** Words of other formats that a script may use, in those of chat. */
const inChatWords: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** The finish reason of an answer as chat completions names it; one that has no other name stays as it is. */
export function chatFinish(answer: Answer): string {
  return inChatWords[answer.finish] ?? answer.finish
}
