import { describe, expect, test } from 'bun:test'
import { defaultPreferences } from '../canonical/call.ts'
import type { Preferences } from '../canonical/call.ts'
import { unknownFigures } from '../canonical/endpoint.ts'
import type { Constraints } from '../canonical/principal.ts'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import { createCatalog } from '../catalog/catalog.ts'
import type { DeploymentSource } from '../catalog/deployment-source.ts'
import { listModels } from '../catalog/model-list.ts'
import type { OperatorName } from '../catalog/operator-names.ts'
import { createProviderPrices } from '../catalog/prices/provider-prices.ts'
import { GatewayError } from '../core/errors.ts'
import { demandOf } from '../../test/simulation/billing-fixtures.ts'
import { createHealth } from './health.ts'
import { route } from './route.ts'
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
  model?: string
  price?: string
  provider?: string
  region?: string
  weight?: number
}

function source({
  id,
  model = 'acme/large',
  price = '1',
  provider = id,
  region,
  weight = 1,
}: Provider): DeploymentSource {
  return {
    deployment: {
      id,
      preset: provider,
      provider,
      providerName: provider.toUpperCase(),
      baseUrl: 'http://127.0.0.1:1',
      region: region ?? null,
      weight,
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
    dataPolicy: { zdr: false, trains: false, stores: false },
    batch: 'emulated',
    models: [
      {
        id: model,
        modality: 'language',
        prices: { input_per_million: price, output_per_million: price },
        context_length: 1000 * Number(price),
      },
    ],
  }
}

const failure: UpstreamFailure = {
  error: new GatewayError('provider_failed', 'failed'),
  retryElsewhere: true,
  retrySame: true,
  credentialFault: false,
  retryAfterMs: null,
}

/** Numbers from 0 to 1 that repeat with the seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function setUp(
  providers: readonly Provider[],
  groups: OperatorName['groups'],
  aliases: Readonly<Record<string, string>> = {},
) {
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }
  const names = { names: { smart: { description: 'Ours', groups } }, aliases }
  const catalog = createCatalog({ deployments: providers.map(source), names, nowMs: () => 0 }).current()
  const health = createHealth({ clock })
  const sticky = createStickyRoutes({ clock })
  const random = seeded(7)
  const routeTo = (
    preferences: Partial<Preferences> = {},
    { model = 'smart', sessionId = null as string | null, constraints = anything } = {},
  ) =>
    route({
      call: {
        preferences: { ...defaultPreferences, ...preferences },
        parameters: [],
        sessionId,
        demand: demandOf(),
      },
      model,
      modality: 'language',
      requirements: [],
      organizationId: 'org_1',
      constraints,
      providerOnly: null,
      catalog,
      health,
      sticky,
      random,
    })
  const orderOf = (...asked: Parameters<typeof routeTo>) =>
    routeTo(...asked).ordered.map(({ deployment }) => deployment.id)
  const fail = (id: string, how: Partial<UpstreamFailure> = {}) => {
    const endpoint = catalog.model('smart')?.endpoints.find(({ deployment }) => deployment.id === id)
    if (!endpoint) throw new Error(`no endpoint of ${id}`)
    health.recordFailure(endpoint, { ...failure, ...how })
  }
  return { catalog, sticky, routeTo, orderOf, fail }
}

const two: readonly Provider[] = [
  { id: 'first', price: '9' },
  { id: 'second', model: 'other/small', price: '1' },
]
const twoGroups = [[{ model: 'acme/large' }], [{ model: 'other/small' }]]

describe('the groups of a name', () => {
  test('are asked in their order, whatever they cost', () => {
    const { orderOf } = setUp(two, twoGroups)
    for (let count = 0; count < 50; count++) expect(orderOf()).toEqual(['first', 'second'])
    expect(orderOf({}, { model: 'smart:floor' })).toEqual(['first', 'second'])
  })

  test('stay in their order when an endpoint has failed, and give way when it asked for a pause', () => {
    const { orderOf, fail } = setUp(two, twoGroups)
    fail('first')
    expect(orderOf()).toEqual(['first', 'second'])
    fail('first', { retryAfterMs: 5_000 })
    expect(orderOf()).toEqual(['second', 'first'])
  })

  test('put an endpoint that has failed behind the others of its own group', () => {
    const { orderOf, fail } = setUp([{ id: 'a' }, { id: 'b' }, { id: 'c', model: 'other/small' }], twoGroups)
    fail('a')
    for (let count = 0; count < 20; count++) expect(orderOf()).toEqual(['b', 'a', 'c'])
  })

  test('give way to the order that the caller lists, and to what the caller leaves out', () => {
    const { orderOf } = setUp(two, twoGroups)
    expect(orderOf({ order: ['second'] })).toEqual(['second', 'first'])
    expect(orderOf({ only: ['second'] })).toEqual(['second'])
    expect(orderOf({ ignore: ['first'] })).toEqual(['second'])
    expect(orderOf({ allowFallbacks: false })).toEqual(['first'])
  })

  test('are all asked within the attempts of a call, however many endpoints one group has', () => {
    const many = Array.from({ length: 9 }, (_, index) => ({ id: `big-${index}` }))
    const { orderOf } = setUp([...many, { id: 'last', model: 'other/small' }], twoGroups)
    const order = orderOf()
    expect(order).toHaveLength(10)
    expect(order.slice(0, 6)).toContain('last')
    expect(order.indexOf('last')).toBe(3)
  })
})

describe('the weights of a group', () => {
  const share = (orderOf: () => string[], id: string) => {
    let first = 0
    for (let count = 0; count < 4_000; count++) if (orderOf()[0] === id) first += 1
    return first / 4_000
  }

  test('decide, and prices do not', () => {
    const members = [
      { model: 'acme/large', provider: 'dear', weight: 3 },
      { model: 'acme/large', provider: 'cheap' },
    ]
    const { orderOf } = setUp(
      [
        { id: 'dear', price: '100' },
        { id: 'cheap', price: '1' },
      ],
      [members],
    )
    expect(share(orderOf, 'dear')).toBeCloseTo(0.75, 1)
    expect(orderOf({ sort: 'price' })).toEqual(['cheap', 'dear'])
    expect(orderOf({}, { model: 'smart:floor' })).toEqual(['cheap', 'dear'])
  })

  test('are shared by the deployments of a member by their own weights, keys and regions alike', () => {
    const providers = [
      { id: 'eu-one', provider: 'maker', region: 'eu', weight: 3 },
      { id: 'eu-two', provider: 'maker', region: 'eu' },
      { id: 'us', provider: 'maker', region: 'us' },
    ]
    const { orderOf } = setUp(providers, [
      [
        { model: 'acme/large', provider: 'maker', region: 'EU' },
        { model: 'acme/large', provider: 'us' },
      ],
    ])
    expect(share(orderOf, 'us')).toBeCloseTo(0.5, 1)
    expect(share(orderOf, 'eu-one')).toBeCloseTo(0.375, 1)
  })
})

test('a provider of a member is the deployment of this id, and else all of the provider', () => {
  const providers = [{ id: 'maker' }, { id: 'maker-2', provider: 'maker' }]
  expect(setUp(providers, [[{ model: 'acme/large', provider: 'maker' }]]).orderOf()).toEqual(['maker'])
  const others = [
    { id: 'maker-1', provider: 'maker' },
    { id: 'maker-2', provider: 'maker' },
  ]
  expect(setUp(others, [[{ model: 'acme/large', provider: 'maker' }]]).orderOf()).toHaveLength(2)
})

test('a conversation stays at its endpoint of a group, found by the model that answered', () => {
  const { orderOf, sticky } = setUp([{ id: 'a' }, { id: 'b' }, { id: 'c', model: 'other/small' }], twoGroups)
  sticky.remember({ organizationId: 'org_1', model: 'acme/large', key: 's' }, 'b/large')
  for (let count = 0; count < 20; count++) expect(orderOf({}, { sessionId: 's' })).toEqual(['b', 'a', 'c'])
})

describe('policies', () => {
  const allowing = (models: string[]) => ({ constraints: { ...anything, allowedModels: models } })

  test('apply to the models behind a name, and may allow or forbid the name itself', () => {
    const { orderOf, routeTo } = setUp(two, twoGroups)
    expect(orderOf({}, allowing(['other/small']))).toEqual(['second'])
    expect(orderOf({}, allowing(['smart']))).toEqual(['first', 'second'])
    expect(() => routeTo({}, { ...allowing(['smart']), model: 'acme/large' })).toThrow('does not allow')
    const forbidding = { constraints: { ...anything, ignoredModels: ['smart'] } }
    expect(() => routeTo({}, forbidding)).toThrow('does not allow smart')
    expect(orderOf({}, { ...forbidding, model: 'acme/large' })).toEqual(['first'])
    expect(orderOf({}, { constraints: { ...anything, ignoredProviders: ['first'] } })).toEqual(['second'])
  })

  test('of organization and key both count, each by the name or by the model', () => {
    const { orderOf } = setUp(two, twoGroups)
    const constraints = { ...anything, allowedModels: ['acme/large'], allowedModelsOfKey: ['smart'] }
    expect(orderOf({}, { constraints })).toEqual(['first'])
  })
})

describe('the list of models', () => {
  const list = (catalog: ReturnType<typeof setUp>['catalog'], constraints: Constraints | null = null) =>
    listModels(catalog, {
      query: new URLSearchParams(),
      constraints,
      nowMs: 0,
      basePath: '',
      path: '/v1/models',
      figuresOf: () => unknownFigures,
    }).data

  test('has a name with the prices of the cheapest endpoint behind it, and an entry for batches', () => {
    const { catalog } = setUp(two, twoGroups)
    const data = list(catalog)
    expect(data.map(({ id }) => id)).toEqual([
      'acme/large',
      'acme/large:batch',
      'other/small',
      'other/small:batch',
      'smart',
      'smart:batch',
    ])
    expect(data.find(({ id }) => id === 'smart')).toMatchObject({
      canonical_slug: 'smart',
      description: 'Ours',
      owned_by: 'first',
      context_length: 9000,
      pricing: { prompt: '0.000001', completion: '0.000001' },
      links: { details: '/api/v1/model/smart' },
    })
  })

  test('shows a key the endpoints that it may use behind a name', () => {
    const { catalog } = setUp(two, twoGroups)
    const idsFor = (constraints: Constraints) => list(catalog, constraints).map(({ id }) => id)
    expect(idsFor({ ...anything, allowedModels: ['smart'] })).toEqual(['smart', 'smart:batch'])
    expect(idsFor({ ...anything, ignoredProviders: ['first', 'second'] })).toEqual([])
  })
})

describe('aliases', () => {
  const aliases = {
    'gpt-old': 'acme/large',
    old: 'gpt-old',
    clever: 'smart',
    cheap: 'smart:floor',
    gone: 'acme/none',
  }

  test('mean a model, a name or another alias, with the variant that is asked for', () => {
    const { catalog, orderOf } = setUp(two, twoGroups, aliases)
    expect(catalog.resolve('old')).toEqual({ base: 'acme/large', variant: null })
    expect(catalog.resolve('GPT-Old')).toEqual({ base: 'acme/large', variant: null })
    expect(catalog.resolve('gpt-old:nitro')).toEqual({ base: 'acme/large', variant: 'nitro' })
    expect(catalog.resolve('cheap')).toEqual({ base: 'smart', variant: 'floor' })
    expect(catalog.resolve('cheap:nitro')).toEqual({ base: 'smart', variant: 'nitro' })
    expect(orderOf({}, { model: 'clever' })).toEqual(['first', 'second'])
    expect(orderOf({}, { model: 'old' })).toEqual(['first'])
  })

  test('whose target is not served are refused with that reason; others are suggested for a similar id', () => {
    const { catalog } = setUp(two, twoGroups, aliases)
    expect(catalog.unknownModel('gone', 'language').message).toContain(
      '"gone" is an alias of "acme/none", which is not served here.',
    )
    expect(catalog.unknownModel('gone', 'language').metadata).toBeNull()
    expect(catalog.unknownModel('clevr', 'language').message).toContain('near it are clever')
    expect(catalog.unservedNames()).toEqual(['the alias "gone" means acme/none, which nothing serves now'])
  })
})

test('the refusal of a name without a served member lists its members', () => {
  const { catalog, routeTo } = setUp(
    [{ id: 'first' }],
    [[{ model: 'else/where', provider: 'x', region: 'eu' }]],
  )
  expect(() => routeTo()).toThrow(
    '"smart" is a name of this gateway, but nothing serves what it stands for (else/where at x in eu) now.',
  )
  expect(catalog.unservedNames()).toEqual([
    'the name "smart" has else/where at x in eu, which nothing serves now',
  ])
  expect(catalog.model('smart')).toBeNull()
})

test('a name hides a model of the same id, and its members mean the model', () => {
  const own = {
    'acme/large': { groups: [[{ model: 'acme/large', provider: 'b' }], [{ model: 'acme/large' }]] },
  }
  const catalog = createCatalog({
    deployments: [source({ id: 'a' }), source({ id: 'b' })],
    names: { names: own, aliases: {} },
    nowMs: () => 0,
  }).current()
  expect(catalog.endpointsOf('acme/large', 'language').map(({ deployment }) => deployment.id)).toEqual([
    'b',
    'a',
  ])
  expect(catalog.models().map(({ id }) => id)).toEqual(['acme/large'])
})
