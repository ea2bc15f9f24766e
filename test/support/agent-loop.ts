import type { TestGateway } from './gateway.ts'

type Json = Record<string, unknown>

/** The formats that an agent uses. */
export type AgentFormat = 'chat' | 'responses' | 'messages'

/** A model's call of a tool, with its arguments. */
export interface AgentCall {
  name: string
  arguments: Json
}

/** The results of a loop. */
export interface AgentRun {
  /** The number of requests: the first one, and one for each set of tool results. */
  turns: number
  calls: AgentCall[]
  /** All thoughts of the model, in order. */
  thoughts: string
  lastWords: string
}

/** An agent that sends back everything it received and answers every tool call. */
export interface AgentLoop {
  gateway: TestGateway
  model: string
  format: AgentFormat
  isStream: boolean
  /** The user's task; it selects a script of the simulator. */
  task: string
  /** Makes a tool's result. */
  answer(call: AgentCall): string
  /** Additional members of a turn's request; turns count from 1. */
  besides?(turn: number): Promise<Json>
}

/** One answer as the format has it: the messages to send back, and their contents. */
interface Turn {
  said: Json[]
  calls: (AgentCall & { id: string })[]
  thoughts: string
  text: string
}

const turnsMax = 30
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const toolNames = ['weather', 'tide'] as const

interface Dialect {
  path: string
  request(history: readonly Json[]): Json
  read(answer: Json): Turn
  /** Joins the events of a stream into one answer. */
  join(events: readonly Json[]): Json
  results(results: readonly { id: string; text: string }[]): Json[]
  opening(task: string): Json
}

/** Runs the loop to its end. Throws when a request is refused, or when the loop does not end. */
export async function playAgent(loop: AgentLoop): Promise<AgentRun> {
  const dialect = dialects[loop.format]
  const history: Json[] = [dialect.opening(loop.task)]
  const run: AgentRun = { turns: 0, calls: [], thoughts: '', lastWords: '' }
  while (run.turns < turnsMax) {
    const besides = await loop.besides?.(run.turns + 1)
    const body = { model: loop.model, stream: loop.isStream, ...dialect.request(history), ...besides }
    const { status, text } = await loop.gateway.post(dialect.path, body)
    if (status !== 200) throw new Error(`turn ${run.turns + 1}: ${status} ${text.slice(0, 500)}`)
    const turn = dialect.read(loop.isStream ? dialect.join(eventsOf(text)) : (JSON.parse(text) as Json))
    run.turns += 1
    run.thoughts += turn.thoughts
    run.calls.push(...turn.calls.map(({ name, arguments: given }) => ({ name, arguments: given })))
    run.lastWords = turn.text
    if (turn.calls.length === 0) return run
    const results = turn.calls.map((call) => ({ id: call.id, text: loop.answer(call) }))
    history.push(...turn.said, ...dialect.results(results))
  }
  throw new Error(`the loop did not end within ${turnsMax} turns`)
}

function eventsOf(text: string): Json[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)) as Json)
}

const listOf = (value: unknown) => (Array.isArray(value) ? (value as Json[]) : [])
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
const objectOf = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Json) : {})

const chat: Dialect = {
  path: '/chat/completions',
  opening: (task) => ({ role: 'user', content: task }),
  request: (messages) => ({
    messages,
    tools: toolNames.map((name) => ({
      type: 'function',
      function: { name, description: name, parameters: schema },
    })),
    reasoning: { effort: 'high' },
  }),
  join(events) {
    const message: Json = { role: 'assistant', content: '' }
    const details: Json[] = []
    const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = []
    for (const event of events) {
      for (const { delta } of listOf(event['choices'])) {
        const { content, reasoning, reasoning_details: more, tool_calls: pieces } = objectOf(delta)
        message['content'] = `${textOf(message['content'])}${textOf(content)}`
        if (reasoning !== undefined)
          message['reasoning'] = `${textOf(message['reasoning'])}${textOf(reasoning)}`
        details.push(...listOf(more))
        for (const piece of listOf(pieces)) {
          const at = Number(piece['index'])
          const call = (calls[at] ??= { id: '', type: 'function', function: { name: '', arguments: '' } })
          const called = objectOf(piece['function'])
          call.id ||= textOf(piece['id'])
          call.function.name ||= textOf(called['name'])
          call.function.arguments += textOf(called['arguments'])
        }
      }
    }
    if (details.length > 0) message['reasoning_details'] = details
    if (calls.length > 0) message['tool_calls'] = calls
    return { choices: [{ message }] }
  },
  read(answer) {
    const message = objectOf(objectOf(listOf(answer['choices'])[0])['message'])
    const details = listOf(message['reasoning_details'])
    const detailed = details.map((detail) => textOf(detail['summary']) + textOf(detail['text'])).join('')
    return {
      said: [message],
      calls: listOf(message['tool_calls']).map((call) => {
        const called = objectOf(call['function'])
        const given = JSON.parse(textOf(called['arguments'])) as Json
        return { id: textOf(call['id']), name: textOf(called['name']), arguments: given }
      }),
      // A host without signatures sends only the text.
      thoughts: detailed === '' ? textOf(message['reasoning']) : detailed,
      text: textOf(message['content']),
    }
  },
  results: (results) => results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
}

const responses: Dialect = {
  path: '/responses',
  opening: (task) => ({ type: 'message', role: 'user', content: task }),
  request: (input) => ({
    input,
    tools: toolNames.map((name) => ({
      type: 'function',
      name,
      description: name,
      parameters: schema,
      strict: false,
    })),
    reasoning: { effort: 'high', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    store: false,
  }),
  join: (events) => objectOf(events.at(-1)?.['response']),
  read(answer) {
    const output = listOf(answer['output'])
    const of = (type: string) => output.filter((item) => item['type'] === type)
    const textsOf = (items: readonly Json[], member: string) =>
      items.flatMap((item) => listOf(item[member])).map((part) => textOf(part['text']))
    return {
      said: output,
      calls: of('function_call').map((item) => ({
        id: textOf(item['call_id']),
        name: textOf(item['name']),
        arguments: JSON.parse(textOf(item['arguments'])) as Json,
      })),
      thoughts: [...textsOf(of('reasoning'), 'summary'), ...textsOf(of('reasoning'), 'content')].join(''),
      text: textsOf(of('message'), 'content').join(''),
    }
  },
  results: (results) =>
    results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text })),
}

const messages: Dialect = {
  path: '/messages',
  opening: (task) => ({ role: 'user', content: task }),
  request: (history) => ({
    messages: history,
    max_tokens: 8_000,
    tools: toolNames.map((name) => ({ name, description: name, input_schema: schema })),
    thinking: { type: 'enabled', budget_tokens: 2_000 },
  }),
  join(events) {
    const blocks: Json[] = []
    const json: string[] = []
    for (const event of events) {
      const at = Number(event['index'])
      if (event['type'] === 'content_block_start') {
        blocks[at] = { ...objectOf(event['content_block']) }
        json[at] = ''
      }
      const block = blocks[at]
      if (event['type'] !== 'content_block_delta' || block === undefined) continue
      const delta = objectOf(event['delta'])
      for (const member of ['text', 'thinking', 'signature'])
        if (delta[member] !== undefined) block[member] = textOf(block[member]) + textOf(delta[member])
      json[at] += textOf(delta['partial_json'])
    }
    const content = blocks.map((block, at) => (json[at] ? { ...block, input: JSON.parse(json[at]) } : block))
    return { content }
  },
  read(answer) {
    const content = listOf(answer['content'])
    const of = (type: string) => content.filter((block) => block['type'] === type)
    return {
      said: [{ role: 'assistant', content }],
      calls: of('tool_use').map((block) => ({
        id: textOf(block['id']),
        name: textOf(block['name']),
        arguments: objectOf(block['input']),
      })),
      thoughts: of('thinking')
        .map((block) => textOf(block['thinking']))
        .join(''),
      text: of('text')
        .map((block) => textOf(block['text']))
        .join(''),
    }
  },
  results: (results) => [
    {
      role: 'user',
      content: results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
    },
  ],
}

const dialects: Readonly<Record<AgentFormat, Dialect>> = { chat, responses, messages }

/**
 * The turns of a script in which a model thinks, sometimes speaks, calls one or two tools, and ends with a last text.
 */
export function scriptedTurns(count: number, lastWords: string): Json[] {
  const turns = Array.from({ length: count - 1 }, (_, at) => {
    const city = `City ${at + 1}`
    const calls = [
      { name: 'weather', arguments: { city } },
      { name: 'tide', arguments: { city } },
    ]
    return {
      thinking: `Thought ${at + 1}. `,
      ...(at % 4 === 1 ? { text: `Looking at ${city}.` } : {}),
      tool_calls: at % 3 === 2 ? calls : calls.slice(0, 1),
    }
  })
  return [...turns, { thinking: 'Enough. ', text: lastWords }]
}
