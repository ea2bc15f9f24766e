import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'

const gateway = await startTestGateway({
  credits: '10',
  providers: (url) => [
    { preset: 'openai', base_url: `${url}/v1`, api_key: 'sk-test', weight: 1, models: [] },
  ],
})
afterAll(() => gateway.stop())

const say = (text: string) => ({ messages: [{ role: 'user', content: text }] })

const asked = [
  { endpoint: '/v1/chat/completions', model: 'openai/gpt-4o-mini', body: say, object: 'chat.completion' },
  {
    endpoint: '/v1/messages',
    model: 'openai/gpt-4o-mini',
    body: (text: string) => ({ ...say(text), max_tokens: 100 }),
    object: undefined,
  },
  {
    endpoint: '/v1/responses',
    model: 'openai/gpt-4o-mini',
    body: (input: string) => ({ input }),
    object: 'response',
  },
  {
    endpoint: '/v1/embeddings',
    model: 'openai/text-embedding-3-small',
    body: (input: string) => ({ input }),
    object: 'list',
  },
]

// A cent for a hundred thousand tokens of input, by the price list, and four times that for output.
const costOf = { 'openai/gpt-4o-mini': [150, 600], 'openai/text-embedding-3-small': [20, 0] } as Record<
  string,
  [number, number]
>

test('batches of all four endpoints are jobs of the provider, at half the live price, and leave nothing there', async () => {
  await gateway.admin('settings', { job_looks: 0 })
  const created = await Promise.all(
    asked.map(({ endpoint, model, body }) =>
      gateway.post('/batches', {
        endpoint,
        model,
        headrace: { lane: 'native' },
        requests: [0, 1].map((index) => ({ custom_id: `item-${index}`, body: body(`say ${index}`) })),
      }),
    ),
  )
  for (const [index, { object, model }] of asked.entries()) {
    const id = String(created[index]?.json['id'])
    const { json } = await until(
      () => gateway.get(`/batches/${id}`),
      (answer) => answer.json['status'] === 'completed',
      60_000,
    )
    expect(at(json, 'request_counts')).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(at(json, 'headrace_metadata.lane') ?? 'native').toBe('native')
    expect(at(json, 'results.1.response.body.object')).toBe(object)
    const [input = 0, output = 0] = costOf[model] ?? []
    const tokens = (name: string) => Number(at(json, `usage.${name}`))
    const nanocredits = (tokens('prompt_tokens') * input + tokens('completion_tokens') * output) / 2
    expect(Math.round(Number(at(json, 'usage.cost')) * 1e9)).toBe(Math.round(nanocredits))
  }
  const counts = await until(
    async () => at(await gateway.admin('counters?requests=0'), 'batches'),
    (found) => at(found, 'files_left') === 0,
    30_000,
  )
  expect(counts).toEqual({ batches_made: 4, batches_running: 0, files_made: 8, files_left: 0, lines_run: 8 })
}, 120_000)
