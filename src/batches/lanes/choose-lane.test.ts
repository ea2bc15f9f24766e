import { expect, test } from 'bun:test'
import type { LaneChoice } from '../../canonical/batch.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { chooseLane } from './choose-lane.ts'

const usual = { inputToken: 2_000_000_000n, outputToken: 8_000_000_000n }
const half = { inputToken: 1_000_000_000n, outputToken: 4_000_000_000n }

function endpointOf(id: string, change: Partial<Endpoint> = {}): Endpoint {
  return {
    id: `${id}/model`,
    deployment: { id, provider: id, providerName: id },
    modality: 'language',
    price: usual,
    longPrices: [],
    isPriced: true,
    ...change,
  } as Endpoint
}

const withFlex = endpointOf('flexible', { tierPrices: { flex: half } })
/** As at Groq: a tier of that name at the usual price. */
const samePrice = endpointOf('same', { tierPrices: { flex: usual } })
const plain = endpointOf('plain')

function choose(
  endpoints: readonly Endpoint[],
  lane: LaneChoice,
  { leading = endpoints, ...change }: { leading?: readonly Endpoint[]; [member: string]: unknown } = {},
) {
  const route = {
    endpoints,
    leading,
    estimatorOf: (priced: readonly Endpoint[]) => () => {
      const worstCase = priced
        .map(({ price }) => price.inputToken ?? 0n)
        .reduce((left, right) => (left > right ? left : right))
      return { estimate: worstCase, worstCase }
    },
  }
  const question = {
    model: 'a/model',
    endpoint: '/v1/chat/completions' as const,
    lane,
    items: 1,
    ...change,
  }
  const { offers, ...resolved } = chooseLane(question, route)
  const costs = offers.map((offer) => [offer.lane, offer.estimateItem(null).estimate])
  return { ...resolved, costs }
}

test('auto takes flex where it is cheaper, only at endpoints that have it, and sets the live price aside', () => {
  expect(choose([plain, withFlex, samePrice], 'auto')).toEqual({
    endpointIds: ['flexible/model'],
    providerSlug: 'flexible',
    lane: 'flex',
    heldLane: 'emulated',
    costs: [
      ['flex', 1_000_000_000n],
      ['emulated', 2_000_000_000n],
    ],
  })
})

test('a lane by name is that lane, at its own price', () => {
  expect(choose([plain, withFlex], 'flex')).toMatchObject({ lane: 'flex', heldLane: 'flex' })
  const live = choose([plain, withFlex], 'emulated')
  expect(live).toMatchObject({ lane: 'emulated', heldLane: 'emulated', providerSlug: null })
  expect(live.costs.map(([lane]) => lane)).toEqual(['emulated', 'flex'])
})

test('a tier at the usual price, without one, or with one that is unknown in part is no flex lane', () => {
  const partly = endpointOf('partly', { tierPrices: { flex: { inputToken: 1n } } })
  const dearer = endpointOf('dearer', { tierPrices: { flex: { ...half, outputToken: 9_000_000_000n } } })
  const unknown = endpointOf('unknown', { price: {}, isPriced: false, tierPrices: { flex: half } })
  for (const endpoint of [samePrice, plain, partly, dearer, unknown]) {
    expect(choose([endpoint], 'auto')).toMatchObject({ lane: 'emulated', heldLane: 'emulated' })
    expect(() => choose([endpoint], 'flex')).toThrow(/no provider of a\/model has a flex tier.*"emulated"/)
  }
})

test('auto does not wait for a flex tier that is dearer than another provider is now', () => {
  const cheap = endpointOf('cheap', { price: { inputToken: 1n, outputToken: 1n } })
  expect(choose([withFlex, cheap], 'auto')).toMatchObject({ lane: 'emulated' })
  expect(choose([withFlex, cheap], 'flex')).toMatchObject({ lane: 'flex', endpointIds: ['flexible/model'] })
})

test("auto takes a provider's job from a hundred items on, and flex or the live price below that", () => {
  const both = endpointOf('both', { batch: 'native', tierPrices: { flex: half, batch: half } })
  expect(choose([both], 'auto', { items: 100 })).toMatchObject({ lane: 'native', heldLane: 'emulated' })
  expect(choose([both], 'auto', { items: 99 })).toMatchObject({ lane: 'flex', heldLane: 'emulated' })
  const own = endpointOf('own', { batch: 'native', tierPrices: { batch: half } })
  expect(choose([own], 'auto', { items: 100 }).lane).toBe('native')
  expect(choose([own], 'auto', { items: 99 }).lane).toBe('emulated')
  expect(choose([own], 'native', { items: 1 })).toMatchObject({ lane: 'native', heldLane: 'native' })
})

test('of a batch only what jobs would run makes a job pay, and a batch of which they run nothing has no such lane', () => {
  const own = endpointOf('own', { batch: 'native', tierPrices: { batch: half } })
  const many = { items: 1_000 }
  expect(choose([own], 'auto', { ...many, jobItems: 100 }).lane).toBe('native')
  expect(choose([own], 'auto', { ...many, jobItems: 99 }).lane).toBe('emulated')
  expect(choose([own], 'native', { ...many, jobItems: 1 }).lane).toBe('native')
  expect(choose([own], 'auto', { ...many, jobItems: 0 }).costs.map(([lane]) => lane)).toEqual(['emulated'])
  expect(choose([own], 'auto', { ...many, jobItems: 0, model: 'a/model:batch' }).lane).toBe('emulated')
  expect(() => choose([own], 'native', { ...many, jobItems: 0 })).toThrow(/runs none of these requests/)
})

test('auto takes the cheaper one of job and flex, and no job at an unknown price or above the live one', () => {
  const quarter = { inputToken: 500_000_000n, outputToken: 2_000_000_000n }
  const many = { items: 1_000 }
  const cheaperFlex = endpointOf('flex', { batch: 'native', tierPrices: { flex: quarter, batch: half } })
  expect(choose([cheaperFlex], 'auto', many).lane).toBe('flex')
  const cheaperJob = endpointOf('job', { batch: 'native', tierPrices: { flex: half, batch: quarter } })
  expect(choose([cheaperJob], 'auto', many).lane).toBe('native')
  expect(choose([endpointOf('unpriced', { batch: 'native' })], 'auto', many).lane).toBe('emulated')
  const cheap = endpointOf('cheap', { price: { inputToken: 1n, outputToken: 1n } })
  expect(choose([cheaperJob, cheap], 'auto', many).lane).toBe('emulated')
})

test('a fallback is no reason for a lane: not by its job, its tier or its price', () => {
  const fallback = endpointOf('fallback', { batch: 'native', tierPrices: { flex: half, batch: half } })
  const many = { items: 1_000, leading: [plain] }
  const chosen = choose([plain, fallback], 'auto', many)
  expect(chosen).toMatchObject({ lane: 'emulated', endpointIds: ['plain/model', 'fallback/model'] })
  expect(chosen.costs.map(([lane]) => lane)).toEqual(['emulated'])
  expect(() => choose([plain, fallback], 'native', many)).toThrow('headrace.lane')
  expect(() => choose([plain, fallback], 'flex', many)).toThrow('headrace.lane')
  const own = endpointOf('own', { batch: 'native', tierPrices: { batch: half } })
  const cheap = endpointOf('cheap', { price: { inputToken: 1n, outputToken: 1n } })
  expect(choose([own, cheap], 'auto', { items: 1_000, leading: [own] })).toMatchObject({
    lane: 'native',
    endpointIds: ['own/model'],
  })
})

test('embeddings have no tier, and a model with :batch runs at the live price unless its caller names a lane', () => {
  expect(choose([withFlex], 'auto', { endpoint: '/v1/embeddings' })).toMatchObject({ lane: 'emulated' })
  expect(() => choose([withFlex], 'flex', { endpoint: '/v1/embeddings' })).toThrow('headrace.lane')
  expect(choose([withFlex], 'auto', { model: 'a/model:batch' })).toMatchObject({ lane: 'emulated' })
  expect(choose([withFlex], 'flex', { model: 'a/model:batch' })).toMatchObject({ lane: 'flex' })
})
