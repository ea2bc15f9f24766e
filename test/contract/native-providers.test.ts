import { afterAll, expect, test } from 'bun:test'
import {
  deploymentOf,
  itemBody,
  playedServices,
  type PlayedService,
  priceByHand,
} from '../support/batch-services.ts'
import { at, startTestGateway, until } from '../support/gateway.ts'

const gateway = await startTestGateway({
  credits: '10',
  providers: (url) => playedServices.map((service) => deploymentOf(service, service.name, url)),
})
afterAll(() => gateway.stop())

interface Usage {
  prompt_tokens: number
  completion_tokens: number
  cost: number
}

interface Result {
  response: { body: { usage: Usage } } | null
  error: object | null
}

const countsOf = async ({ name, counters }: PlayedService) =>
  at(await gateway.admin(`counters?requests=0&mount=${name}`), counters) as Record<string, number>

async function ended(id: unknown) {
  const { json } = await until(
    () => gateway.get(`/batches/${String(id)}`),
    (answer) => ['completed', 'failed', 'expired', 'cancelled'].includes(String(answer.json['status'])),
    120_000,
  )
  return json
}

/**
 * Three batches at once, each a job of its provider. The answer to the first creating request is lost, so that its job has
 * to be found, and of the second job one line is refused.
 */
async function live(service: PlayedService) {
  const { name: mount, endpoints, create, keepsJobs } = service
  await gateway.admin('settings', { mount, job_looks: 0, any_model: true, ...service.settings })
  const match = { path: create, method: 'POST' }
  const rules = [
    { match, fault: 'cut_after=0', times: 1 },
    { match, fault: 'batch_lines_failed=1', times: 1 },
  ]
  await gateway.admin('faults', { mount, rules })
  const created = await Promise.all(
    [0, 1, 2].map((place) => {
      const endpoint = endpoints[place % endpoints.length] ?? ''
      return gateway.post('/batches', {
        endpoint,
        model: `test/${mount}`,
        headrace: { lane: 'native' },
        requests: [0, 1, 2].map((index) => ({
          custom_id: `item-${index}`,
          body: itemBody(endpoint, `say ${index}`),
        })),
      })
    }),
  )
  for (const { status, text } of created) if (status !== 202) throw new Error(text)
  const batches = await Promise.all(created.map(({ json }) => ended(json['id'])))
  const left = await until(
    () => countsOf(service),
    (counts) => counts['files_left'] === 0 && (keepsJobs || counts['batches_made'] === 0),
    60_000,
  )
  return { batches, left }
}

// All at once, because most of a life is waiting.
const lives = new Map(playedServices.map((service) => [service.name, live(service)]))
for (const each of lives.values()) each.catch(() => undefined)

for (const service of playedServices) {
  const { name, keepsJobs } = service

  test(`${name} runs batches as jobs of its own, each once, at its price for batches, and keeps nothing`, async () => {
    const found = await lives.get(name)
    if (found === undefined) throw new Error('every service lives')
    const { batches, left } = found
    expect(batches.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    const results = batches.flatMap((batch) => batch['results'] as Result[])
    expect(results).toHaveLength(9)
    // A line that is refused is its item's error, and is not billed.
    expect(results.filter(({ error }) => error !== null)).toHaveLength(1)
    expect(left['lines_run']).toBe(8)
    if (keepsJobs) expect(left['batches_made']).toBe(3)
    for (const batch of batches) {
      expect(at(batch, 'headrace_metadata.jobs')).toMatchObject([
        { state: 'ended', items: 3, ended_as: 'completed' },
      ])
      const usage = batch['usage'] as Usage
      expect(Math.round(usage.cost * 1e9)).toBe(priceByHand(service, usage))
    }
  }, 200_000)
}
