import { reproduction, type Check } from './reproduction.ts'
import { acme, choicesOf, eventsOf, withUpstream } from './upstream-row.ts'

const model = 'acme/chat'
const prices = { input_per_million: '1', output_per_million: '2' }
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'chat' }
const piece = (delta: object) => ({ ...base, choices: [{ index: 0, delta, finish_reason: null }] })
const tool = { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }
const counted = { ...base, choices: [], usage }
const whole = (choice: object) =>
  Response.json({ id: 'chatcmpl-1', choices: [{ index: 0, ...choice }], usage })

const answers: readonly { name: string; stream: boolean; reason: string; answer: () => Response }[] = [
  {
    name: 'a stream with usage and [DONE] but no finish reason ends in stop',
    stream: true,
    reason: 'stop',
    answer: () => eventsOf([piece({ role: 'assistant', content: 'Hello.' }), counted]),
  },
  {
    name: 'such a stream of a tool call ends in tool_calls',
    stream: true,
    reason: 'tool_calls',
    answer: () => eventsOf([piece({ tool_calls: [{ index: 0, ...tool }] }), counted]),
  },
  {
    name: 'JSON with finish_reason null says stop',
    stream: false,
    reason: 'stop',
    answer: () => whole({ message: { role: 'assistant', content: 'Hello.' }, finish_reason: null }),
  },
  {
    name: 'JSON of a tool call with finish_reason null says tool_calls',
    stream: false,
    reason: 'tool_calls',
    answer: () => whole({ message: { role: 'assistant', tool_calls: [tool] }, finish_reason: null }),
  },
  {
    name: 'a choice that a content filter emptied is an answer, asked for once',
    stream: false,
    reason: 'content_filter',
    answer: () =>
      whole({ finish_reason: 'content_filter', content_filter_results: { hate: { filtered: true } } }),
  },
]

export const proof = reproduction({
  title: 'an answer that is whole is taken for whole, with or without a finish reason or a message',
  observe: (root) =>
    withUpstream(root, acme([{ id: model, prices }]), async ({ upstream, post }) => {
      const checks: Check[] = []
      for (const { name, stream, reason, answer } of answers) {
        const before = upstream.seen.length
        upstream.answer(answer)
        const messages = [{ role: 'user', content: 'hi' }]
        const received = await post('/chat/completions', { model, stream, messages })
        const bodies = stream ? received.frames : [received.json]
        const reasons = bodies.flatMap(choicesOf).flatMap(({ finish_reason: shown }) => shown ?? [])
        const asked = upstream.seen.length - before
        const held = received.status === 200 && String(reasons) === reason && asked === 1
        checks.push({ name, held, seen: `${received.status}, "${reasons.join()}", asked ${asked}×` })
      }
      return checks
    }),
})
