import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'

// A dollar for a million tokens of input and two for output, so that a share of it is easy to see.
const prices = { input_per_million: '1', output_per_million: '2' }

/**
 * Providers with a batch service, at mounts of their own: the share of the live price that a batch costs, the endpoints
 * that it takes, and whether its jobs stay.
 */
const all = ['/v1/chat/completions', '/v1/messages']
const jobsPath = '/v1/batches'
const services = [
  { preset: 'groq', upstream: 'gpt-4o-mini', share: 0.5, endpoints: all, create: jobsPath, keepsJobs: true },
  {
    preset: 'deepinfra',
    upstream: 'gpt-4o-mini',
    share: 0.8,
    endpoints: ['/v1/chat/completions'],
    create: jobsPath,
    keepsJobs: true,
  },
  {
    preset: 'moonshot',
    upstream: 'kimi-k2.5',
    share: 0.6,
    endpoints: ['/v1/chat/completions'],
    create: jobsPath,
    keepsJobs: true,
  },
  {
    preset: 'mistral',
    upstream: 'gpt-4o-mini',
    share: 0.5,
    endpoints: all,
    create: '/v1/batch/jobs',
    keepsJobs: false,
  },
  {
    preset: 'google-ai-studio',
    upstream: 'gemini-2.5-flash',
    share: 0.5,
    endpoints: all,
    create: '/v1beta/models/gemini-2.5-flash:batchGenerateContent',
    keepsJobs: false,
  },
].map((service) => ({ ...service, mount: service.preset }))

const gateway = await startTestGateway({
  credits: '10',
  providers: (url) =>
    services.map(({ preset, mount, upstream }) => ({
      preset,
      base_url: `${url}/p/${mount}${preset === 'google-ai-studio' ? '/v1beta' : '/v1'}`,
      api_key: 'sk-test',
      weight: 1,
      discover: false,
      models: [{ id: `test/${mount}`, upstream, prices }],
    })),
})
afterAll(() => gateway.stop())

const say = (text: string) => ({ messages: [{ role: 'user', content: text }], max_tokens: 30 })

interface Usage {
  prompt_tokens: number
  completion_tokens: number
  cost: number
}

interface Result {
  response: { body: { usage: Usage } } | null
  error: object | null
}

const countsOf = async (mount: string) =>
  at(await gateway.admin(`counters?requests=0&mount=${mount}`), 'batches') as Record<string, number>

async function ended(id: unknown) {
  const { json } = await until(
    () => gateway.get(`/batches/${String(id)}`),
    (answer) => ['completed', 'failed', 'expired', 'cancelled'].includes(String(answer.json['status'])),
    90_000,
  )
  return json
}

/**
 * Three batches at once, each a job of its provider. The answer to the first creating request is lost, so that its job has
 * to be found, and of the second job one line is refused.
 */
async function live({ mount, endpoints, create, keepsJobs }: (typeof services)[number]) {
  await gateway.admin('settings', { mount, job_looks: 0, any_model: true })
  const match = { path: create, method: 'POST' }
  const rules = [
    { match, fault: 'cut_after=0', times: 1 },
    { match, fault: 'batch_lines_failed=1', times: 1 },
  ]
  await gateway.admin('faults', { mount, rules })
  const created = await Promise.all(
    [0, 1, 2].map((place) =>
      gateway.post('/batches', {
        endpoint: endpoints[place % endpoints.length],
        model: `test/${mount}`,
        headrace: { lane: 'native' },
        requests: [0, 1, 2].map((index) => ({ custom_id: `item-${index}`, body: say(`say ${index}`) })),
      }),
    ),
  )
  for (const { status, text } of created) if (status !== 202) throw new Error(text)
  const batches = await Promise.all(created.map(({ json }) => ended(json['id'])))
  const left = await until(
    () => countsOf(mount),
    (counts) => counts['files_left'] === 0 && (keepsJobs || counts['batches_made'] === 0),
    60_000,
  )
  return { batches, left }
}

// All at once, because most of a life is waiting.
const lives = new Map(services.map((service) => [service.mount, live(service)]))
for (const each of lives.values()) each.catch(() => undefined)

for (const service of services) {
  const { mount, share } = service

  test(`${mount} runs batches as jobs of its own, each once, at its price for batches, and keeps nothing`, async () => {
    const found = await lives.get(mount)
    if (found === undefined) throw new Error('every service lives')
    const { batches, left } = found
    expect(batches.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    const results = batches.flatMap((batch) => batch['results'] as Result[])
    expect(results).toHaveLength(9)
    // A line that is refused is its item's error, and is not billed.
    expect(results.filter(({ error }) => error !== null)).toHaveLength(1)
    expect(left['lines_run']).toBe(8)
    for (const batch of batches) {
      expect(at(batch, 'headrace_metadata.jobs')).toMatchObject([
        { state: 'ended', items: 3, ended_as: 'completed' },
      ])
      const usage = batch['usage'] as Usage
      const microdollars = (usage.prompt_tokens + 2 * usage.completion_tokens) * share
      expect(Math.round(usage.cost * 1e9)).toBe(Math.round(microdollars * 1e3))
    }
  }, 160_000)
}
