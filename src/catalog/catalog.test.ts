import { describe, expect, test } from 'bun:test'
import type { Deployment } from '../canonical/endpoint.ts'
import type { Modality } from '../canonical/operation.ts'
import { nextTurn } from '../core/turns.ts'
import { openAiModels, openAiService } from '../providers/openai/capabilities.ts'
import { openAiPrices } from '../providers/openai/prices.ts'
import { createCatalog } from './catalog.ts'
import type { CatalogOptions } from './catalog.ts'
import type { DeploymentSource } from './deployment-source.ts'
import { parseListing } from './listing.ts'
import { nearestIds, splitVariant, toPublicId } from './model-ids.ts'
import { createProviderPrices } from './prices/provider-prices.ts'

const nowMs = Date.parse('2026-11-01')
const all: readonly Modality[] = ['language', 'embedding', 'transcription', 'speech']

function deployment(id: string, provider = id): Deployment {
  return {
    id,
    preset: provider,
    provider,
    providerName: provider,
    baseUrl: 'http://127.0.0.1:1',
    region: null,
    weight: 1,
    concurrencyMax: null,
  }
}

function source(id: string, changes: Partial<DeploymentSource> = {}): DeploymentSource {
  return {
    deployment: deployment(id),
    author: id,
    modalities: all,
    pricesProviderId: null,
    prices: createProviderPrices([]),
    publicName: (name) => name,
    modelRules: [],
    parametersOf: () => null,
    isFree: false,
    onlyListed: false,
    dataPolicy: { zdr: false, trains: false, stores: true },
    batch: 'emulated',
    models: [],
    ...changes,
  }
}

function catalogOf(deployments: DeploymentSource[], changes: Partial<CatalogOptions> = {}) {
  return createCatalog({ deployments, nowMs: () => nowMs, ...changes })
}

const openai = source('openai', {
  pricesProviderId: 'openai',
  prices: createProviderPrices(openAiPrices),
  modelRules: [...openAiService, ...openAiModels],
  parametersOf: () => null,
})
const potential = [
  {
    author: 'openai',
    pricesProviderId: 'openai',
    prices: createProviderPrices(openAiPrices),
    publicName: (name: string) => name,
    keyVariable: 'OPENAI_API_KEY',
  },
]

describe('offered models', () => {
  test('before any listing a known provider offers the models that have a known price, at that price', () => {
    const [endpoint] = catalogOf([openai]).current().endpointsOf('openai/gpt-4o-mini', 'language')
    expect(endpoint).toMatchObject({
      id: 'openai/gpt-4o-mini',
      upstreamModel: 'gpt-4o-mini',
      isPriced: true,
      contextLength: 128_000,
    })
    expect(endpoint?.price).toEqual({
      inputToken: 150_000_000n,
      cachedInputToken: 75_000_000n,
      outputToken: 600_000_000n,
    })
  })

  test('a language model that transcribes serves both operations, each at a separate endpoint, and is listed once', () => {
    const modelRules = [{ name: /ears/, transcribes: true, hears: true }]
    const models = [
      { id: 'host/ears-1', prices: { input_per_million: '1', output_per_million: '2' } },
      { id: 'host/deaf-1', prices: { input_per_million: '1', output_per_million: '2' } },
    ]
    const host = source('host', { modelRules, models, audio: { transcription: { uploadBytesMax: 9 } } })
    const view = catalogOf([host]).current()
    expect(view.models().map(({ id, modality }) => [id, modality])).toEqual([
      ['host/deaf-1', 'language'],
      ['host/ears-1', 'language'],
    ])
    const endpointsOf = (model: string, modality: Modality) =>
      view.endpointsOf(model, modality).map(({ id, inputModalities, isPriced, audio, price }) => ({
        id,
        inputModalities,
        isPriced,
        uploadBytesMax: audio?.uploadBytesMax ?? null,
        price: price.inputToken,
      }))
    const priced = { isPriced: true, price: 1_000_000_000n }
    expect(endpointsOf('host/ears-1', 'language')).toEqual([
      { id: 'host/ears-1', inputModalities: ['text', 'audio'], uploadBytesMax: null, ...priced },
    ])
    expect(endpointsOf('host/ears-1', 'transcription')).toEqual([
      { id: 'host/ears-1@transcription', inputModalities: ['audio'], uploadBytesMax: 9, ...priced },
    ])
    expect(endpointsOf('host/deaf-1', 'transcription')).toEqual([])
    const withoutAdapter = catalogOf([source('host', { modelRules, models, modalities: ['language'] })])
    expect(withoutAdapter.current().endpointsOf('host/ears-1', 'transcription')).toEqual([])
  })

  test('an endpoint knows the interfaces that a listing names for its model', async () => {
    const catalog = catalogOf([source('host')])
    const endpoints = ['chat/completions', 'anthropic', 7]
    await catalog.replaceDiscovered('host', parseListing({ data: [{ id: 'a/b', endpoints }, { id: 'a/c' }] }))
    const interfacesOf = (model: string) => catalog.current().endpointsOf(model, 'language')[0]?.interfaces
    expect(interfacesOf('a/b')).toEqual(['chat/completions', 'anthropic'])
    expect(interfacesOf('a/c')).toBeUndefined()
  })

  test('a listing removes models that it does not name and adds models that were unknown', async () => {
    const catalog = catalogOf([openai])
    const before = catalog.version
    await catalog.replaceDiscovered(
      'openai',
      parseListing({ data: [{ id: 'gpt-4o-mini', created: 5 }, { id: 'gpt-99' }] }),
    )
    expect(
      catalog
        .current()
        .models()
        .map(({ id }) => id),
    ).toEqual(['openai/gpt-4o-mini', 'openai/gpt-99'])
    expect(catalog.current().model('openai/gpt-4o-mini')?.created).toBe(5)
    expect(
      catalog
        .current()
        .unpriced()
        .map(({ id }) => id),
    ).toEqual(['openai/gpt-99'])
    expect(catalog.version).toBeGreaterThan(before)
  })

  test('models of a kind that a listing never names are offered besides, unless only listed models are', async () => {
    const modelRules = [{ name: /^ears$/, modality: 'transcription' as const }]
    for (const onlyListed of [false, true]) {
      const catalog = catalogOf([source('acme', { unlisted: ['ears'], modelRules, onlyListed })])
      await catalog.replaceDiscovered('acme', parseListing({ data: [{ id: 'mind' }] }))
      const offered = ['acme/ears', 'acme/mind'].map((id) => catalog.current().model(id)?.modality)
      expect(offered).toEqual([onlyListed ? undefined : 'transcription', 'language'])
    }
  })

  test('a listing of 5,000 models lets other work run in between, and listings that come meanwhile are shown too', async () => {
    const servers = ['one', 'two'].map((id) => source(id, { isFree: true, onlyListed: true }))
    const catalog = catalogOf(servers)
    const listed = Array.from({ length: 5_000 }, (_, index) => ({ id: `model-${index}` }))
    const before = catalog.version
    const taking = catalog.replaceDiscovered('one', parseListing({ data: listed }))
    let turns = 0
    for (; catalog.version === before && turns < 10_000; turns += 1) {
      await nextTurn()
      if (turns === 1) void catalog.replaceDiscovered('two', parseListing({ data: [{ id: 'late' }] }))
    }
    await taking
    // There were a hundred steps of fifty models each; other work had a turn after every step.
    expect(turns).toBeGreaterThanOrEqual(100)
    expect(catalog.current().models()).toHaveLength(5_001)
    expect(catalog.current().model('two/late')).not.toBeNull()
  })

  test('a local server offers nothing before its listing, and then for a stated price of zero', async () => {
    const catalog = catalogOf([source('ollama', { isFree: true, onlyListed: true })])
    expect(catalog.current().models()).toEqual([])
    await catalog.replaceDiscovered('ollama', parseListing({ data: [{ id: 'qwen3:4b' }] }))
    const [endpoint] = catalog.current().endpointsOf('ollama/qwen3:4b', 'language')
    expect(endpoint?.isPriced).toBe(true)
    expect(endpoint?.price.outputToken).toBe(0n)
  })

  test('models of a modality without an adapter are not offered', () => {
    const catalog = catalogOf([source('openai', { pricesProviderId: 'openai', modalities: ['embedding'] })])
    expect(catalog.current().models('language')).toEqual([])
    expect(catalog.current().endpointsOf('openai/text-embedding-3-small', 'embedding')).toHaveLength(1)
  })

  test('whisper is priced by time, tts-1 by characters, and both know what they can do', () => {
    const catalog = catalogOf([openai])
    const [whisper] = catalog.current().endpointsOf('openai/whisper-1', 'transcription')
    const [speech] = catalog.current().endpointsOf('openai/tts-1', 'speech')
    // $0.006 a minute is $0.10 per million milliseconds.
    expect(whisper?.price.audioHour).toBe(360_000_000n * 1_000_000n)
    expect(whisper?.audio).toMatchObject({ verboseJson: true, wordTimes: true, diarize: false })
    expect(speech?.price.character).toBe(15_000_000_000n)
    expect(speech?.audio).toMatchObject({ speed: { min: 0.25, max: 4 }, inputCharactersMax: 4096 })
    expect(
      catalog.current().endpointsOf('openai/gpt-4o-transcribe', 'transcription')[0]?.audio?.verboseJson,
    ).toBe(false)
  })

  test.each([
    ['one modality', ['transcription'], 'acme/ours', 'ours'],
    ['two modalities, whose name tells', ['speech', 'transcription'], 'acme/dove', 'dove-asr-1'],
  ] as const)(
    'the operator need not state the kind of a model at a provider of %s',
    (_, modalities, id, upstream) => {
      const models = [{ id, upstream, prices: { audio_per_hour: '0.2' } }]
      const [endpoint] = catalogOf([source('one', { modalities, models })])
        .current()
        .endpointsOf(id, 'transcription')
      expect(endpoint).toMatchObject({ upstreamModel: upstream, isPriced: true })
    },
  )

  test('several providers of one id become one model with several endpoints', () => {
    const models = [{ id: 'acme/large', modality: 'language' as const }]
    const catalog = catalogOf([source('one', { models }), source('two', { models })])
    expect(
      catalog
        .current()
        .endpointsOf('acme/large', 'language')
        .map(({ id }) => id),
    ).toEqual(['one/large', 'two/large'])
  })

  test('two public names of one upstream model are two endpoints with ids of their own', () => {
    const models = ['smart', 'cheap'].map((id) => ({ id, upstream: 'x', modality: 'language' as const }))
    const catalog = catalogOf([source('one', { models })])
    expect(catalog.current().endpointsOf('smart', 'language')[0]?.id).toBe('one/x')
    expect(catalog.current().endpointsOf('cheap', 'language')[0]?.id).toBe('one/x@cheap')
  })
})

test('abilities of sound come from the public name of a model when the operator chose the upstream name', () => {
  const models = [
    { id: 'openai/whisper-1', upstream: 'ears-of-sales', modality: 'transcription' as const },
    { id: 'acme/whisper-1', upstream: 'gpt-4o-transcribe-diarize', modality: 'transcription' as const },
  ]
  const current = catalogOf([source('azure', { models, modelRules: openAiModels })]).current()
  const audioOf = (id: string) => current.endpointsOf(id, 'transcription')[0]?.audio
  expect(audioOf('openai/whisper-1')).toMatchObject({ wordTimes: true, segmentSpeakers: false })
  expect(audioOf('acme/whisper-1')).toMatchObject({ wordTimes: false, segmentSpeakers: true })
})

describe('the operator’s settings win', () => {
  const operator = source('openai', {
    pricesProviderId: 'openai',
    models: [
      {
        id: 'smart',
        upstream: 'gpt-4o',
        modality: 'language',
        prices: { input_per_million: '1' },
        context_length: 7,
      },
    ],
  })

  test('a configured model replaces the default id and keeps the prices of unstated units', () => {
    const catalog = catalogOf([operator])
    const [endpoint] = catalog.current().endpointsOf('smart', 'language')
    expect(endpoint).toMatchObject({ upstreamModel: 'gpt-4o', contextLength: 7 })
    expect(endpoint?.price).toMatchObject({ inputToken: 1_000_000_000n, outputToken: 10_000_000_000n })
    expect(catalog.current().endpointsOf('openai/gpt-4o', 'language')).toEqual([])
  })

  test('prices by public id count for every deployment, and a zero is a price', () => {
    const catalog = catalogOf([openai], {
      prices: { 'openai/gpt-4o': { input_per_million: '0', output_per_million: 0 } },
    })
    expect(catalog.current().endpointsOf('openai/gpt-4o', 'language')[0]?.price).toMatchObject({
      inputToken: 0n,
      outputToken: 0n,
    })
  })

  test('configured abilities of an audio model count, and the others come from its name', () => {
    const models = [
      {
        id: 'acme/ears',
        modality: 'transcription' as const,
        audio: {
          word_times: true,
          upload_bytes_max: 7,
          audio_seconds_max: 60,
          keyterms: { words_max: 3 },
        },
      },
      {
        id: 'acme/mouth',
        modality: 'speech' as const,
        audio: { speed: { min: 0.5, max: 2 }, voices: ['ann'], default_voice: 'ann' },
      },
    ]
    const catalog = catalogOf([source('acme', { models })])
    expect(catalog.current().endpointsOf('acme/ears', 'transcription')[0]?.audio).toMatchObject({
      verboseJson: true,
      wordTimes: true,
      diarize: false,
      keyterms: { countMax: null, charactersMax: null, wordsMax: 3, tokensMax: null, forbidden: '' },
      uploadBytesMax: 7,
      audioMillisecondsMax: 60_000,
    })
    expect(catalog.current().endpointsOf('acme/mouth', 'speech')[0]?.audio).toMatchObject({
      speed: { min: 0.5, max: 2 },
      speechFormats: ['mp3', 'pcm'],
      voices: ['ann'],
      defaultVoice: 'ann',
    })
  })

  test('a configured model survives a listing that lacks it', async () => {
    const catalog = catalogOf([operator])
    await catalog.replaceDiscovered('openai', [])
    expect(
      catalog
        .current()
        .models()
        .map(({ id }) => id),
    ).toEqual(['smart'])
  })

  test('a model that is configured without its tag is the listed one, and is shown once', async () => {
    const models = [{ id: 'ollama/tiny', context_length: 7 }]
    const catalog = catalogOf([source('ollama', { isFree: true, onlyListed: true, models })])
    await catalog.replaceDiscovered('ollama', [
      { upstream: 'tiny:latest', created: 1, contextLength: null, name: null, modality: 'embedding' },
    ])
    expect(
      catalog
        .current()
        .models()
        .map(({ id }) => id),
    ).toEqual(['ollama/tiny'])
    expect(catalog.current().endpointsOf('ollama/tiny', 'embedding')[0]).toMatchObject({
      upstreamModel: 'tiny:latest',
      contextLength: 7,
    })
  })

  test('a price below zero is refused', () => {
    const prices = { 'openai/gpt-4o': { input_per_million: '-1' } }
    expect(() => catalogOf([openai], { prices })).toThrow('input_per_million is below zero')
  })
})

describe('names', () => {
  const catalog = catalogOf([openai, source('groq', { pricesProviderId: 'groq' })])

  test('a variant is split off, a tag of the name is not', () => {
    expect(splitVariant('openai/gpt-4o:floor')).toEqual({ base: 'openai/gpt-4o', variant: 'floor' })
    expect(splitVariant('ollama/qwen3:4b')).toEqual({ base: 'ollama/qwen3:4b', variant: null })
  })

  test('ids are found exactly, with a variant, in another case, and by a slug that only one model has', () => {
    expect(catalog.current().resolve('openai/gpt-4o')).toEqual({ base: 'openai/gpt-4o', variant: null })
    expect(catalog.current().resolve('openai/gpt-4o:nitro')).toEqual({
      base: 'openai/gpt-4o',
      variant: 'nitro',
    })
    expect(catalog.current().resolve('OpenAI/GPT-4o')).toEqual({ base: 'openai/gpt-4o', variant: null })
    expect(catalog.current().resolve('gpt-4o:batch')).toEqual({ base: 'openai/gpt-4o', variant: 'batch' })
    expect(catalog.current().resolve('no-such-model:free')).toEqual({
      base: 'no-such-model',
      variant: 'free',
    })
  })

  test('a name without a tag means the tag latest, unless another model has exactly that name', async () => {
    const local = catalogOf([source('ollama', { isFree: true, onlyListed: true })])
    const listed = ['tiny:latest', 'tiny:2b', 'both', 'both:latest'].map((id) => ({ id }))
    await local.replaceDiscovered('ollama', parseListing({ data: listed }))
    const tiny = { base: 'ollama/tiny:latest', variant: null }
    for (const name of ['ollama/tiny', 'tiny', 'tiny:latest', 'Ollama/Tiny'])
      expect(local.current().resolve(name)).toEqual(tiny)
    expect(local.current().resolve('ollama/tiny:floor')).toEqual({ ...tiny, variant: 'floor' })
    expect(local.current().resolve('ollama/tiny:2b').base).toBe('ollama/tiny:2b')
    expect(local.current().resolve('both').base).toBe('ollama/both')
    expect(local.current().resolve('ollama/none').base).toBe('ollama/none')
  })

  test('an id without a date means the newest dated model of a provider, unless the id is itself a model', async () => {
    const claude = catalogOf([source('anthropic'), source('mirror')])
    const listed = [
      'sonnet-4-5-20250101',
      'sonnet-4-5-20250929',
      'opus-4-2025-08-05',
      'plain',
      'plain-20240101',
    ]
    await claude.replaceDiscovered('anthropic', parseListing({ data: listed.map((id) => ({ id })) }))
    const meant = (name: string) => claude.current().resolve(name)
    const newest = { base: 'anthropic/sonnet-4-5-20250929', variant: null }
    for (const name of ['anthropic/sonnet-4-5', 'sonnet-4-5', 'Anthropic/Sonnet-4-5'])
      expect(meant(name)).toEqual(newest)
    expect(meant('sonnet-4-5:floor')).toEqual({ ...newest, variant: 'floor' })
    expect(meant('opus-4').base).toBe('anthropic/opus-4-2025-08-05')
    expect(meant('anthropic/plain').base).toBe('anthropic/plain')
    expect(meant('sonnet-4').base).toBe('sonnet-4')
    await claude.replaceDiscovered('mirror', parseListing({ data: [{ id: 'sonnet-4-5-20250929' }] }))
    expect(meant('sonnet-4-5').base).toBe('sonnet-4-5')
    expect(meant('anthropic/sonnet-4-5')).toEqual(newest)
  })

  test('upstream names get an author unless they have one', () => {
    expect(toPublicId('openai', 'gpt-4o')).toBe('openai/gpt-4o')
    expect(toPublicId('groq', 'qwen/qwen3-32b')).toBe('qwen/qwen3-32b')
  })

  test('near ids are those within a typo, nearest first, and only a few', () => {
    expect(catalog.current().nearest('openai/gtp-4o-mini')[0]).toBe('openai/gpt-4o-mini')
    expect(catalog.current().nearest('gpt').length).toBeLessThanOrEqual(3)
    expect(nearestIds('zzzzzzzz', ['openai/gpt-4o'])).toEqual([])
  })
})

function refusal(modelId: string, catalog = catalogOf([openai])) {
  return catalog.current().unknownModel(modelId, 'language')
}

describe('an unknown model is refused with the next step', () => {
  test('the key that would switch its provider on', () => {
    const catalog = catalogOf([source('ollama', { models: [{ id: 'mine', modality: 'language' }] })], {
      potential,
    })
    expect(refusal('gpt-4o', catalog).message).toBe(
      '"gpt-4o" is not served here; openai/gpt-4o would be with OPENAI_API_KEY set.',
    )
    expect(refusal('gpt-4o', catalog).type).toBe('model_not_found')
    const ignored = catalogOf([source('ollama', { models: [{ id: 'mine', modality: 'language' }] })], {
      potential: potential.map((one) => ({ ...one, ignoredFor: 'openai' })),
    })
    expect(refusal('gpt-4o', ignored).message).toBe(
      '"gpt-4o" is not served here; openai/gpt-4o would be with a provider of preset openai in the configuration; OPENAI_API_KEY is set, but in "ignored_variables".',
    )
  })

  test('the path that serves it', () => {
    expect(refusal('openai/whisper-1').message).toContain(
      'is a transcription model; ask it at POST /audio/transcriptions',
    )
    expect(refusal('openai/text-embedding-3-small').message).toContain(
      'is an embedding model; ask it at POST /embeddings',
    )
  })

  test('the kind of a configured model, by its name only at a known provider', () => {
    const models = [{ id: 'openai/text-embedding-3-small' }, { id: 'openai/gpt-4o-mini' }]
    const own = source('mine', { isFree: true, models: [{ id: 'mine/text-embedding-3-small' }] })
    const catalog = catalogOf([{ ...openai, onlyListed: true, models }, own]).current()
    const kindOf = (id: string) => catalog.models().find((model) => model.id === id)?.modality
    expect(kindOf('openai/text-embedding-3-small')).toBe('embedding')
    expect(kindOf('openai/gpt-4o-mini')).toBe('language')
    expect(kindOf('mine/text-embedding-3-small')).toBe('language')
  })

  test('the line of the configuration that sets the kind of a self-hosted model', async () => {
    const models = [{ id: 'mine/stated', modality: 'embedding' as const }, { id: 'mine/told' }]
    const catalog = catalogOf([source('mine', { isFree: true, models })])
    const listed = parseListing({ data: [{ id: 'some-name' }, { id: 'told', type: 'embedding' }] })
    await catalog.replaceDiscovered('mine', listed)
    const line = (id: string) =>
      `"modality" of the entry with "id": "${id}" in "models" of the provider "mine" in the configuration file sets it.`
    expect(refusal('mine/stated', catalog).message).toContain(
      `ask it at POST /embeddings. The configuration states that kind; ${line('mine/stated')}`,
    )
    expect(refusal('mine/told', catalog).message).toContain(
      `Its server names that kind; ${line('mine/told')}`,
    )
    expect(catalog.current().unknownModel('mine/some-name', 'embedding').message).toContain(
      `Only its name suggests that kind; ${line('mine/some-name')}`,
    )
    // At a provider whose models are known by name the kind is certain.
    expect(refusal('openai/whisper-1').message).not.toContain('configuration')
  })

  test('the variants of a served model, and no key to set', async () => {
    const catalog = catalogOf([openai, source('ollama', { isFree: true })], { potential })
    await catalog.replaceDiscovered(
      'ollama',
      parseListing({ data: [{ id: 'tiny:latest' }, { id: 'tiny:2b' }] }),
    )
    for (const name of ['openai/gpt-4o-mini:thinking', 'gpt-4o-mini:thinking', 'openai/GPT-4o-mini:turbo']) {
      const { message } = refusal(name, catalog)
      expect(message).toContain(`openai/gpt-4o-mini has no variant "${name.slice(name.lastIndexOf(':'))}"`)
      expect(message).toContain('It is served as it is, and as :batch, :floor, :nitro, :exacto.')
      expect(message).not.toContain('OPENAI_API_KEY')
    }
    expect(refusal('ollama/tiny:8b', catalog).message).toContain(
      'ollama/tiny:latest has no variant ":8b". It is served as it is, and as :batch, :free, :floor, :nitro, :exacto, :2b.',
    )
    // For a model of another kind the message names the path first.
    for (const name of ['openai/whisper-1:thinking', 'whisper-1:floor'])
      expect(refusal(name, catalog).message).toContain('POST /audio/transcriptions')
  })

  test('ids that are near', () => {
    expect(refusal('openai/gpt-4o-mimi').message).toContain('openai/gpt-4o-mini')
  })

  test('the several ids of one slug', () => {
    const twins = ['a', 'b'].map((author) =>
      source(author, { models: [{ id: `${author}/twin`, modality: 'language' }] }),
    )
    const catalog = catalogOf(twins)
    expect(refusal('twin', catalog).message).toContain('write one of a/twin, b/twin')
  })

  test('that no provider is configured', () => {
    expect(refusal('x/y', catalogOf([], { potential })).message).toContain('no provider is configured')
  })
})
