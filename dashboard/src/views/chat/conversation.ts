import type { ApiFailure } from '../../api/failure.ts'
import type { ChatAnswer } from '../../values/chat-stream.ts'

/** An image that the prompt shows to the models, as a data URL. */
export interface PromptImage {
  name: string
  url: string
}

export interface Prompt {
  text: string
  images: readonly PromptImage[]
}

export type StepState = 'running' | 'done' | 'stopped' | 'failed'

/** One call of a turn: the answer to the prompt, or what follows on the results of tools. */
export interface Step {
  model: string
  state: StepState
  answer: ChatAnswer
  failure: ApiFailure | null
  /** The body that was sent, for the code. */
  body: Readonly<Record<string, unknown>>
  /** What the person gave as results of this step's tool calls, by call id. */
  toolResults: Readonly<Record<string, string>>
}

export interface Turn {
  id: number
  prompt: Prompt
  /** The steps of each column, by its place. */
  columns: Readonly<Record<number, readonly Step[]>>
}

export interface Settings {
  system: string
  maxTokens: string
  temperature: string
  reasoning: string
  tools: string
  format: 'text' | 'json_object' | 'json_schema'
  schema: string
}

export const firstSettings: Settings = {
  system: '',
  maxTokens: '',
  temperature: '',
  reasoning: '',
  tools: '',
  format: 'text',
  schema: '',
}

type Message = Readonly<Record<string, unknown>>

/** The messages that a column has seen before its next call. */
export function messagesOf(turns: readonly Turn[], column: number, system: string): Message[] {
  const messages: Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }]
  for (const { prompt, columns } of turns) {
    messages.push({ role: 'user', content: contentOf(prompt) })
    for (const { answer, toolResults } of columns[column] ?? [])
      messages.push(...stepMessages(answer, toolResults))
  }
  return messages
}

function contentOf({ text, images }: Prompt): unknown {
  if (images.length === 0) return text
  return [{ type: 'text', text }, ...images.map(({ url }) => ({ type: 'image_url', image_url: { url } }))]
}

function stepMessages(answer: ChatAnswer, results: Readonly<Record<string, string>>): Message[] {
  if (answer.text === '' && answer.toolCalls.length === 0) return []
  const called = answer.toolCalls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }))
  const said: Message = {
    role: 'assistant',
    content: answer.text === '' ? null : answer.text,
    ...(called.length === 0 ? {} : { tool_calls: called }),
  }
  return [
    said,
    ...answer.toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: results[id] ?? '' })),
  ]
}

/** What is wrong with the settings, by member; nothing when all can be sent. */
export function settingsFaults(settings: Settings): Partial<Record<keyof Settings, string>> {
  const faults: Partial<Record<keyof Settings, string>> = {}
  const number = (name: 'maxTokens' | 'temperature', word: string, isRight: (value: number) => boolean) => {
    if (settings[name] !== '' && !isRight(Number(settings[name]))) faults[name] = word
  }
  number('maxTokens', 'A whole number from 1 on.', (value) => Number.isInteger(value) && value >= 1)
  number('temperature', 'A number from 0 to 2.', (value) => value >= 0 && value <= 2)
  if (settings.tools.trim() !== '') {
    const tools = parseJson(settings.tools)
    if (!Array.isArray(tools)) faults.tools = 'A JSON list of tools, such as the example.'
  }
  if (settings.format === 'json_schema' && !isObject(parseJson(settings.schema)))
    faults.schema = 'A JSON Schema: an object.'
  return faults
}

/** The members of the body that the settings add. */
export function settingsBody(settings: Settings, supported: readonly string[]): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  if (settings.maxTokens !== '') {
    const name = supported.includes('max_tokens') ? 'max_tokens' : 'max_completion_tokens'
    body[name] = Number(settings.maxTokens)
  }
  if (settings.temperature !== '') body['temperature'] = Number(settings.temperature)
  if (settings.reasoning !== '' && supported.includes('reasoning'))
    body['reasoning'] = { effort: settings.reasoning }
  if (settings.tools.trim() !== '') body['tools'] = parseJson(settings.tools)
  if (settings.format === 'json_object') body['response_format'] = { type: 'json_object' }
  if (settings.format === 'json_schema') {
    const schema = parseJson(settings.schema)
    body['response_format'] = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } }
  }
  return body
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const exampleTool = JSON.stringify(
  [
    {
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather at a place',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    },
  ],
  null,
  2,
)

export const exampleSchema = JSON.stringify(
  {
    type: 'object',
    properties: { title: { type: 'string' }, points: { type: 'array', items: { type: 'string' } } },
    required: ['title', 'points'],
    additionalProperties: false,
  },
  null,
  2,
)
