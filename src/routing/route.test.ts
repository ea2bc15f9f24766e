import { describe, expect, test } from 'bun:test'
import { defaultPreferences } from '../canonical/call.ts'
import type { Preferences } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import type { Constraints } from '../canonical/principal.ts'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import { createCatalog } from '../catalog/catalog.ts'
import { createProviderPrices } from '../catalog/prices/provider-prices.ts'
import type { DeploymentSource } from '../catalog/deployment-source.ts'
import { GatewayError } from '../core/errors.ts'
import { demandOf } from '../../test/simulation/billing-fixtures.ts'
import { createHealth, credentialRetryMs, failureMemoryMs } from './health.ts'
import { route } from './route.ts'
import type { RouteRequest } from './route.ts'
import { createStickyRoutes } from './sticky.ts'

const anything: Constraints = {
  allowedModels: null,
  ignoredModels: [],
  allowedProviders: null,
  ignoredProviders: [],
  requireZdr: false,
  denyDataCollection: false,
}

interface Provider {
  id: string
  price?: string
  preset?: string
  provider?: string
  zdr?: boolean
  trains?: boolean
}

function source({
  id,
  price = '1',
  provider = id,
  preset = provider,
  zdr = false,
  trains = false,
}: Provider): DeploymentSource {
  return {
    deployment: {
      id,
      preset,
      provider,
      providerName: provider.toUpperCase(),
      baseUrl: 'http://127.0.0.1:1',
      region: null,
      weight: 1,
      concurrencyMax: null,
    },
    author: id,
    modalities: ['language'],
    pricesProviderId: null,
    prices: createProviderPrices([]),
    publicName: (name) => name,
    modelRules: [],
    parametersOf: () => null,
    isFree: false,
    onlyListed: false,
    dataPolicy: { zdr, trains, stores: false },
    batch: 'emulated',
    models: [
      {
        id: 'acme/large',
        modality: 'language',
        prices: price === 'unknown' ? {} : { input_per_million: price, output_per_million: price },
      },
    ],
  }
}

/** Numbers from 0 to 1 that repeat with the seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function callOf(sessionId: string | null) {
  return { preferences: defaultPreferences, parameters: [], sessionId, demand: demandOf() }
}

function setUp(providers: readonly Provider[]) {
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }
  const catalog = createCatalog({ deployments: providers.map(source), nowMs: () => 0 }).current()
  const health = createHealth({ clock })
  const sticky = createStickyRoutes({ clock })
  const random = seeded(7)
  const request = (
    preferences: Partial<Preferences> = {},
    changes: Partial<RouteRequest> = {},
  ): RouteRequest => ({
    call: { ...callOf(null), preferences: { ...defaultPreferences, ...preferences } },
    model: 'acme/large',
    modality: 'language',
    requirements: [],
    organizationId: 'org_1',
    constraints: anything,
    providerOnly: null,
    catalog,
    health,
    sticky,
    random,
    ...changes,
  })
  const namesOf = (preferences: Partial<Preferences> = {}, changes: Partial<RouteRequest> = {}) =>
    route(request(preferences, changes)).ordered.map(({ deployment }) => deployment.id)
  const endpoint = (id: string): Endpoint => {
    const found = catalog.endpointsOf('acme/large', 'language').find(({ deployment }) => deployment.id === id)
    if (!found) throw new Error(`no endpoint of ${id}`)
    return found
  }
  return { clock, catalog, health, sticky, request, namesOf, endpoint }
}

const failure: UpstreamFailure = {
  error: new GatewayError('provider_failed', 'failed'),
  retryElsewhere: true,
  retrySame: true,
  credentialFault: false,
  retryAfterMs: null,
}
const limited = (retryAfterMs: number | null): UpstreamFailure => ({
  ...failure,
  error: new GatewayError('upstream_rate_limited', 'limited'),
  retryAfterMs,
})

function refusalOf(request: RouteRequest): GatewayError {
  try {
    route(request)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('the route was not refused')
}

describe('refusal', () => {
  test('names the tags of several deployments of one provider, so that a caller can send one', () => {
    const { request, namesOf } = setUp([
      { id: 'alone' },
      { id: 'maker-north', provider: 'maker' },
      { id: 'south', provider: 'maker' },
    ])
    const { message } = refusalOf(request({ only: ['elsewhere'] }))
    expect(message).toContain('providers of the model are alone, maker/north, maker/south.')
    expect(namesOf({ only: ['maker/south'] })).toEqual(['south'])
  })

  test('names self-hosted servers by their ids; their preset still means all of them', () => {
    const { request, namesOf } = setUp([
      { id: 'alone' },
      { id: 'north', preset: 'custom' },
      { id: 'south', preset: 'custom' },
    ])
    const { message } = refusalOf(request({ only: ['elsewhere'] }))
    expect(message).toContain('providers of the model are alone, north, south.')
    for (const name of ['south', 'South', 'custom/south'])
      expect(namesOf({ only: [name] })).toEqual(['south'])
    expect(namesOf({ only: ['custom'] }).toSorted()).toEqual(['north', 'south'])
    expect(namesOf({ ignore: ['custom'] })).toEqual(['alone'])
    expect(
      namesOf({}, { constraints: { ...anything, ignoredProviders: ['custom/north'] } }).toSorted(),
    ).toEqual(['alone', 'south'])
  })
})

describe('order', () => {
  test('endpoints of half the price come first four times out of five', () => {
    const { namesOf } = setUp([
      { id: 'cheap', price: '1' },
      { id: 'dear', price: '2' },
    ])
    const rounds = 4_000
    let cheapFirst = 0
    for (let round = 0; round < rounds; round++) if (namesOf()[0] === 'cheap') cheapFirst += 1
    expect(cheapFirst / rounds).toBeGreaterThan(0.77)
    expect(cheapFirst / rounds).toBeLessThan(0.83)
  })

  test('an unknown price counts as the dearest, and a price of zero causes no division by zero', () => {
    const { namesOf } = setUp([
      { id: 'free', price: '0' },
      { id: 'unknown', price: 'unknown' },
      { id: 'dear', price: '9' },
    ])
    for (let round = 0; round < 50; round++) expect(namesOf()[0]).toBe('free')
    expect(
      setUp([
        { id: 'a', price: '0' },
        { id: 'b', price: '0' },
      ]).namesOf(),
    ).toHaveLength(2)
    expect(
      setUp([
        { id: 'a', price: 'unknown' },
        { id: 'b', price: 'unknown' },
      ]).namesOf(),
    ).toHaveLength(2)
  })

  test("the caller's order is kept, others follow, and without fallbacks they do not", () => {
    const { namesOf } = setUp([{ id: 'a' }, { id: 'b', price: '9' }, { id: 'c', price: '99' }])
    expect(namesOf({ order: ['c', 'b'] })).toEqual(['c', 'b', 'a'])
    expect(namesOf({ order: ['c', 'b'], allowFallbacks: false })).toEqual(['c', 'b'])
    expect(namesOf({ order: [], allowFallbacks: false })).toHaveLength(1)
    expect(namesOf({ allowFallbacks: false })).toHaveLength(1)
  })

  test('a base slug means all its deployments, a tag one of them, and display names are understood', () => {
    const { namesOf } = setUp([
      { id: 'one' },
      { id: 'two-eu', provider: 'two' },
      { id: 'two', provider: 'two' },
    ])
    expect(namesOf({ only: ['two'] }).toSorted()).toEqual(['two', 'two-eu'])
    expect(namesOf({ only: ['two/eu'] })).toEqual(['two-eu'])
    expect(namesOf({ only: ['One'] })).toEqual(['one'])
  })

  test('sorting by price, latency and throughput, also by variant', () => {
    const { namesOf, health, endpoint } = setUp([
      { id: 'a', price: '3' },
      { id: 'b', price: '2' },
      { id: 'c', price: '1' },
    ])
    expect(namesOf({ sort: 'price' })).toEqual(['c', 'b', 'a'])
    expect(namesOf({}, { model: 'acme/large:floor' })).toEqual(['c', 'b', 'a'])
    health.recordSuccess(endpoint('a'), { latencyMs: 900, throughput: 90 })
    health.recordSuccess(endpoint('b'), { latencyMs: 100, throughput: 10 })
    expect(namesOf({ sort: 'latency' })).toEqual(['b', 'a', 'c'])
    expect(namesOf({ sort: 'throughput' })).toEqual(['a', 'b', 'c'])
    expect(namesOf({}, { model: 'acme/large:nitro' })).toEqual(['a', 'b', 'c'])
  })

  test('endpoints that miss the preferred latency or throughput follow the others, in every order', () => {
    const { namesOf, health, endpoint } = setUp([
      { id: 'a', price: '1' },
      { id: 'b', price: '2' },
      { id: 'c', price: '3' },
    ])
    for (const throughput of [10, 20, 30, 40])
      health.recordSuccess(endpoint('a'), { latencyMs: 900, throughput })
    health.recordSuccess(endpoint('b'), { latencyMs: 100, throughput: 25 })
    expect(namesOf({ sort: 'price', preferredLatencyMaxMs: { p50: 500 } })).toEqual(['b', 'c', 'a'])
    expect(namesOf({ sort: 'price', preferredLatencyMaxMs: { p50: 50 } })).toEqual(['c', 'a', 'b'])
    expect(namesOf({ sort: 'price', preferredThroughputMin: { p50: 28 } })).toEqual(['a', 'c', 'b'])
    expect(namesOf({ sort: 'price', preferredThroughputMin: { p50: 28, p90: 50 } })).toEqual(['c', 'a', 'b'])
    expect(namesOf({ order: ['a', 'b', 'c'], preferredLatencyMaxMs: { p99: 500 } })).toEqual(['b', 'c', 'a'])
    expect(namesOf({ only: ['a'], preferredLatencyMaxMs: { p50: 1 } })).toEqual(['a'])
  })

  test('an endpoint that failed stands last for thirty seconds', () => {
    const { namesOf, health, endpoint, clock } = setUp([
      { id: 'free', price: '0' },
      { id: 'dear', price: '9' },
    ])
    health.recordFailure(endpoint('free'), failure)
    expect(namesOf()).toEqual(['dear', 'free'])
    clock.ms += failureMemoryMs
    expect(namesOf()).toEqual(['free', 'dear'])
  })

  test('an endpoint that asked for a pause comes last even if the caller lists it first, and is tried when no other is left', () => {
    const { namesOf, health, endpoint, clock } = setUp([{ id: 'a' }, { id: 'b' }])
    health.recordFailure(endpoint('a'), limited(60_000))
    expect(namesOf({ order: ['a'] })).toEqual(['b', 'a'])
    expect(namesOf({ only: ['a'] })).toEqual(['a'])
    clock.ms += 60_000
    expect(namesOf({ order: ['a'] })).toEqual(['a', 'b'])
  })

  test('failures that the caller caused change nothing', () => {
    const { namesOf, health, endpoint } = setUp([
      { id: 'free', price: '0' },
      { id: 'dear', price: '9' },
    ])
    health.recordFailure(endpoint('free'), { ...failure, error: new GatewayError('invalid_request', 'bad') })
    expect(namesOf()[0]).toBe('free')
  })

  test('a conversation goes where it was, unless that endpoint failed or the caller gave an order', () => {
    const { namesOf, sticky, health, endpoint } = setUp([
      { id: 'free', price: '0' },
      { id: 'dear', price: '9' },
    ])
    const call = callOf('s1')
    expect(namesOf({}, { call })[0]).toBe('free')
    sticky.remember({ organizationId: 'org_1', model: 'acme/large', key: 's1' }, endpoint('dear').id)
    expect(namesOf({}, { call })[0]).toBe('dear')
    expect(namesOf({}, { call, organizationId: 'org_2' })[0]).toBe('free')
    expect(namesOf({}, { conversationKey: () => 's1' })[0]).toBe('dear')
    const ordered = { ...call, preferences: { ...defaultPreferences, order: ['free'] } }
    expect(namesOf({}, { call: ordered })[0]).toBe('free')
    health.recordFailure(endpoint('dear'), failure)
    expect(namesOf({}, { call })[0]).toBe('free')
  })

  test('every process draws the same endpoint for a conversation, and many of them are spread by weight', () => {
    const providers = [{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd', price: '2' }]
    const [one, other] = [setUp(providers), setUp(providers)]
    const counts = new Map<string, number>()
    for (let index = 0; index < 1_300; index += 1) {
      const conversationKey = () => `opening-${index}`
      const [first = ''] = one.namesOf({}, { conversationKey, random: () => 0.1 })
      expect(other.namesOf({}, { conversationKey, random: () => 0.9 })[0]).toBe(first)
      counts.set(first, (counts.get(first) ?? 0) + 1)
    }
    // One over the square of the price: 4 : 4 : 4 : 1.
    for (const [id, share] of Object.entries({ a: 400, b: 400, c: 400, d: 100 })) {
      expect(counts.get(id) ?? 0).toBeGreaterThan(share * 0.85)
      expect(counts.get(id) ?? 0).toBeLessThan(share * 1.25)
    }
  })

  test('however many calls run, conversations keep to prices and to the healthy ones', () => {
    const { namesOf, health, endpoint } = setUp([
      { id: 'cheap' },
      { id: 'cheap2' },
      { id: 'dear', price: '10' },
      { id: 'down' },
    ])
    health.recordFailure(endpoint('down'), limited(60_000))
    const running: Record<string, number> = { cheap: 100, cheap2: 100, dear: 1, down: 0 }
    const runningOf = ({ id }: { id: string }) => running[id] ?? 0
    const firsts = Array.from({ length: 500 }, (_, index) =>
      namesOf({}, { conversationKey: () => `opening-${index}`, runningOf }),
    )
    expect(firsts.filter(([first]) => first === 'dear').length).toBeLessThan(25)
    expect(firsts.filter(([first]) => first === 'cheap').length).toBeGreaterThan(200)
  })

  test('a conversation goes elsewhere when its endpoint is much busier than its equals', () => {
    const { namesOf } = setUp([{ id: 'a' }, { id: 'b' }])
    const conversationKey = () => 'opening-1'
    const [first] = namesOf({}, { conversationKey })
    const busy = (calls: number) => ({
      conversationKey,
      runningOf: ({ id }: { id: string }) => (id === first ? calls : 2),
    })
    expect(namesOf({}, busy(6))[0]).toBe(first)
    expect(namesOf({}, busy(20))[0]).not.toBe(first)
  })
})

describe('filters', () => {
  const providers = [
    { id: 'a', zdr: true, price: '5' },
    { id: 'b', trains: true },
  ]

  test('organization and key may name one provider differently, and neither widens the other', () => {
    const { namesOf, request } = setUp([
      { id: 'maker' },
      { id: 'maker-eu', provider: 'maker' },
      { id: 'other' },
    ])
    const both = (organization: string[], key: string[]) => ({
      constraints: { ...anything, allowedProviders: organization, allowedProvidersOfKey: key },
    })
    expect(namesOf({}, both(['maker'], ['MAKER', 'other'])).toSorted()).toEqual(['maker', 'maker-eu'])
    expect(namesOf({}, both(['maker'], ['maker-eu']))).toEqual(['maker-eu'])
    expect(namesOf({}, both(['maker', 'other'], ['maker/eu']))).toEqual(['maker-eu'])
    expect(refusalOf(request({}, both(['other'], ['maker']))).message).toContain('allowed_providers')
  })

  test('every preference leaves out the right endpoints', () => {
    const { namesOf } = setUp(providers)
    expect(namesOf({ ignore: ['a'] })).toEqual(['b'])
    expect(namesOf({ requireZdr: true })).toEqual(['a'])
    expect(namesOf({ denyDataCollection: true })).toEqual(['a'])
    expect(namesOf({ maxPrice: { prompt: 2_000_000_000n } })).toEqual(['b'])
    expect(namesOf({ quantizations: ['unknown'] })).toHaveLength(2)
    expect(namesOf({}, { providerOnly: ['b'] })).toEqual(['b'])
  })

  test('an unknown price is above every limit', () => {
    const { namesOf } = setUp([{ id: 'a', price: 'unknown' }, { id: 'b' }])
    expect(namesOf({ maxPrice: { prompt: 10n ** 15n } })).toEqual(['b'])
  })

  test('endpoints that were left out are listed with their reasons', () => {
    const { request } = setUp(providers)
    const { excluded } = route(request({}, { constraints: { ...anything, requireZdr: true } }))
    expect(excluded).toEqual([
      { endpointId: 'b/large', provider: 'B', model: 'acme/large', step: 'policy', reason: 'enforce_zdr' },
    ])
  })

  test('a feature that only some endpoints have leaves the others out', () => {
    const { namesOf } = setUp(providers)
    const requirement = {
      field: 'diarize',
      supports: (endpoint: Endpoint) => endpoint.deployment.id === 'b',
      refuse: () => new GatewayError('invalid_request', 'nobody can'),
    }
    expect(namesOf({}, { requirements: [requirement] })).toEqual(['b'])
  })

  test(':free means endpoints without a price', () => {
    const { namesOf } = setUp([{ id: 'a', price: '0' }, { id: 'b' }])
    expect(namesOf({}, { model: 'acme/large:free' })).toEqual(['a'])
  })
})

describe('refusals', () => {
  const providers = [{ id: 'a' }, { id: 'b' }]

  test('an unserved model is 400 and names similar ids', () => {
    const { request } = setUp(providers)
    expect(refusalOf(request({}, { model: 'acme/larg' }))).toMatchObject({
      type: 'model_not_found',
      status: 400,
    })
    expect(refusalOf(request({}, { model: 'acme/larg' })).message).toContain('acme/large')
  })

  test('a variant that is not served is 400 and names the served variants', () => {
    const { request } = setUp(providers)
    for (const variant of [':online', ':thinking', ':extended']) {
      const refusal = refusalOf(request({}, { model: `acme/large${variant}` }))
      expect(refusal).toMatchObject({ type: 'model_not_found', status: 400, param: 'model' })
      expect(refusal.message).toContain(`acme/large has no variant "${variant}"`)
      expect(refusal.message).toContain(':floor, :nitro')
    }
  })

  test('policy that leaves none is 403 and says which rule', () => {
    const { request } = setUp(providers)
    const refusal = refusalOf(request({}, { constraints: { ...anything, allowedModels: ['x/y'] } }))
    expect(refusal.status).toBe(403)
    expect(refusal.message).toContain('allowed_models')
  })

  test('preferences that leave none are 404, name the member and show how many were left at each step', () => {
    const { request } = setUp(providers)
    const constraints = { ...anything, allowedProviders: ['a'] }
    const refusal = refusalOf(request({ only: ['b'] }, { constraints }))
    expect(refusal).toMatchObject({ status: 404, param: 'provider.only' })
    expect(refusal.message).toContain('it names [b] and the policy allows [a]')
    expect(refusal.metadata).toEqual({
      routing_funnel: [
        { step: 'policy', endpoint_count: 1 },
        { step: 'provider.only', endpoint_count: 0 },
      ],
      failed_routing_step: 'provider.only',
    })
  })

  test('every preference is named when it is the one that leaves none', () => {
    const { request } = setUp(providers)
    const cases: [Partial<Preferences>, string][] = [
      [{ only: [] }, 'provider.only'],
      [{ ignore: ['a', 'b'] }, 'provider.ignore'],
      [{ requireZdr: true }, 'provider.zdr'],
      [{ quantizations: ['fp8'] }, 'provider.quantizations'],
      [{ maxPrice: { completion: 1n } }, 'provider.max_price'],
      [{ order: ['z'], allowFallbacks: false }, 'provider.order'],
    ]
    for (const [preferences, member] of cases) expect(refusalOf(request(preferences)).param).toBe(member)
    expect(refusalOf(request({}, { providerOnly: ['z'] })).message).toContain('it names [z]')
  })

  test('a feature that no endpoint has is refused in the words of the requirement', () => {
    const { request } = setUp(providers)
    const error = new GatewayError('invalid_request', 'nobody can', { param: 'diarize' })
    const requirements = [
      {
        field: 'keyterms',
        supports: ({ deployment }: Endpoint) => deployment.id === 'a',
        refuse: () => new GatewayError('invalid_request', 'one can'),
      },
      { field: 'diarize', supports: () => false, refuse: () => error },
    ]
    expect(refusalOf(request({}, { requirements }))).toBe(error)
  })

  test('a refused credential takes the deployment out for a minute, and 503 says when to try again', () => {
    const { request, namesOf, health, endpoint, clock } = setUp(providers)
    health.recordFailure(endpoint('a'), { ...failure, credentialFault: true })
    expect(namesOf()).toEqual(['b'])
    const alone = refusalOf(request({ only: ['a'] }))
    expect(alone).toMatchObject({ status: 503, retryAfterSeconds: credentialRetryMs / 1000 })
    health.recordFailure(endpoint('b'), { ...failure, credentialFault: true })
    expect(refusalOf(request())).toMatchObject({ status: 503, retryAfterSeconds: credentialRetryMs / 1000 })
    // A spent quota puts a deployment out just the same.
    expect(refusalOf(request()).message).toContain('has no quota left')
    clock.ms += credentialRetryMs
    expect(namesOf()).toHaveLength(2)
  })
})
