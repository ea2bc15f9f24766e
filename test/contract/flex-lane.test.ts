import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, until, type Answer, type TestGateway } from '../support/gateway.ts'

// The lane as a choice: `headrace.lane` is `auto`, `flex` or `emulated`. OpenAI and Google have a flex tier at half the
// price; o4-mini costs 1.10 and 4.40 USD for a million tokens, gemini-2.5-flash 0.30 and 2.50.

const hour = 3_600_000
let aheadMs = 0
const clock = {
  nowMs: () => Date.now() + aheadMs,
  monotonicMs: () => performance.now() + aheadMs,
}

const mini = 'openai/o4-mini'
const flash = 'google/gemini-2.5-flash'
const plain = 'openai/gpt-4o-mini'
/** Nanocredits for a token. */
const prices: Readonly<Record<string, { input: number; output: number }>> = {
  [mini]: { input: 1_100, output: 4_400 },
  [flash]: { input: 300, output: 2_500 },
}

const logged: string[] = []
let app: TestGateway
beforeAll(async () => {
  app = await startTestGateway({
    credits: '50',
    hooks: { clock, writeLog: (line) => void logged.push(line) },
    logLevel: 'info',
    providers: (url): ProviderConfig[] => [
      {
        preset: 'openai',
        base_url: `${url}/p/openai/v1`,
        api_key: 'simulated-key',
        weight: 1,
        discover: false,
        models: [{ id: mini }, { id: plain }],
      },
      {
        preset: 'google-ai-studio',
        base_url: `${url}/p/google/v1beta`,
        api_key: 'simulated-key',
        weight: 1,
        discover: false,
        models: [{ id: flash }],
      },
    ],
  })
})
afterAll(() => app.stop())
beforeEach(() => refuse(0))

const mounts: Readonly<Record<string, string>> = { [mini]: 'openai', [flash]: 'google' }
const refuse = async (share: number) => {
  for (const mount of Object.values(mounts))
    await app.admin('settings', { mount, flex_refused: share, recorded_body_bytes: 4_096 })
}

const bodies = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 900 },
  '/v1/responses': { input: 'Say hello', max_output_tokens: 900 },
  '/v1/messages': { messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 900 },
}
type Endpoint = keyof typeof bodies
const chat: Endpoint = '/v1/chat/completions'

interface Asked {
  model?: string
  endpoint?: Endpoint
  lane?: string | null
  items?: number
  own?: object
  max_cost?: number
}

function batchOf({ model = mini, endpoint = chat, items = 3, own = {}, ...headrace }: Asked) {
  const requests = Array.from({ length: items }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { ...bodies[endpoint], ...own },
  }))
  return { endpoint, model, headrace, requests }
}

const create = (asked: Asked) => app.post('/batches', batchOf(asked))
const estimate = (asked: Asked) => app.post('/batches?dry_run=true', batchOf(asked))
const idOf = ({ json }: Answer) => String(json['id'])
const read = (id: string) => app.get(`/batches/${id}`)
const ended = (id: string) =>
  until(
    () => read(id),
    ({ json }) => json['status'] === 'completed',
  )

interface Result {
  response: { body: { service_tier?: string; usage: Record<string, number> } }
}
const resultsOf = ({ json }: Answer) => json['results'] as Result[]

/** What the items' tokens cost by hand, as a share of the usual price, in nanocredits. */
function costByHand(answer: Answer, model: string, share: number): number {
  const { input, output } = prices[model] ?? { input: Number.NaN, output: Number.NaN }
  const { prompt_tokens: prompted, completion_tokens: written } = answer.json['usage'] as Record<
    string,
    number
  >
  return ((prompted ?? 0) * input + (written ?? 0) * output) * share
}

async function tiersAsked(mount: string): Promise<unknown[]> {
  const { last_requests: requests } = await app.admin(`counters?mount=${mount}`)
  return (requests as { body: string }[]).map(({ body }) => {
    const { service_tier: openAi, serviceTier: google } = JSON.parse(body) as Record<string, unknown>
    return openAi ?? google
  })
}

test('auto takes the flex tier where it is cheaper, and sets the live price aside', async () => {
  for (const model of [mini, flash]) {
    const { json } = await estimate({ model })
    const lanes = json['lanes'] as { lane: string; estimate: number; worst_case: number }[]
    expect(lanes.map(({ lane }) => lane)).toEqual(['flex', 'native', 'emulated'])
    expect(json['lane']).toBe('flex')
    const usual = lanes.at(-1)
    expect(json['estimate']).toBe(usual?.estimate)
    expect((lanes[0]?.worst_case ?? 0) * 2).toBeCloseTo(usual?.worst_case ?? 0, 8)
    const alone = await estimate({ model, lane: 'flex' })
    expect(alone.json).toMatchObject({ lane: 'flex', estimate: lanes[0]?.estimate })
    const live = await estimate({ model, lane: 'emulated' })
    expect(live.json).toMatchObject({ lane: 'emulated', estimate: usual?.estimate })
    // A name with `:batch` asks for the provider's own batches.
    const named = await estimate({ model: `${model}:batch` })
    expect(named.json).toMatchObject({ lane: 'native', estimate: lanes[1]?.estimate })
  }
  expect((await estimate({ model: plain })).json).toMatchObject({ lane: 'emulated' })
})

test('a lane that the batch cannot have is 400 and names the remedy', async () => {
  const refusal = await create({ model: plain, lane: 'flex' })
  expect([refusal.status, at(refusal.json, 'error.message')]).toEqual([
    400,
    expect.stringMatching(/no provider of openai\/gpt-4o-mini has a flex tier.*Use "auto" or "emulated"/),
  ])
  const unknown = await create({ lane: 'cheapest' })
  expect([unknown.status, at(unknown.json, 'error.message')]).toEqual([
    400,
    'headrace.lane must be one of auto, native, flex, emulated.',
  ])
})

const cases = [mini, flash].flatMap((model) =>
  (Object.keys(bodies) as Endpoint[]).flatMap((endpoint) => [
    { model, endpoint, lane: 'flex' },
    { model, endpoint, lane: null },
  ]),
)

test.each(cases)('items are served by the flex tier and pay its price: %o', async (asked) => {
  const created = await create(asked)
  expect(created.status).toBe(202)
  expect(at(created.json, 'headrace_metadata')).toEqual({ lane: 'flex' })
  const answer = await ended(idOf(created))
  expect(answer.json).toMatchObject({
    request_counts: { completed: 3, failed: 0 },
    usage: { service_tier: 'flex' },
    headrace_metadata: { lane: 'flex' },
  })
  expect(Math.round(Number(at(answer.json, 'usage.cost')) * 1e9)).toBe(costByHand(answer, asked.model, 0.5))
  // Messages has no word for this tier.
  const shown = asked.endpoint === '/v1/messages' ? undefined : 'flex'
  for (const { response } of resultsOf(answer)) expect(response.body.service_tier).toBe(shown)
  expect(new Set(await tiersAsked(mounts[asked.model] ?? ''))).toEqual(new Set(['flex']))
})

test('an item that names a service tier keeps it, and pays that', async () => {
  const answer = await ended(idOf(await create({ lane: 'flex', own: { service_tier: 'default' } })))
  for (const { response } of resultsOf(answer)) expect(response.body.service_tier).toBe('default')
  expect(Math.round(Number(at(answer.json, 'usage.cost')) * 1e9)).toBe(costByHand(answer, mini, 1))
  const none = await ended(idOf(await create({ lane: 'flex', own: { service_tier: null } })))
  expect(at(none.json, 'usage.service_tier')).toBe('flex')
})

test('the lane flex holds the flex price alone', async () => {
  // Of 900 tokens of output 0.00198 USD at the flex price, and 0.00396 at the usual one.
  const { key } = await app.addOrganization({ credits: '0.003' })
  const as = { key }
  const body = { ...batchOf({ lane: 'flex', items: 1 }) }
  expect((await app.post('/batches', { ...body, headrace: { lane: 'emulated' } }, as)).status).toBe(402)
  const created = await app.post('/batches', body, as)
  expect(created.status).toBe(202)
  const answer = await until(
    () => app.get(`/batches/${idOf(created)}`, as),
    ({ json }) => json['status'] === 'completed',
    8_000,
  )
  expect(at(answer.json, 'request_counts.completed')).toBe(1)
}, 20_000)

test('while the tier is full its items wait as one, say so, and live calls are served as ever', async () => {
  for (const model of [mini, flash]) {
    const mount = mounts[model] ?? ''
    await refuse(1)
    const before = (await tiersAsked(mount)).length
    const id = idOf(await create({ model, items: 30, lane: 'flex' }))
    const waiting = await until(
      () => read(id),
      ({ json }) => at(json, 'headrace_metadata.waiting.causes.0.items') === 30,
    )
    expect(waiting.json).toMatchObject({
      status: 'in_progress',
      headrace_metadata: {
        lane: 'flex',
        waiting: {
          type: 'provider_overloaded',
          message: 'The flex tier of this model has no room at present. The batch waits and asks again.',
        },
      },
    })
    const live = await app.post(
      '/chat/completions',
      { model, ...bodies[chat] },
      { headers: { 'x-headrace-metadata': 'enabled' } },
    )
    expect(live.status).toBe(200)
    expect(at(live.json, 'headrace_metadata.attempts')).toHaveLength(1)
    // The deployment is not said to fail.
    expect(logged.filter((line) => line.includes('circuit_open'))).toEqual([])
    // After each rest fewer are asked: half as many, then one.
    for (let turn = 1; turn <= 3; turn++) {
      aheadMs += 300_000
      await Bun.sleep(1_200)
    }
    expect((await tiersAsked(mount)).length - before).toBeLessThan(30 + 15 + 5)
    await refuse(0)
    aheadMs += 300_000
    const answer = await ended(id)
    expect(at(answer.json, 'request_counts')).toEqual({ total: 30, completed: 30, failed: 0 })
    expect(Math.round(Number(at(answer.json, 'usage.cost')) * 1e9)).toBe(costByHand(answer, model, 0.5))
    expect(at(answer.json, 'headrace_metadata')).toEqual({ lane: 'flex' })
  }
}, 60_000)

test('the 402 shows what each lane would cost, and names the one that fits', async () => {
  const { json } = await estimate({ items: 99 })
  const [flexPrice] = json['lanes'] as { estimate: number }[]
  const max = Math.ceil((flexPrice?.estimate ?? 0) * 1e6) / 1e6
  const refusal = await create({ items: 99, max_cost: max })
  expect(refusal.status).toBe(402)
  expect(at(refusal.json, 'error.metadata.lanes')).toEqual(json['lanes'])
  expect(at(refusal.json, 'error.message')).toContain('In lane "flex" (headrace.lane) it is estimated at')
  expect((await create({ items: 99, max_cost: max, lane: 'flex' })).status).toBe(202)
})

test('near the deadline the items of auto move to the usual tier and pay its price, and the batch says how many', async () => {
  await refuse(1)
  const id = idOf(await create({ items: 6 }))
  await until(
    () => read(id),
    ({ json }) => at(json, 'headrace_metadata.waiting.items') === 6,
  )
  aheadMs += 22 * hour
  const answer = await ended(id)
  expect(at(answer.json, 'headrace_metadata')).toEqual({
    lane: 'flex',
    moved: [{ from: 'flex', to: 'emulated', reason: 'deadline', items: 6 }],
  })
  expect(Math.round(Number(at(answer.json, 'usage.cost')) * 1e9)).toBe(costByHand(answer, mini, 1))
  const listed = await app.get('/batches?limit=1')
  expect(at(listed.json, 'data.0.headrace_metadata')).toEqual(at(answer.json, 'headrace_metadata'))
}, 30_000)
