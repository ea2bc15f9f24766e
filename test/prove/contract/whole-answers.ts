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
const piece = (delta: object) => ({ ...base, choices: [{ index: 0, delta, finish_reason: null }] })
const tool = { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }
const counted = { ...base, choices: [], usage }
const whole = (choice: object) =>
  Response.json({ id: 'chatcmpl-1', choices: [{ index: 0, ...choice }], usage })

type Reason = 'stop' | 'tool_calls' | 'content_filter'

const answers: readonly { name: string; stream: boolean; reason: Reason; answer: () => Response }[] = [
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

type Wire = Record<string, unknown>

/** What each format calls the reasons above; a response whose last item is a call is completed. */
const words = {
  '/chat/completions': { stop: 'stop', tool_calls: 'tool_calls', content_filter: 'content_filter' },
  '/responses': {
    stop: 'completed message',
    tool_calls: 'completed function_call',
    content_filter: 'incomplete content_filter',
  },
  '/messages': { stop: 'end_turn', tool_calls: 'tool_use', content_filter: 'refusal' },
} as const

/** How an answer or a stream says that it ended. */
const endings: Readonly<Record<(typeof textPaths)[number], (bodies: readonly Wire[]) => string>> = {
  '/chat/completions': (bodies) =>
    String(bodies.flatMap(choicesOf).flatMap(({ finish_reason: shown }) => shown ?? [])),
  '/responses': (bodies) => {
    const last = bodies.at(-1) ?? {}
    const response = (last['response'] ?? last) as {
      status?: string
      output?: { type: string }[]
      incomplete_details?: { reason: string } | null
    }
    return `${response.status} ${response.incomplete_details?.reason ?? response.output?.at(-1)?.type}`
  },
  '/messages': (bodies) =>
    bodies
      .map((body) => (body['delta'] as Wire | undefined)?.['stop_reason'] ?? body['stop_reason'] ?? '')
      .join(''),
}

function bodiesOf({ frames, json }: Received): readonly Wire[] {
  return frames.length > 0 ? frames : [json]
}

/** Answers that are none: a caller is told of a failure, whatever the format. */
const broken: readonly { name: string; stream: boolean; answer: () => Response }[] = [
  {
    name: 'a stream that [DONE] ends without usage and without a finish reason is broken',
    stream: true,
    answer: () => eventsOf([piece({ role: 'assistant', content: 'Hel' })]),
  },
  {
    name: 'JSON of a choice without a message is broken',
    stream: false,
    answer: () => whole({ finish_reason: 'stop' }),
  },
]

/** Whether the caller was told of a failure, and of no end. */
function isFailure({ status, frames }: Received): boolean {
  if (frames.length === 0) return status === 502
  const types = frames.map((frame) => String(frame['type']))
  const hasEnded = types.some((type) => ['response.completed', 'message_stop'].includes(type))
  return !hasEnded && types.some((type) => ['response.failed', 'error'].includes(type))
}

export const proof = observation({
  title: 'an answer that is whole is taken for whole, with or without a finish reason or a message',
  observe: () =>
    withUpstream(acme([{ id: model, prices }]), async ({ upstream, post }) => {
      const checks: Check[] = []
      for (const path of textPaths) {
        for (const { name, stream, reason, answer } of answers) {
          const before = upstream.seen.length
          upstream.answer(answer)
          const received = await post(path, { ...questionAt(path, model), stream })
          const ending = endings[path](bodiesOf(received))
          const asked = upstream.seen.length - before
          const held = received.status === 200 && ending === words[path][reason] && asked === 1
          const seen = `${received.status}, "${ending}", asked ${asked}×`
          checks.push({ name: `${path}: ${name}`, held, seen })
        }
      }
      // A chat caller was told before.
      for (const path of ['/responses', '/messages'] as const) {
        for (const { name, stream, answer } of broken) {
          upstream.answer(answer)
          const received = await post(path, { ...questionAt(path, model), stream })
          const types = received.frames.map((frame) => frame['type']).join()
          checks.push({
            name: `${path}: ${name}`,
            held: isFailure(received),
            seen: `${received.status} ${types}`,
          })
        }
      }
      return checks
    }),
})
