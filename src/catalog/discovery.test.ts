import { expect, test } from 'bun:test'
import { discoveryConcurrencyMax, discoveryRetryMs } from '../core/limits/catalog.ts'
import type { Catalog } from './catalog.ts'
import { createDiscovery, discoveryEveryMs } from './discovery.ts'
import { parseListing, UnreadableListing } from './listing.ts'

function setUp(fetchListing: (id: string) => Promise<unknown>, deploymentIds = ['one']) {
  const replaced: [string, number][] = []
  const catalog = {
    replaceDiscovered: (id: string, models: readonly unknown[]) => replaced.push([id, models.length]),
  } as unknown as Catalog
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }
  return { replaced, clock, discovery: createDiscovery({ catalog, deploymentIds, fetchListing, clock }) }
}

test('a listing is read once until it is due again', async () => {
  const { replaced, clock, discovery } = setUp(async () => ({ data: [{ id: 'a' }] }))
  await discovery.refreshDue()
  await discovery.refreshDue()
  expect(replaced).toEqual([['one', 1]])
  clock.ms += discoveryEveryMs
  await discovery.refreshDue()
  expect(replaced).toHaveLength(2)
  expect(discovery.states()).toEqual([{ deploymentId: 'one', modelCount: 1, failure: null }])
})

test('a failed read changes nothing, is reported, and is tried again soon', async () => {
  let fails = true
  const { replaced, clock, discovery } = setUp(async () => {
    if (fails) throw new Error('refused')
    return [{ id: 'a' }]
  })
  await discovery.refreshDue()
  expect(replaced).toEqual([])
  expect(discovery.states()[0]?.failure).toBe('refused')
  fails = false
  clock.ms += discoveryRetryMs
  await discovery.refreshDue()
  expect(replaced).toEqual([['one', 1]])
})

test('reading on demand is bounded in time and shared by all who ask', async () => {
  let calls = 0
  const { clock, discovery } = setUp(async () => {
    calls += 1
    return []
  })
  await Promise.all([discovery.refreshStale(), discovery.refreshStale(), discovery.refreshDue()])
  await discovery.refreshStale()
  expect(calls).toBe(1)
  clock.ms += discoveryRetryMs
  await discovery.refreshStale()
  expect(calls).toBe(2)
})

test('only a few listings are read at once', async () => {
  let running = 0
  let most = 0
  const ids = Array.from({ length: 20 }, (_, index) => `d${index}`)
  const { discovery, replaced } = setUp(async () => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running -= 1
    return []
  }, ids)
  await discovery.refreshDue()
  expect(replaced).toHaveLength(20)
  expect(most).toBe(discoveryConcurrencyMax)
})

test('servers that failed are asked after all others, so that they do not delay them', async () => {
  const ids = [...Array.from({ length: discoveryConcurrencyMax }, (_, index) => `dead${index}`), 'well']
  const asked: string[] = []
  const { clock, discovery } = setUp(async (id) => {
    asked.push(id)
    if (id.startsWith('dead')) throw new Error('no answer')
    return []
  }, ids)
  await discovery.refreshDue()
  asked.length = 0
  clock.ms += discoveryEveryMs
  await discovery.refreshDue()
  expect(asked[0]).toBe('well')
  expect(asked).toHaveLength(ids.length)
})

test('one bad server hides neither the other servers nor its own earlier listing', async () => {
  const broken = new Map<string, unknown>()
  const { replaced, clock, discovery } = setUp(async (id) => broken.get(id) ?? { data: [{ id }] }, ['a', 'b'])
  await discovery.refreshDue()
  broken.set('a', { error: 'what?' })
  clock.ms += discoveryEveryMs
  await discovery.refreshDue()
  expect(replaced).toEqual([
    ['a', 1],
    ['b', 1],
    ['b', 1],
  ])
  expect(discovery.states().map(({ modelCount, failure }) => [modelCount, failure === null])).toEqual([
    [1, false],
    [1, true],
  ])
})

test('listings of every known shape are read, and another body is not taken for an empty listing', () => {
  expect(parseListing([{ id: 'a', type: 'embedding', context_length: 5 }])[0]).toMatchObject({
    modality: 'embedding',
    contextLength: 5,
  })
  expect(parseListing({ data: [{ id: 'm', meta: { n_ctx_train: 9 } }] })[0]?.contextLength).toBe(9)
  expect(parseListing({ models: [{ name: 'x' }] })[0]?.upstream).toBe('x')
  const dated = { data: [{ type: 'model', id: 'c', display_name: 'C', created_at: '2025-02-24T00:00:00Z' }] }
  expect(parseListing(dated)[0]).toMatchObject({ upstream: 'c', name: 'C', created: 1_740_355_200 })
  expect(parseListing({ data: [] })).toEqual([])
  expect(parseListing({ data: [{ id: 'a' }, null, { id: 7 }, { id: '' }] })).toHaveLength(1)
  for (const body of [null, 'x', {}, { data: {} }, { data: [{}] }]) {
    expect(() => parseListing(body)).toThrow(UnreadableListing)
  }
})

test('Google’s form of a listing gives names, sizes and kinds', () => {
  const model = (name: string, method: string) => ({
    name: `models/${name}`,
    displayName: name.toUpperCase(),
    inputTokenLimit: 1000,
    outputTokenLimit: 100,
    supportedGenerationMethods: [method],
  })
  const models = [model('a', 'generateContent'), model('b', 'embedContent'), model('c', 'predict')]
  const shared = { created: null, contextLength: 1000, outputTokensMax: 100 }
  expect(parseListing({ models })).toEqual([
    { ...shared, upstream: 'a', name: 'A', modality: undefined },
    { ...shared, upstream: 'b', name: 'B', modality: 'embedding' },
    { ...shared, upstream: 'c', name: 'C', modality: null },
  ])
})
