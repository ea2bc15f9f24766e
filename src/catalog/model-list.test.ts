import { expect, test } from 'bun:test'
import { Model$inboundSchema } from '@openrouter/sdk/models/model.js'
import { unknownFigures } from '../canonical/endpoint.ts'
import type { Constraints } from '../canonical/principal.ts'
import { openAiModels } from '../providers/openai/capabilities.ts'
import { openAiPrices } from '../providers/openai/prices.ts'
import { createCatalog } from './catalog.ts'
import { parseListing } from './listing.ts'
import { perUnit } from './model-json.ts'
import { createProviderPrices } from './prices/provider-prices.ts'
import { countModels, listEmbeddingModels, listModels } from './model-list.ts'

const nowMs = Date.parse('2026-11-01')
const catalog = createCatalog({
  nowMs: () => nowMs,
  deployments: [
    {
      deployment: {
        id: 'openai',
        preset: 'openai',
        provider: 'openai',
        providerName: 'OpenAI',
        baseUrl: 'http://127.0.0.1:1',
        region: 'eu-west',
        weight: 1,
        concurrencyMax: null,
      },
      author: 'openai',
      modalities: ['language', 'embedding', 'transcription', 'speech'],
      pricesProviderId: 'openai',
      prices: createProviderPrices(openAiPrices),
      publicName: (name) => name,
      modelRules: openAiModels,
      parametersOf: () => null,
      isFree: false,
      onlyListed: false,
      dataPolicy: { zdr: false, trains: false, stores: true },
      batch: 'emulated',
      models: [],
    },
  ],
})
const names = ['gpt-4o-mini', 'gpt-4o', 'text-embedding-3-small', 'whisper-1', 'tts-1', 'unheard-of']
await catalog.replaceDiscovered(
  'openai',
  parseListing({ data: names.map((id, index) => ({ id, created: 1_700_000_000 + index })) }),
)

const percentiles = (p50: number) => ({ p50, p75: p50, p90: p50, p99: p50 })
const figures = new Map([
  ['gpt-4o', { ...unknownFigures, latencyMs: percentiles(900), throughput: percentiles(40) }],
  ['unheard-of', { ...unknownFigures, latencyMs: percentiles(200), throughput: percentiles(90) }],
])

const list = (query: string, constraints: Constraints | null = null) =>
  listModels(catalog.current(), {
    query: new URLSearchParams(query),
    constraints,
    nowMs,
    figuresOf: ({ upstreamModel }) => figures.get(upstreamModel) ?? unknownFigures,
    basePath: '',
    path: '/api/v1/models',
  })
const idsOf = (query: string, constraints: Constraints | null = null) =>
  list(query, constraints).data.map(({ id }) => id)

const anything: Constraints = {
  allowedModels: null,
  ignoredModels: [],
  allowedProviders: null,
  ignoredProviders: [],
  requireZdr: false,
  denyDataCollection: false,
}

test('every entry of the list is what the official client accepts', () => {
  const { data } = list('output_modalities=all')
  expect(data.length).toBe(10)
  for (const model of data) expect(Model$inboundSchema.safeParse(model).error).toBeUndefined()
})

test('by default text models are listed, each followed by its entry for batches', () => {
  expect(idsOf('')).toEqual([
    'openai/gpt-4o',
    'openai/gpt-4o:batch',
    'openai/gpt-4o-mini',
    'openai/gpt-4o-mini:batch',
    'openai/unheard-of',
    'openai/unheard-of:batch',
  ])
})

test('prices are exact USD per unit, and an unknown one is not zero', () => {
  const { data } = list('q=gpt-4o-mini')
  expect(data[0]?.pricing).toEqual({
    prompt: '0.00000015',
    completion: '0.0000006',
    input_cache_read: '0.000000075',
  })
  expect(list('q=unheard').data[0]?.pricing.prompt).toBe('-1')
  expect(list('output_modalities=transcription').data[0]?.pricing.audio).toBe('0.0001')
  expect(list('output_modalities=speech').data[0]?.pricing.prompt).toBe('0.000015')
  expect([perUnit(1n), perUnit(0n), perUnit(10n ** 15n)]).toEqual(['0.000000000000001', '0', '1'])
})

test('a page has the requested number of models and links to the next page with all filters', () => {
  const page = list('limit=2&q=gpt')
  expect(page.data).toHaveLength(2)
  expect(page.total_count).toBe(4)
  expect(page.links.next).toBe('/api/v1/models?limit=2&q=gpt&offset=2')
  expect(list('offset=2&limit=2&q=gpt').links.next).toBeNull()
  expect(list('offset=90').data).toEqual([])
})

test('filters and orders by known facts; a filter by an unknown fact leaves no model', () => {
  expect(idsOf('max_price=1')).toEqual(['openai/gpt-4o-mini', 'openai/gpt-4o-mini:batch'])
  expect(idsOf('sort=pricing-high-to-low&q=gpt')[0]).toBe('openai/gpt-4o')
  expect(idsOf('sort=newest')[0]).toBe('openai/unheard-of')
  expect(idsOf('context=100000')).toHaveLength(4)
  expect(idsOf('region=us')).toEqual([])
  expect(idsOf('zdr=true')).toEqual([])
  expect(idsOf('category=finance')).toEqual([])
  expect(idsOf('min_coding_index=1')).toEqual([])
  expect(idsOf('arch=GPT')).toEqual([])
  expect(idsOf('model_authors=meta')).toEqual([])
  expect(idsOf('input_modalities=image')).toHaveLength(4)
})

test('orders by speed use measurements of this process, and unmeasured models come last', () => {
  const base = (query: string) => idsOf(query).filter((id) => !id.endsWith(':batch'))
  const fastest = ['openai/unheard-of', 'openai/gpt-4o', 'openai/gpt-4o-mini']
  expect(base('sort=latency-low-to-high')).toEqual(fastest)
  expect(base('sort=throughput-high-to-low')).toEqual(fastest)
})

test('a bad value is refused and the member named', () => {
  for (const [query, name] of [
    ['output_modalities=smell', 'output_modalities'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['offset=-1', 'offset'],
    ['sort=best', 'sort'],
    ['max_price=cheap', 'max_price'],
  ] as const) {
    expect(() => list(query)).toThrow(expect.objectContaining({ type: 'invalid_request', param: name }))
  }
})

test('constraints hide models that the reader may not use', () => {
  expect(idsOf('', { ...anything, allowedModels: ['openai/gpt-4o'] })).toEqual([
    'openai/gpt-4o',
    'openai/gpt-4o:batch',
  ])
  expect(idsOf('', { ...anything, ignoredProviders: ['openai'] })).toEqual([])
  expect(idsOf('', { ...anything, requireZdr: true })).toEqual([])
})

test('the count and the embedding list agree with the list', () => {
  const options = {
    query: new URLSearchParams(),
    constraints: null,
    nowMs,
    figuresOf: () => unknownFigures,
    basePath: '',
    path: '/v1/models',
  }
  expect(countModels(catalog.current(), options)).toEqual({ data: { count: 6 } })
  expect(listEmbeddingModels(catalog.current(), options).data.map(({ id }) => id)).toEqual([
    'openai/text-embedding-3-small',
    'openai/text-embedding-3-small:batch',
  ])
})

test('an id that the operator gave a model of his own is listed once, and no variant has an entry for batches', async () => {
  const own = createCatalog({
    nowMs: () => nowMs,
    deployments: [
      {
        deployment: {
          id: 'acme',
          preset: 'custom',
          provider: 'acme',
          providerName: 'Acme',
          baseUrl: 'http://127.0.0.1:1',
          region: null,
          weight: 1,
          concurrencyMax: null,
        },
        author: 'acme',
        modalities: ['language'],
        pricesProviderId: null,
        prices: createProviderPrices([]),
        publicName: (name) => name,
        modelRules: [],
        parametersOf: () => null,
        isFree: false,
        onlyListed: false,
        dataPolicy: { zdr: false, trains: false, stores: true },
        batch: 'emulated',
        models: [{ id: 'acme/large' }, { id: 'acme/large:batch' }],
      },
    ],
  })
  await own.replaceDiscovered('acme', parseListing({ data: [{ id: 'small:free' }, { id: 'small:batch' }] }))
  const { data } = listModels(own.current(), {
    query: new URLSearchParams(),
    constraints: null,
    nowMs,
    figuresOf: () => unknownFigures,
    basePath: '',
    path: '/api/v1/models',
  })
  expect(data.map(({ id }) => id)).toEqual(['acme/large', 'acme/large:batch', 'acme/small:free'])
})
