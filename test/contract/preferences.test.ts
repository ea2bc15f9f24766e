import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'

// Contract 5.4: a restriction in `provider` leaves endpoints out, and a preference only orders them.

let app: TestGateway
const prices = { input_per_million: '1', output_per_million: '2' }
beforeAll(async () => {
  app = await startTestGateway({
    providers: (url) =>
      ['slow', 'fast'].map((id): ProviderConfig => ({
        preset: 'custom',
        id,
        base_url: `${url}/p/${id}/v1`,
        api_key: 'any',
        weight: 1,
        only_models: true,
        models: [{ id: 'acme/chat', upstream: 'gpt-4o-mini', modality: 'language', prices }],
      })),
  })
})
afterAll(() => app.stop())

const body = { model: 'acme/chat', messages: [{ role: 'user', content: 'Say hello' }] }
const ask = (provider: object, more: object = {}) =>
  app.post(
    '/chat/completions',
    { ...body, ...more, provider },
    { headers: { 'x-headrace-metadata': 'enabled' } },
  )

test('endpoints that miss the preferred latency or throughput are moved back, and never left out', async () => {
  const askedOf = async (provider: object, calls = 1) => {
    const found = new Set<unknown>()
    for (let call = 0; call < calls; call += 1) {
      const { status, json } = await ask(provider)
      expect([status, at(json, 'headrace_metadata.dropped') ?? []]).toEqual([200, []])
      found.add(json['provider'])
    }
    return [...found].map(String).toSorted((left, right) => left.localeCompare(right))
  }
  await app.admin('faults?mount=slow', [{ fault: 'latency=2500' }])
  for (const only of ['slow', 'fast']) await askedOf({ only: [only] })
  await app.admin('faults?mount=slow', [])
  // In seconds. Only the mount that was told to be slow can have taken a whole second.
  expect(await askedOf({ preferred_max_latency: 1.5 }, 12)).toEqual(['fast'])
  expect(await askedOf({ preferred_max_latency: { p50: 1.5, p90: null } }, 12)).toEqual(['fast'])
  expect(await askedOf({ preferred_max_latency: 1.5, order: ['slow'] })).toEqual(['fast'])
  expect(await askedOf({ preferred_max_latency: 60 }, 40)).toEqual(['fast', 'slow'])
  expect(await askedOf({ preferred_max_latency: 0.000001, only: ['slow'] })).toEqual(['slow'])
  expect(await askedOf({ preferred_min_throughput: 1e12, only: ['slow'] })).toEqual(['slow'])
}, 30_000)

test('no model is known to allow distillation, so that none is left that does', async () => {
  const { status, json } = await ask({ enforce_distillable_text: true })
  expect([status, at(json, 'error.metadata.failed_routing_step')]).toEqual([
    404,
    'provider.enforce_distillable_text',
  ])
  expect(at(json, 'error.availability.code')).toBe('constraint_filtered')
  expect(at(json, 'error.message')).toContain('enforce_distillable_text')
  expect((await ask({ enforce_distillable_text: false })).status).toBe(200)
  // As the list of models says.
  expect((await app.get('/models?distillable=true')).json['data']).toEqual([])
})

test('a limit of the price of an image is met where no image has a price, and is read like the others', async () => {
  const { status, json } = await ask({ max_price: { image: 0.01 } })
  expect([status, at(json, 'headrace_metadata.dropped') ?? []]).toEqual([200, []])
  const bad = await ask({ max_price: { image: -1 } })
  expect([bad.status, at(bad.json, 'error.param')]).toEqual([400, 'provider.max_price.image'])
})
