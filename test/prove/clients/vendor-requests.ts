import { observation, type Check } from '../observations.ts'
import {
  choicesOf,
  questionAt,
  textPaths,
  withUpstream,
  type Received,
  type GatewayBefore,
} from '../upstream-row.ts'

const prices = { input_per_million: '1', output_per_million: '2' }
const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 }
const presets = ['groq', 'mistral', 'deepseek', 'custom']
const weather = { name: 'weather', parameters: { type: 'object', properties: {} } }
const schema = { type: 'object', properties: { city: { type: 'string' } } }
const history = [
  { role: 'user', content: 'hi' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'abcDEF123', type: 'function', function: { name: 'weather', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'abcDEF123', name: 'weather', content: 'sunny' },
]

type Wire = Record<string, unknown>

/** A request, to whom it is sent, and whether what arrived there is right. */
const requests: readonly { name: string; to: string; members: Wire; isRight: (wire: Wire) => boolean }[] = [
  {
    name: 'a tool without a type is a function',
    to: 'custom',
    members: { tools: [{ function: weather }] },
    isRight: (wire) => same(wire['tools'], [{ type: 'function', function: weather }]),
  },
  {
    name: 'so is a tool choice without a type',
    to: 'custom',
    members: {
      tools: [{ type: 'function', function: weather }],
      tool_choice: { function: { name: 'weather' } },
    },
    isRight: (wire) => same(wire['tool_choice'], { type: 'function', function: { name: 'weather' } }),
  },
  {
    name: 'a schema without a name is given one',
    to: 'custom',
    members: { response_format: { type: 'json_schema', json_schema: { schema } } },
    isRight: ({ response_format: format }) =>
      /"name":"[a-z_]+"/.test(JSON.stringify((format as Wire | undefined)?.['json_schema'] ?? {})),
  },
  ...(
    [
      ['groq', { reasoning_format: 'parsed' }],
      ['groq', { service_tier: 'flex' }],
      ['deepseek', { thinking: { type: 'disabled' } }],
      ['mistral', { safe_prompt: true }],
    ] as const
  ).map(([to, members]) => ({
    name: `${Object.keys(members).join()} reaches ${to}`,
    to,
    members,
    isRight: (wire: Wire) => Object.entries(members).every(([name, value]) => same(wire[name], value)),
  })),
  {
    name: "a tool message's name reaches mistral",
    to: 'mistral',
    members: { messages: history },
    isRight: ({ messages }) => (messages as Wire[] | undefined)?.[2]?.['name'] === 'weather',
  },
]

/** Whatever the order of members. */
function same(left: unknown, right: unknown): boolean {
  return Bun.deepEquals(left, right)
}

async function ask({ upstream, post }: GatewayBefore, to: string, members: Wire): Promise<[Received, Wire]> {
  const before = upstream.seen.length
  const messages = [{ role: 'user', content: 'hi' }]
  const received = await post('/chat/completions', { model: `test/${to}`, messages, ...members })
  const seen = upstream.seen[before]
  return [received, seen === undefined ? {} : (JSON.parse(seen.body) as Wire)]
}

async function checkGeneration(
  { post, send }: GatewayBefore,
  path: (typeof textPaths)[number],
): Promise<Check> {
  const { generationId } = await post(path, questionAt(path, 'test/custom'))
  const { json } = await send('GET', `/generation?id=${generationId}`)
  const { finish_reason: reason, native_finish_reason: native } = (json['data'] ?? {}) as Wire
  return {
    name: `${path}: and stands in the generation beside its reason`,
    held: reason === 'stop' && native === 'end_turn',
    seen: `${String(reason)}, ${String(native)}`,
  }
}

export const proof = observation({
  title: "requests are taken as vendors' own clients send them, and reach those who know them",
  observe: () =>
    withUpstream(
      (url) =>
        presets.map((preset) => ({
          preset,
          base_url: url,
          api_key: 'a-key',
          discover: false,
          models: [{ id: `test/${preset}`, prices }],
        })),
      async (gateway) => {
        const checks: Check[] = []
        const message = { role: 'assistant', content: 'Hello.' }
        const choices = [{ index: 0, message, finish_reason: 'stop', native_finish_reason: 'end_turn' }]
        gateway.upstream.answer(() => Response.json({ id: 'chatcmpl-1', choices, usage }))
        for (const { name, to, members, isRight } of requests) {
          const [{ status }, wire] = await ask(gateway, to, members)
          const sent = Object.keys(members).map(
            (member) => `${member} ${member in wire ? 'sent' : 'not sent'}`,
          )
          checks.push({ name, held: status === 200 && isRight(wire), seen: `${status}, ${sent.join()}` })
        }
        const [received] = await ask(gateway, 'custom', {})
        const native = choicesOf(received.json)[0]?.['native_finish_reason']
        const name = "an upstream's own native_finish_reason is kept"
        checks.push({ name, held: native === 'end_turn', seen: String(native) })
        for (const path of textPaths) checks.push(await checkGeneration(gateway, path))
        return checks
      },
    ),
})
