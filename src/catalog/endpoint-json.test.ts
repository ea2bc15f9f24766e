import { expect, test } from 'bun:test'
import { ListEndpointsResponse$inboundSchema } from '@openrouter/sdk/models/listendpointsresponse.js'
import { unknownFigures } from '../canonical/endpoint.ts'
import type { DeploymentSource } from './deployment-source.ts'
import { createCatalog } from './catalog.ts'
import { modelEndpoints, zdrEndpoints } from './endpoint-json.ts'
import { createProviderPrices } from './prices/provider-prices.ts'

const source = (id: string, more: Partial<DeploymentSource> = {}): DeploymentSource => ({
  deployment: {
    id,
    preset: 'acme',
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
  parametersOf: () => new Set(['temperature', 'tools']),
  isFree: false,
  onlyListed: false,
  dataPolicy: { zdr: false, trains: false, stores: true },
  batch: 'emulated',
  models: [
    {
      id: 'acme/small',
      context_length: 8000,
      output_tokens_max: 1000,
      prices: { input_per_million: '2', cached_input_per_million: '0.5', output_per_million: '6' },
    },
  ],
  ...more,
})

const catalog = createCatalog({
  nowMs: () => 0,
  deployments: [
    source('acme'),
    source('acme-private', {
      dataPolicy: { zdr: true, trains: false, stores: false },
      batch: 'none',
      models: [{ id: 'acme/small' }],
    }),
  ],
}).current()

/** Written by hand after the list of members that the contract requires of an endpoint. */
const first = {
  name: 'Acme | acme/small',
  model_id: 'acme/small',
  model_name: 'acme/small',
  context_length: 8000,
  pricing: { prompt: '0.000002', completion: '0.000006', input_cache_read: '0.0000005' },
  provider_name: 'Acme',
  tag: 'acme',
  quantization: null,
  max_completion_tokens: 1000,
  max_prompt_tokens: null,
  supports_implicit_caching: true,
  supports_tool_choice: { auto: true, function: false, none: false, required: false },
  supports_voice_cloning: false,
  supports_multiple_audio_references: false,
  supports_image_reference: false,
  latency_last_30m: { p50: 1, p75: 2, p90: 3, p99: 4 },
  throughput_last_30m: null,
  uptime_last_5m: 50,
  uptime_last_30m: null,
  uptime_last_1d: null,
}

test('a model is shown with each of its endpoints and their known facts', () => {
  const shown = modelEndpoints(catalog, 'acme/small', (endpoint) =>
    endpoint.deployment.id === 'acme'
      ? { ...unknownFigures, latencyMs: { p50: 1, p75: 2, p90: 3, p99: 4 }, uptime5m: 50 }
      : unknownFigures,
  )
  expect(shown).toMatchObject({
    id: 'acme/small',
    name: 'acme/small',
    created: 0,
    description: '',
    architecture: {
      modality: 'text->text',
      input_modalities: ['text'],
      output_modalities: ['text'],
      tokenizer: 'Other',
      instruct_type: null,
    },
  })
  expect(shown.endpoints[0]).toMatchObject(first)
  expect(shown.endpoints[0]?.supported_parameters).toEqual(['temperature', 'tools'])
  // Its context length and its price are unknown, and it was never called.
  expect(shown.endpoints[1]).toMatchObject({
    tag: 'acme/private',
    context_length: 0,
    max_completion_tokens: null,
    pricing: { prompt: '-1', completion: '-1' },
    supports_implicit_caching: false,
    latency_last_30m: null,
    uptime_last_5m: null,
  })
  expect(ListEndpointsResponse$inboundSchema.safeParse(shown).error).toBeUndefined()
})

test('the entry for batches has the endpoints that batches may use', () => {
  const shown = modelEndpoints(catalog, 'acme/small:batch', () => unknownFigures)
  expect([shown.id, shown.endpoints.map(({ tag }) => tag)]).toEqual(['acme/small:batch', ['acme']])
})

test('the entry for batches shows the price of the batch service, where it is known', () => {
  const live = { input_per_million: '2', output_per_million: '6' }
  const batch = { input_per_million: '1', output_per_million: '3' }
  const { current } = createCatalog({
    nowMs: () => 0,
    deployments: [
      source('acme', {
        batch: 'native',
        models: [
          { id: 'acme/known', prices: { ...live, service_tiers: { batch } } },
          { id: 'acme/unknown', prices: live },
        ],
      }),
    ],
  })
  const pricesOf = (id: string) =>
    modelEndpoints(current(), id, () => unknownFigures).endpoints.map(({ pricing }) => pricing)
  expect(pricesOf('acme/known:batch')).toMatchObject([{ prompt: '0.000001', completion: '0.000003' }])
  expect(pricesOf('acme/known')).toMatchObject([{ prompt: '0.000002', completion: '0.000006' }])
  expect(pricesOf('acme/unknown:batch')).toMatchObject([{ prompt: '0.000002', completion: '0.000006' }])
})

test('an unknown model, and a variant that a model does not have, are not found', () => {
  for (const id of ['acme/large', 'acme/small:free', 'acme/small:online']) {
    expect(() => modelEndpoints(catalog, id, () => unknownFigures)).toThrow(
      expect.objectContaining({ type: 'not_found' }),
    )
  }
})

test('endpoints without retention are listed by themselves, and a provider with two deployments once', () => {
  expect(zdrEndpoints(catalog, () => unknownFigures).map(({ tag }) => tag)).toEqual(['acme/private'])
  expect(catalog.providers).toEqual([{ slug: 'acme', name: 'Acme' }])
})

test('a price of long prompts stands beside the usual one', () => {
  const long = createCatalog({
    nowMs: () => Date.parse('2026-11-01'),
    deployments: [source('openai', { pricesProviderId: 'openai', models: [{ id: 'openai/gpt-5.4' }] })],
  }).current()
  const [endpoint] = modelEndpoints(long, 'openai/gpt-5.4', () => unknownFigures).endpoints
  // 2.50 and 15 USD for a million tokens, twice and one and a half times that from 272,000 tokens of input on.
  expect(endpoint?.pricing).toMatchObject({
    prompt: '0.0000025',
    completion: '0.000015',
    overrides: [{ min_prompt_tokens: 272_000, prompt: '0.000005', completion: '0.0000225' }],
  })
})
