import { afterAll, expect, test } from 'bun:test'
import {
  deploymentOf,
  itemBody,
  playedServices,
  type PlayedService,
  priceByHand,
} from '../support/batch-services.ts'
import { at, startTestGateway, until } from '../support/gateway.ts'
import { isThorough } from '../support/thorough.ts'

// How jobs may end at each provider, and what becomes of their items in a lane that moves none.

const itemCount = 4
const stories = {
  failed: 'batch_failed=invalid_request',
  expired: 'batch_end=expired',
  spoiled: 'batch_lines_lost=1,batch_lines_doubled=1,batch_lines_foreign=1',
  late: 'batch_lines_late=1',
  cancelled: 'batch_looks=1000,batch_lines_late=1',
} as const
type Story = keyof typeof stories
const storyNames = Object.keys(stories) as Story[]

const services = isThorough
  ? playedServices
  : playedServices.filter(({ isOfAnotherForm }) => !isOfAnotherForm)
const mountOf = ({ name }: PlayedService, story: Story) => `${name}-${story}`
const gateway = await startTestGateway({
  credits: '10',
  providers: (url) =>
    services.flatMap((service) =>
      storyNames.map((story) => deploymentOf(service, mountOf(service, story), url)),
    ),
})
afterAll(() => gateway.stop())

interface Ended {
  status: unknown
  results: { response: object | null; error: { type: string } | null }[]
  usage: { prompt_tokens: number; completion_tokens: number; cost: number } | null
  metadata: unknown
  left: Record<string, number>
}

async function tell(service: PlayedService, story: Story): Promise<Ended> {
  const mount = mountOf(service, story)
  // A service that cannot be asked to cancel runs a job to its end.
  const isShort = story === 'cancelled' && !service.isCancellable
  const fault = isShort ? 'batch_looks=2,batch_lines_late=1' : stories[story]
  await gateway.admin('settings', { mount, job_looks: 0, any_model: true, ...service.settings })
  const rules = [{ match: { path: service.create, method: 'POST' }, fault, times: 1 }]
  await gateway.admin('faults', { mount, rules })
  const endpoint = '/v1/chat/completions'
  const created = await gateway.post('/batches', {
    endpoint,
    model: `test/${mount}`,
    headrace: { lane: 'native' },
    requests: Array.from({ length: itemCount }, (_, index) => ({
      custom_id: `item-${index}`,
      body: itemBody(endpoint, `say ${index}`),
    })),
  })
  if (created.status !== 202) throw new Error(created.text)
  const id = String(created.json['id'])
  const counts = async () =>
    at(await gateway.admin(`counters?requests=0&mount=${mount}`), service.counters) as Record<string, number>
  if (story === 'cancelled') {
    await until(counts, (found) => found['batches_made'] === 1, 60_000)
    await gateway.post(`/batches/${id}/cancel`, {})
  }
  const { json } = await until(
    () => gateway.get(`/batches/${id}`),
    (answer) => ['completed', 'failed', 'expired', 'cancelled'].includes(String(answer.json['status'])),
    120_000,
  )
  const left = await until(counts, (found) => found['files_left'] === 0, 60_000)
  const page = await gateway.request(`/batches/${id}/results`, { method: 'GET' })
  const lines = (await page.text()).trim().split('\n')
  return {
    status: json['status'],
    results: lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Ended['results'][number]),
    usage: json['usage'] as Ended['usage'],
    metadata: json['headrace_metadata'],
    left,
  }
}

// All at once, because most of a life is waiting.
const told = new Map(
  services.flatMap((service) =>
    storyNames.map((story) => [mountOf(service, story), tell(service, story)] as const),
  ),
)
for (const each of told.values()) each.catch(() => undefined)

async function endingOf(service: PlayedService, story: Story): Promise<Ended> {
  const ended = await told.get(mountOf(service, story))
  if (ended === undefined) throw new Error('every story is told')
  return ended
}

const answered = ({ results }: Ended) => results.filter(({ response }) => response !== null).length
const errorsOf = ({ results }: Ended) => results.flatMap(({ error }) => (error === null ? [] : error.type))

function expectBill(service: PlayedService, ended: Ended): void {
  const { usage } = ended
  expect(ended.left['lines_run']).toBeGreaterThanOrEqual(answered(ended))
  if (answered(ended) === 0) return expect(usage?.cost ?? 0).toBe(0)
  if (usage === null) throw new Error('what was answered was used')
  expect(Math.round(usage.cost * 1e9)).toBe(priceByHand(service, usage))
}

for (const service of services) {
  const { name, keepsExpired, isCancellable } = service

  test(`${name}: the items of a job that failed as a whole fail unbilled`, async () => {
    const ended = await endingOf(service, 'failed')
    expect(errorsOf(ended)).toEqual(Array.from({ length: itemCount }, () => 'provider_failed'))
    expect(ended.left['lines_run']).toBe(0)
    expectBill(service, ended)
  }, 200_000)

  test(`${name}: what a job has run before it expired is charged, and the rest is unbilled`, async () => {
    const ended = await endingOf(service, 'expired')
    const run = keepsExpired ? itemCount / 2 : 0
    expect(answered(ended)).toBe(run)
    expect(errorsOf(ended)).toEqual(Array.from({ length: itemCount - run }, () => 'batch_expired'))
    expectBill(service, ended)
  }, 200_000)

  test(`${name}: lines that are missing, doubled or of others change no other item's result`, async () => {
    const ended = await endingOf(service, 'spoiled')
    expect([ended.status, answered(ended), errorsOf(ended)]).toEqual([
      'completed',
      itemCount - 1,
      ['provider_failed'],
    ])
    expect(at(ended.metadata, 'jobs.0')).toMatchObject({ ended_as: 'completed', stray_lines: 2 })
    expectBill(service, ended)
  }, 200_000)

  test(`${name}: a line that comes when the results were read is not waited for, and not charged`, async () => {
    const ended = await endingOf(service, 'late')
    expect([ended.status, answered(ended), errorsOf(ended)]).toEqual([
      'completed',
      itemCount - 1,
      ['provider_failed'],
    ])
    expect(ended.left['lines_run']).toBe(itemCount)
    expectBill(service, ended)
  }, 200_000)

  test(`${name}: a batch that its caller cancels ends at the provider too, and what was read of it is charged`, async () => {
    const ended = await endingOf(service, 'cancelled')
    expect(ended.status).toBe('cancelled')
    expect(ended.left['batches_running']).toBe(0)
    const run = isCancellable ? itemCount / 2 : itemCount
    expect(ended.left['lines_run']).toBe(run)
    // One line comes when the results were read.
    expect(answered(ended)).toBe(run - 1)
    expect(errorsOf(ended)).toEqual(Array.from({ length: itemCount - run + 1 }, () => 'batch_cancelled'))
    expectBill(service, ended)
  }, 200_000)
}
