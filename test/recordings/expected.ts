import type { UpstreamFormat } from './recorded.ts'
import type { Told } from './told.ts'

/** The formats in which callers ask. */
export const callers = ['chat', 'responses', 'messages'] as const

export type Caller = (typeof callers)[number]

type Ending = 'stop' | 'length' | 'calls' | 'filter'

const endingOf: Readonly<Record<string, Ending>> = {
  stop: 'stop',
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filter',
  MODEL_ARMOR: 'filter',
  // With a call, which is whole; of these there are no recordings without.
  UNEXPECTED_TOOL_CALL: 'calls',
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  length: 'length',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'calls',
  tool_use: 'calls',
  content_filter: 'filter',
  refusal: 'filter',
  completed: 'stop',
  'incomplete max_output_tokens': 'length',
  'incomplete content_filter': 'filter',
}

const wordOf: Readonly<Record<Caller, Readonly<Record<Ending, string>>>> = {
  chat: { stop: 'stop', length: 'length', calls: 'tool_calls', filter: 'content_filter' },
  responses: {
    stop: 'completed',
    length: 'incomplete max_output_tokens',
    calls: 'completed',
    filter: 'incomplete content_filter',
  },
  messages: { stop: 'end_turn', length: 'max_tokens', calls: 'tool_use', filter: 'refusal' },
}

/** How an answer that ended so is told to the caller. A tool that was called decides over a provider's `stop`. */
export function expectedStop({ stop, calls }: Told, format: UpstreamFormat, caller: Caller): string {
  if (format === 'messages' && caller === 'messages') return stop ?? 'end_turn'
  const ending = endingOf[stop ?? 'stop'] ?? 'stop'
  return wordOf[caller][ending === 'stop' && calls.length > 0 ? 'calls' : ending]
}
