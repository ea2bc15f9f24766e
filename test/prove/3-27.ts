import { reproduction, type Check } from './reproduction.ts'
import { acme, choicesOf, eventsOf, withUpstream, type Received } from './upstream-row.ts'

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

/** Tool calls as a client puts them together. */
function callsOf({ json, frames }: Received): { id: string; text: string }[] {
  const built: { id: string; text: string }[] = []
  for (const choice of [json, ...frames].flatMap(choicesOf)) {
    const said = (choice['delta'] ?? choice['message'] ?? {}) as { tool_calls?: Call[] }
    for (const { index, id, function: called } of said.tool_calls ?? []) {
      const call = (built[index] ??= { id: '', text: '' })
      call.id += id ?? ''
      call.text += called?.arguments ?? ''
    }
  }
  return built
}

function checkCalls(where: string, received: Received): Check[] {
  const built = callsOf(received)
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

export const proof = reproduction({
  title: 'tool calls have ids and arguments, and frames without choices lose nothing',
  observe: (root) =>
    withUpstream(root, acme([{ id: model, prices }]), async ({ upstream, post }) => {
      const ask = (stream: boolean, answer: () => Response) => {
        upstream.answer(answer)
        return post('/chat/completions', { model, stream, messages: [{ role: 'user', content: 'hi' }] })
      }
      const message = { role: 'assistant', content: null, tool_calls: calls }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      const whole = await ask(false, () => Response.json({ id: 'chatcmpl-1', choices, usage }))
      const called = calls.map((call) => piece({ tool_calls: [call] }))
      const streamed = await ask(true, () => eventsOf([...called, ...ending]))
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
      return [
        ...checkCalls('JSON', whole),
        ...checkCalls('stream', streamed),
        kept('prompt_filter_results'),
        kept('moderation'),
      ]
    }),
})
