/** One batch: an endpoint on an upstream that can answer it. */
export interface FormatBatch {
  name: string
  endpoint: '/v1/chat/completions' | '/v1/responses' | '/v1/messages' | '/v1/embeddings'
  upstream: 'chat' | 'messages'
  model: string
}

/** Enough that no batch ends before the last kill. */
export const itemCount = 300

const onChat = { upstream: 'chat', model: 'openai/gpt-4o-mini' } as const
const onMessages = { upstream: 'messages', model: 'anthropic/claude-sonnet-4-5' } as const

/** Every endpoint on every upstream that has it. */
export const formatBatches: readonly FormatBatch[] = [
  { name: 'chat on chat', endpoint: '/v1/chat/completions', ...onChat },
  { name: 'responses on chat', endpoint: '/v1/responses', ...onChat },
  { name: 'messages on chat', endpoint: '/v1/messages', ...onChat },
  {
    name: 'embeddings',
    endpoint: '/v1/embeddings',
    upstream: 'chat',
    model: 'openai/text-embedding-3-small',
  },
  { name: 'chat on messages', endpoint: '/v1/chat/completions', ...onMessages },
  { name: 'responses on messages', endpoint: '/v1/responses', ...onMessages },
  { name: 'messages on messages', endpoint: '/v1/messages', ...onMessages },
]

/** Of every ten items one fails for good, and two meet a passing fault once. */
export function kindOf(index: number): 'permanent' | 'passing' | 'sound' {
  if (index % 10 === 3) return 'permanent'
  return index % 10 === 5 || index % 10 === 8 ? 'passing' : 'sound'
}

/** The custom id of an item, which its prompt begins with. */
export function nameOf({ name }: FormatBatch, index: number): string {
  return `${name.replaceAll(' ', '-')}-${String(index).padStart(4, '0')}`
}

const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const description = 'Tells the weather of a city.'

/** What an item asks: of each five one for a call of a tool, one for a thought where the model thinks, the rest for words. */
export function bodyOf(batch: FormatBatch, index: number): Record<string, unknown> {
  const text = `${nameOf(batch, index)} ${'word '.repeat(index % 20)}`
  const isCall = index % 5 === 1
  const isThought = index % 5 === 2 && batch.upstream === 'messages'
  const messages = [{ role: 'user', content: text }]
  switch (batch.endpoint) {
    case '/v1/embeddings':
      return { input: index % 2 === 0 ? text : [text, 'and another'], dimensions: 8 }
    case '/v1/chat/completions':
      return {
        messages,
        max_tokens: isThought ? 4_000 : 60,
        ...(isCall
          ? {
              tools: [{ type: 'function', function: { name: 'weather', description, parameters } }],
              tool_choice: 'required',
            }
          : {}),
        ...(isThought ? { reasoning: { effort: 'low' } } : {}),
        ...(index % 5 === 4 && batch.upstream === 'chat' ? { logprobs: true, top_logprobs: 2 } : {}),
      }
    case '/v1/responses':
      return {
        input: text,
        max_output_tokens: isThought ? 4_000 : 60,
        ...(isCall
          ? {
              tools: [{ type: 'function', name: 'weather', description, parameters }],
              tool_choice: 'required',
            }
          : {}),
        ...(isThought ? { reasoning: { effort: 'low' } } : {}),
      }
    case '/v1/messages':
      return {
        messages,
        max_tokens: isThought ? 4_000 : 60,
        ...(isCall
          ? {
              tools: [{ name: 'weather', description, input_schema: parameters }],
              tool_choice: { type: 'any' },
            }
          : {}),
        ...(isThought ? { thinking: { type: 'enabled', budget_tokens: 1_024 } } : {}),
      }
  }
}
