import { observation, type Check } from '../observations.ts'
import {
  acme,
  choicesOf,
  eventsOf,
  questionAt,
  textPaths,
  withUpstream,
  type Received,
} from '../upstream-row.ts'

const model = 'acme/chat'
const prices = { input_per_million: '1', output_per_million: '2' }
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'chat' }
const piece = (delta: object, reason: string | null = null) => ({
  ...base,
  choices: [{ index: 0, delta, finish_reason: reason }],
})
const ending = [piece({}, 'stop'), { ...base, choices: [], usage, moderation: { flagged: false } }]
const found = [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }]
const calls = [
  { index: 0, id: '', type: 'function', function: { name: 'one' } },
  { index: 1, id: '', type: 'function', function: { name: 'two', arguments: null } },
]

interface Call {
  index: number
  id?: string
  function?: { arguments?: string }
}

type Wire = Record<string, unknown>

interface Built {
  id: string
  text: string
}

/** Tool calls as a client of each format puts them together. */
const builders: Readonly<Record<(typeof textPaths)[number], (received: Received) => Built[]>> = {
  '/chat/completions': ({ json, frames }) => {
    const built: Built[] = []
    for (const choice of [json, ...frames].flatMap(choicesOf)) {
      const said = (choice['delta'] ?? choice['message'] ?? {}) as { tool_calls?: Call[] }
      for (const { index, id, function: called } of said.tool_calls ?? []) {
        const call = (built[index] ??= { id: '', text: '' })
        call.id += id ?? ''
        call.text += called?.arguments ?? ''
      }
    }
    return built
  },
  '/responses': ({ json, frames }) => {
    const last = (frames.at(-1)?.['response'] ?? json) as { output?: Wire[] }
    const called = (last.output ?? []).filter(({ type }) => type === 'function_call')
    const joined = frames.filter(({ type }) => type === 'response.function_call_arguments.delta')
    return called.map(({ id: item, call_id: id, arguments: whole }) => {
      const pieces = joined.filter((frame) => frame['item_id'] === item)
      const text = pieces.map(({ delta }) => delta).join('')
      // What the pieces say must be what the end says.
      return {
        id: String(id),
        text: frames.length > 0 && text !== whole ? `${text}≠${whole}` : String(whole),
      }
    })
  },
  '/messages': ({ json, frames }) => {
    const begun = frames.map((frame) => (frame['content_block'] ?? {}) as Wire)
    const blocks = [...((json['content'] ?? []) as Wire[]), ...begun]
    const called = blocks.filter(({ type }) => type === 'tool_use')
    const pieces = frames.flatMap((frame) => (frame['delta'] as Wire | undefined)?.['partial_json'] ?? [])
    return called.map(({ id, input }) => ({
      id: String(id),
      text: pieces.join('') === '' ? JSON.stringify(input) : pieces.join(''),
    }))
  },
}

function checkCalls(where: string, built: readonly Built[]): Check[] {
  const ids = built.map(({ id }) => id)
  const isNamed = ids.length === 2 && ids.every((id) => id !== '') && new Set(ids).size === 2
  const texts = built.map(({ text }) => text)
  return [
    {
      name: `${where}: tool calls without an id are given one each`,
      held: isNamed,
      seen: JSON.stringify(ids),
    },
    {
      name: `${where}: absent arguments are {}`,
      held: texts.join() === '{},{}',
      seen: JSON.stringify(texts),
    },
  ]
}

export const proof = observation({
  title: 'tool calls have ids and arguments, and frames without choices lose nothing',
  observe: () =>
    withUpstream(acme([{ id: model, prices }]), async ({ upstream, post }) => {
      const ask = (
        stream: boolean,
        answer: () => Response,
        path: (typeof textPaths)[number] = '/chat/completions',
      ) => {
        upstream.answer(answer)
        return post(path, { ...questionAt(path, model), stream })
      }
      const message = { role: 'assistant', content: null, tool_calls: calls }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      const called = calls.map((call) => piece({ tool_calls: [call] }))
      const checks: Check[] = []
      for (const path of textPaths) {
        const whole = await ask(false, () => Response.json({ id: 'chatcmpl-1', choices, usage }), path)
        checks.push(...checkCalls(`${path}, JSON`, builders[path](whole)))
        const streamed = await ask(true, () => eventsOf([...called, ...ending]), path)
        checks.push(...checkCalls(`${path}, stream`, builders[path](streamed)))
      }
      const filtered = {
        choices: [],
        created: 0,
        id: '',
        model: '',
        object: '',
        prompt_filter_results: found,
      }
      const azure = await ask(true, () =>
        eventsOf([filtered, piece({ role: 'assistant', content: 'Hi' }), ...ending]),
      )
      const kept = (name: string): Check => {
        const count = azure.frames.filter((frame) => name in frame).length
        return { name: `${name} of a frame without choices is kept`, held: count === 1, seen: `${count}×` }
      }
      return [...checks, kept('prompt_filter_results'), kept('moderation')]
    }),
})
