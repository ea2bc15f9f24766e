import { expect, test } from 'bun:test'
import { CommandFailure } from '../failure.ts'
import { readLitellmFile } from './litellm-import.ts'
import { createScope } from './litellm-scope.ts'
import { Remarks } from './remarks.ts'
import { parseYaml } from './yaml-tree.ts'

/** The report for a model without a price in the file, which most files here lack. */
const aboutPrice = /^(?:has no price here|says no price|its models have no prices here)/

/**
 * The configuration that a file becomes, and the report: lines and paths, or with messages; the report on
 * prices is apart.
 */
function read(yaml: string, env: Record<string, string> = {}, map: Record<string, unknown> = {}) {
  const all = new Remarks()
  const found = readLitellmFile(parseYaml(yaml, 'c.yaml'), { env, hasDatabase: false, map }, all)
  const remarks = { sorted: () => all.sorted().filter(({ message }) => !aboutPrice.test(message)) }
  return {
    ...found,
    ...found.addition,
    places: remarks.sorted().map(({ line, subject }) => `${line} ${subject}`),
    messages: remarks.sorted().map(({ message }) => message),
    toldPrices: all.sorted().flatMap(({ message }) => (aboutPrice.test(message) ? [message] : [])),
  }
}

const entry = (name: string, params: string, info = '{}') =>
  `  - { model_name: "${name}", litellm_params: { ${params} }, model_info: ${info} }`
const list = (...entries: string[]) => `model_list:\n${entries.join('\n')}\n`

test('addresses and keys become providers, each once, and the official address is left out', () => {
  const { providers, places } = read(
    list(
      entry('a', 'model: gpt-4o, api_key: os.environ/K'),
      entry('b', 'model: openai/gpt-4o-mini, api_key: os.environ/K, api_base: "https://api.openai.com/v1/"'),
      entry('c', 'model: openai/gpt-4o, api_key: os.environ/L'),
      entry('d', 'model: claude-sonnet-4-5, api_base: "https://api.anthropic.com"'),
      entry(
        'e',
        'model: azure/prod, api_base: "https://r.openai.azure.com", api_version: "2024-10-21", api_key: os.environ/A',
      ),
      entry('f', 'model: azure/new, api_base: os.environ/BASE, api_key: os.environ/A'),
      entry('g', 'model: openai/x, api_base: "http://llm.acme.example:8000/v1"'),
      entry('h', 'model: together_ai/meta-llama/L, api_key: os.environ/T'),
      entry('i', 'model: ollama_chat/tiny, api_base: "http://10.0.0.5:11434"'),
    ),
    { BASE: 'https://q.openai.azure.com/' },
  )
  expect(places).toEqual([])
  const models = (id: string, upstream: string) => ({ only_models: true, models: [{ id, upstream }] })
  expect(JSON.parse(JSON.stringify(providers))).toEqual([
    {
      id: 'openai',
      preset: 'openai',
      api_key: '${env:K}',
      only_models: true,
      models: [
        { id: 'openai/gpt-4o', upstream: 'gpt-4o' },
        { id: 'openai/gpt-4o-mini', upstream: 'gpt-4o-mini' },
      ],
    },
    { id: 'openai-2', preset: 'openai', api_key: '${env:L}', ...models('openai/gpt-4o', 'gpt-4o') },
    { id: 'anthropic', preset: 'anthropic', ...models('anthropic/claude-sonnet-4-5', 'claude-sonnet-4-5') },
    {
      id: 'azure',
      preset: 'azure',
      base_url: 'https://r.openai.azure.com/openai',
      api_key: '${env:A}',
      query: { 'api-version': '2024-10-21' },
      ...models('openai/prod', 'prod'),
    },
    {
      id: 'azure-2',
      preset: 'azure',
      base_url: 'https://q.openai.azure.com/openai/v1',
      api_key: '${env:A}',
      ...models('openai/new', 'new'),
    },
    {
      id: 'llm-acme-example-8000',
      preset: 'custom',
      base_url: 'http://llm.acme.example:8000/v1',
      ...models('llm-acme-example-8000/x', 'x'),
    },
    { id: 'together', preset: 'together', api_key: '${env:T}', ...models('meta-llama/L', 'meta-llama/L') },
    { id: 'ollama', preset: 'ollama', base_url: 'http://10.0.0.5:11434', ...models('ollama/tiny', 'tiny') },
  ])
})

test('a model that cannot be served is reported with its line only', () => {
  const { providers, names, places, messages } = read(
    list(
      entry('a', 'model: bedrock/x, aws_region_name: eu'),
      entry('b', 'model: unheard-of/x'),
      entry('c', 'model: openai/dall-e-3', '{ mode: image_generation }'),
      entry('d', 'model: azure/prod'),
      entry('e', 'model: openai/x, api_base: os.environ/NOWHERE'),
      '  - litellm_params: { model: openai/x }',
    ),
  )
  expect([providers, names]).toEqual([[], {}])
  expect(places).toEqual([2, 3, 4, 5, 6, 7].map((line, index) => `${line} model_list[${index}]`))
  expect(messages.map((message) => message.replace('the deployment is not carried: ', ''))).toEqual([
    'there is no provider "bedrock" here',
    '"unheard-of/x" begins with no provider that is known here, such as openai/',
    'there is no operation for its mode here',
    'it needs an api_base',
    'set NOWHERE, then import again',
    'it needs model_name and litellm_params.model',
  ])
})

test('secrets leave the file for files of their own, also those of headers and of named credentials', () => {
  const { providers, secrets } = read(
    `${list(
      entry('a', 'model: openai/x, litellm_credential_name: ours, extra_headers: { X-Team: blue }'),
      entry('b', 'model: groq/y, api_key: os.environ/G'),
    )}credential_list:
  - { credential_name: ours, credential_values: { api_key: sk-one, api_base: "http://a.example/v1" } }
environment_variables: { G: from-the-file }
`,
  )
  expect(providers.map(({ api_key: key, headers }) => [key, headers])).toEqual([
    ['${file:./secrets/a-example}', { 'X-Team': '${file:./secrets/a-example-x-team}' }],
    ['${file:./secrets/G}', undefined],
  ])
  expect([...secrets]).toEqual([
    ['secrets/a-example', 'sk-one'],
    ['secrets/a-example-x-team', 'blue'],
    ['secrets/G', 'from-the-file'],
  ])
})

test('a pattern offers all models of a provider, and the report says where their names differ', () => {
  const { providers, names, places } = read(
    list(
      entry('openai/*', 'model: openai/*, api_key: os.environ/K'),
      entry('*', 'model: groq/*, api_key: os.environ/G'),
      entry('mini-*', 'model: openai/gpt-*-mini, api_key: os.environ/K'),
      entry('openai/*', 'model: openai/*, api_key: os.environ/K, api_base: "http://llm.example:8000/v1"'),
    ),
  )
  expect(providers.map(({ id, only_models: isClosed, models }) => [id, isClosed, models])).toEqual([
    ['openai', undefined, []],
    ['groq', undefined, []],
    ['llm-example-8000', undefined, []],
  ])
  expect(names).toEqual({})
  expect(places).toEqual(['3 model_list[1]', '4 model_list[2]', '5 model_list[3]'])
})

test('chains follow their own fallbacks, general ones come where there is none, and contexts at the end', () => {
  const models = ['a', 'b', 'c', 'd'].map((name) => entry(name, `model: groq/${name}`))
  const { names, places } = read(`${list(...models)}router_settings:
  fallbacks: [{ a: [b] }, { b: [c] }]
  context_window_fallbacks: [{ c: [a] }]
litellm_settings:
  default_fallbacks: [d]
`)
  const chains = Object.entries(names).map(([name, { groups }]) => [
    name,
    groups
      .flat()
      .map(({ model }) => model.slice(5))
      .join(''),
  ])
  expect(chains).toEqual([
    ['a', 'abcd'],
    ['b', 'bcd'],
    ['c', 'cdab'],
    ['d', 'd'],
  ])
  expect(places).toEqual(['8 router_settings.context_window_fallbacks[0].c[0]'])
})

test('longer chains than the six attempts of a call are cut and reported', () => {
  const letters = [...'abcdefgh']
  const models = letters.map((name) => entry(name, `model: groq/${name}`))
  const { names, messages } = read(
    `${list(...models)}router_settings:\n  fallbacks: [{ a: [${letters.slice(1).join(', ')}] }]\n`,
  )
  expect(names['a']?.groups).toHaveLength(6)
  expect(messages).toEqual([
    'only the first 6 of the 8 groups of "a" are carried: a call has as many attempts',
  ])
})

test('weights come from the first parameter that the first deployment has, and a deployment without calls is reported', () => {
  const { names, messages } = read(
    list(
      entry('a', 'model: groq/x, api_key: os.environ/A, weight: 2, rpm: 5'),
      entry('a', 'model: groq/x, api_key: os.environ/B, rpm: 5'),
      entry('b', 'model: groq/y, api_key: os.environ/A, tpm: 100000'),
      entry('b', 'model: groq/y, api_key: os.environ/B, tpm: 300000'),
    ),
  )
  expect(names['a']?.groups).toEqual([[{ model: 'groq/x', provider: 'groq', weight: 2 }]])
  expect(names['b']?.groups[0]?.map(({ weight }) => weight)).toEqual([100_000, 300_000])
  expect(messages.filter((message) => message.startsWith('has no share'))).toHaveLength(1)
})

test('aliases that lead back to themselves, or are also a name, are reported and left out', () => {
  const { aliases, messages } = read(`${list(entry('a', 'model: groq/x'))}router_settings:
  model_group_alias: { x: y, y: x, a: a, fine: a, hidden: { model: a, hidden: true }, lost: z }
`)
  expect(aliases).toEqual({ fine: 'a', hidden: 'a', lost: 'z' })
  expect(messages.toSorted()).toEqual([
    'is not carried: "a" is a model_name too',
    'means "z", which is no model_name that is carried',
    'the alias "x" leads back to itself and is not carried',
    'the alias "y" leads back to itself and is not carried',
  ])
})

test('YAML merge keys work, and a file that is not YAML is refused with its line', () => {
  const { providers } = read(`shared: &shared { api_key: os.environ/K, api_base: "http://b.example/v1" }
model_list:
  - model_name: a
    litellm_params: { <<: *shared, model: openai/x }
`)
  expect(providers[0]).toMatchObject({ base_url: 'http://b.example/v1', api_key: '${env:K}' })
  expect(() => parseYaml('model_list:\n  - a: [1\n  b', 'c.yaml')).toThrow(CommandFailure)
  expect(() => parseYaml('model_list:\n  - a: [1\n  b', 'c.yaml')).toThrow(/^c\.yaml:\d+: this is not YAML/)
  expect(() => parseYaml('- a', 'c.yaml')).toThrow('there is no mapping')
})

test('a master key is imported when it can be read and is long enough', () => {
  const general = (key: string) => `general_settings:\n  master_key: ${key}\n`
  expect(read(general('sk-1234567890abcdef')).masterKey?.secret).toBe('sk-1234567890abcdef')
  expect(read(general('os.environ/M'), { M: 'sk-1234567890abcdef' }).masterKey?.secret).toBe(
    'sk-1234567890abcdef',
  )
  for (const key of ['sk-1234', 'os.environ/M']) {
    const { masterKey, places, messages } = read(general(key))
    expect(masterKey).toBeNull()
    expect(places).toEqual(['2 general_settings.master_key'])
    expect(messages.join()).not.toContain('sk-1234')
  }
})

test('an address with the path of an operation, a version or a secret is taken apart', () => {
  const { providers, secrets, messages } = read(
    list(
      entry(
        'a',
        'model: azure/gpt-4o, api_key: os.environ/A, api_base: "https://r.openai.azure.com/openai/deployments/prod/chat/completions?api-version=2024-08-01-preview"',
      ),
      entry(
        'b',
        'model: azure_ai/phi, api_key: os.environ/A, api_base: "https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview"',
      ),
      entry(
        'c',
        'model: openai/x, api_key: os.environ/B, api_base: "https://gw.example.com/v1/chat/completions?Key/../x=of-query"',
      ),
      entry('d', 'model: hosted_vllm/y, api_base: "http://us%40er:of-user@vllm.internal:8000/v1/"'),
      entry('e', 'model: openai/z, api_base: "llm.example.com:8000/v1"'),
    ),
  )
  expect(JSON.parse(JSON.stringify(providers))).toEqual([
    {
      id: 'azure',
      preset: 'azure',
      base_url: 'https://r.openai.azure.com/openai',
      api_key: '${env:A}',
      query: { 'api-version': '2024-08-01-preview' },
      only_models: true,
      models: [
        {
          id: 'openai/gpt-4o',
          upstream: 'prod',
          prices: { input_per_million: '2.5', output_per_million: '10', cached_input_per_million: '1.25' },
        },
      ],
    },
    {
      id: 'azure-2',
      preset: 'azure',
      base_url: 'https://r.services.ai.azure.com/models',
      api_key: '${env:A}',
      query: { 'api-version': '2024-05-01-preview' },
      only_models: true,
      models: [{ id: 'openai/phi', upstream: 'phi' }],
    },
    {
      id: 'gw-example-com',
      preset: 'custom',
      base_url: 'https://gw.example.com/v1',
      api_key: '${env:B}',
      query: { 'Key/../x': '${file:./secrets/gw-example-com-key-x}' },
      only_models: true,
      models: [{ id: 'gw-example-com/x', upstream: 'x' }],
    },
    {
      id: 'vllm',
      preset: 'vllm',
      base_url: 'http://vllm.internal:8000/v1',
      headers: { authorization: '${file:./secrets/vllm-authorization}' },
      only_models: true,
      models: [{ id: 'vllm/y', upstream: 'y' }],
    },
  ])
  expect([...secrets]).toEqual([
    ['secrets/gw-example-com-key-x', 'of-query'],
    // The login us@er:of-user, in the form of a header.
    ['secrets/vllm-authorization', 'Basic dXNAZXI6b2YtdXNlcg=='],
  ])
  expect(messages).toEqual([
    'the deployment is not carried: api_base is no address such as http://127.0.0.1:8000/v1',
  ])
})

test('a model_name that cannot be a model id here is reported and left out', () => {
  const { names, places, messages } = read(
    list(
      entry('', 'model: openai/x, api_key: os.environ/K'),
      entry(' b ', 'model: openai/x, api_key: os.environ/K'),
      entry('c', 'model: openai/x, api_key: os.environ/K'),
    ),
  )
  expect(Object.keys(names)).toEqual(['c'])
  expect(places).toEqual(['2 model_list[0]', '3 model_list[1]'])
  expect(messages[0]).toContain('model_name')
})

test('a key may have all models, or the ids of a pattern; an unknown model is reported and not allowed', () => {
  const { addition, deployments } = read(
    list(
      entry('openai/*', 'model: openai/*, api_key: os.environ/K'),
      entry('groq/*', 'model: openai/*, api_key: os.environ/K, api_base: "http://llm.example:8000/v1"'),
      entry('small', 'model: openai/gpt-4o-mini, api_key: os.environ/K'),
    ),
  )
  const { read: scopeOf } = createScope(addition, deployments)
  expect(scopeOf(['*'])).toEqual({ models: null, unknown: [] })
  expect(scopeOf(['small', 'openai/gpt-4o', 'groq/llama', 'openai/*'])).toEqual({
    models: ['small', 'openai/gpt-4o'],
    unknown: ['groq/llama', 'openai/*'],
  })
})

test('a key that LiteLLM takes from a variable of the file is imported when no entry names it', () => {
  const { providers, secrets } = read(
    `${list(entry('a', 'model: gpt-4o'), entry('b', 'model: groq/y'))}environment_variables: { OPENAI_API_KEY: sk-of-file }\n`,
  )
  expect(providers.map(({ id, api_key: key }) => [id, key])).toEqual([
    ['openai', '${file:./secrets/OPENAI_API_KEY}'],
    ['groq', undefined],
  ])
  expect([...secrets]).toEqual([['secrets/OPENAI_API_KEY', 'sk-of-file']])
})

test('a file that contains itself is refused with its line', () => {
  const yaml = 'model_list: &m\n  - *m\n'
  expect(() => read(yaml)).toThrow(new CommandFailure('c.yaml:2: "*m" stands within what it means.'))
})

test('prices of audio are imported by the second and the character, exactly', () => {
  const { providers } = read(
    list(
      entry(
        'w',
        'model: groq/whisper-large-v3',
        '{ mode: audio_transcription, input_cost_per_second: 3.0833333333e-05, output_cost_per_second: 0.0 }',
      ),
      entry(
        'x',
        'model: openai/whisper-1',
        '{ mode: audio_transcription, input_cost_per_second: 0.0001, output_cost_per_second: 0.0001 }',
      ),
      entry('y', 'model: openai/tts-1', '{ mode: audio_speech, input_cost_per_character: 0.000015 }'),
      entry('z', 'model: openai/tts-x', '{ mode: audio_speech, output_cost_per_second: 0.00025 }'),
    ),
  )
  const prices = providers.flatMap(({ models }) => models.map((model) => model.prices))
  expect(prices).toEqual([
    { audio_per_second: '0.000030833333333' },
    { audio_per_second: '0.0001' },
    { characters_per_million: '15' },
    { audio_per_second: '0.00025' },
  ])
})

test('a custom model without a price in the file gets the price that LiteLLM would bill', () => {
  const yaml = list(
    entry('a', 'model: openai/gpt-4o-mini, api_base: "http://llm.example/v1"'),
    entry('b', 'model: openai/house, api_base: "http://llm.example/v1"', '{ base_model: gpt-4o-mini }'),
    entry('c', 'model: openai/own-model, api_base: "http://llm.example/v1"'),
    entry(
      'd',
      'model: azure/prod, api_base: "https://r.openai.azure.com"',
      '{ base_model: azure/gpt-4o-mini }',
    ),
    entry('e', 'model: openai/gpt-4o-mini, api_key: os.environ/K'),
    entry('f', 'model: hosted_vllm/gpt-4o-mini, api_base: "http://vllm.example/v1"'),
  )
  const pricesOf = ({ providers }: ReturnType<typeof read>) =>
    Object.fromEntries(
      providers.flatMap(({ models }) => models.map(({ id, prices }) => [id, prices?.['output_per_million']])),
    )
  const known = read(yaml)
  // OpenAI's list price of output. At OpenAI's own address the price is known anyway, and a self-hosted server
  // is free.
  expect(pricesOf(known)).toEqual({
    'llm-example/gpt-4o-mini': '0.6',
    'llm-example/house': '0.6',
    'llm-example/own-model': undefined,
    'openai/prod': '0.6',
    'openai/gpt-4o-mini': undefined,
    'vllm/gpt-4o-mini': undefined,
  })
  expect(known.toldPrices.filter((one) => one.startsWith('has no price here'))).toHaveLength(1)
  const mapped = read(
    yaml,
    {},
    {
      'openai/own-model': { input_cost_per_token: 1e-6, output_cost_per_token: 2.5e-6, mode: 'chat' },
      'gpt-4o-mini': { input_cost_per_token: 1.5e-7, output_cost_per_token: 7e-7 },
    },
  )
  expect(pricesOf(mapped)).toMatchObject({
    'llm-example/gpt-4o-mini': '0.7',
    'llm-example/house': '0.7',
    'llm-example/own-model': '2.5',
  })
})

test('values that the configuration would refuse are reported with their line and left out', () => {
  const { names, aliases, providers, places } = read(
    `${list(
      entry('a', String.raw`model: "openai/x\x07", api_key: os.environ/K`),
      entry('b', String.raw`model: openai/x, api_key: "sk-\x07"`),
      entry('c', 'model: openai/x, api_key: os.environ/K, extra_headers: { "X Team": blue }'),
      entry('d', 'model: openai/x, api_key: os.environ/K, max_parallel_requests: 0.5'),
      entry('d', 'model: openai/y, api_key: os.environ/K, tpm: 1'),
      entry('e', 'model: openai/x, api_key: os.environ/K, tpm: 9000000000'),
    )}router_settings:
  model_group_alias: { "bell\\x07": d, fine: d }
`.replaceAll('\\\\', '\\'),
  )
  expect(Object.keys(names)).toEqual(['d', 'e'])
  expect(aliases).toEqual({ fine: 'd' })
  expect(providers.map(({ concurrency }) => concurrency)).toEqual([undefined])
  expect(names['e']?.groups[0]?.[0]?.weight).toBe(1e9)
  expect(places).toEqual(expect.arrayContaining(['2 model_list[0]', '3 model_list[1]', '4 model_list[2]']))
})

test('rates of a deployment are the quota of its model, and those of a pattern are told', () => {
  const { providers, places } = read(
    list(
      entry('a', 'model: openai/x, api_key: os.environ/K, rpm: 600, tpm: 100000'),
      entry('b', 'model: openai/y, api_key: os.environ/K, rpm: 0.5'),
      entry('openai/*', 'model: openai/*, api_key: os.environ/L, rpm: 5'),
    ),
  )
  const [first] = providers
  expect(first?.models).toEqual([
    expect.objectContaining({ id: 'openai/x', requests_per_minute: 600, tokens_per_minute: 100_000 }),
    expect.not.objectContaining({ requests_per_minute: expect.anything() }),
  ])
  // What is kept to is told too, because LiteLLM does not keep to it.
  const placesOf = (line: string) => places.filter((place) => place.startsWith(line))
  expect(placesOf('2 ')).toEqual(['2 model_list[0].litellm_params.rpm', '2 model_list[0].litellm_params.tpm'])
  expect(placesOf('3 ')).toContain('3 model_list[1].litellm_params.rpm')
  expect(placesOf('4 ')).toContain('4 model_list[2].litellm_params.rpm')
})

test('an address in a variable that LiteLLM reads is used, with the key of that address', () => {
  const yaml = list(
    entry('a', 'model: gpt-4o'),
    entry('b', 'model: openai/x, api_key: os.environ/K'),
    entry('c', 'model: claude-sonnet-4-5'),
    entry('d', 'model: groq/y'),
    entry('e', 'model: openai/z, api_base: "http://other.example/v1", api_key: os.environ/K'),
  )
  const { providers, messages, addition } = read(yaml, {
    OPENAI_BASE_URL: 'http://user:hidden@llm.acme.example/v1',
    OPENAI_API_BASE: 'http://never.example/v1',
    OPENAI_API_KEY: 'of-acme',
    ANTHROPIC_BASE_URL: 'http://claude.acme.example',
    GROQ_API_BASE: 'https://api.groq.com/openai/v1',
  })
  expect(providers.map(({ id, preset, base_url: url, api_key: key }) => [id, preset, url, key])).toEqual([
    ['llm-acme-example', 'custom', 'http://llm.acme.example/v1', '${env:OPENAI_API_KEY}'],
    ['llm-acme-example-2', 'custom', 'http://llm.acme.example/v1', '${env:K}'],
    ['anthropic', 'anthropic', 'http://claude.acme.example/v1', undefined],
    ['groq', 'groq', undefined, undefined],
    ['other-example', 'custom', 'http://other.example/v1', '${env:K}'],
  ])
  const carried = (variable: string, url: string) =>
    `says no api_base; LiteLLM takes the address in ${variable}, which is carried: ${url}`
  expect(messages).toEqual([
    carried('OPENAI_BASE_URL', 'http://llm.acme.example/v1'),
    carried('OPENAI_BASE_URL', 'http://llm.acme.example/v1'),
    carried('ANTHROPIC_BASE_URL', 'http://claude.acme.example/v1'),
  ])
  expect(addition.ignoredVariables).toEqual(['OPENAI_API_KEY'])
})

test('an address in a variable of the file counts too, and one that is no address is reported', () => {
  const yaml = list(entry('a', 'model: gpt-4o'), entry('b', 'model: azure/prod'))
  const { providers } = read(`${yaml}environment_variables: { OPENAI_API_BASE: "http://llm.example/v1" }\n`, {
    OPENAI_BASE_URL: '',
    AZURE_API_BASE: 'https://r.openai.azure.com',
    AZURE_API_KEY: 'of-azure',
  })
  expect(providers.map(({ base_url: url, api_key: key }) => [url, key])).toEqual([
    ['http://llm.example/v1', undefined],
    ['https://r.openai.azure.com/openai/v1', '${env:AZURE_API_KEY}'],
  ])
  expect(read(yaml, { OPENAI_BASE_URL: 'llm.example' }).messages[0]).toBe(
    'the deployment is not carried: OPENAI_BASE_URL is no address such as http://127.0.0.1:8000/v1',
  )
})

test('an address for all entries in the settings comes before the variables', () => {
  const yaml = `${list(
    entry('a', 'model: gpt-4o'),
    entry('b', 'model: openai/z, api_base: "http://other.example/v1", api_key: os.environ/K'),
  )}litellm_settings: { api_base: "http://all.example/v1" }\n`
  const { providers, messages, addition } = read(yaml, {
    OPENAI_BASE_URL: 'http://never.example/v1',
    OPENAI_API_KEY: 'of-all',
  })
  expect(providers.map(({ preset, base_url: url, api_key: key }) => [preset, url, key])).toEqual([
    ['custom', 'http://all.example/v1', '${env:OPENAI_API_KEY}'],
    ['custom', 'http://other.example/v1', '${env:K}'],
  ])
  expect(messages).toEqual([
    'says no api_base; LiteLLM takes the address in litellm_settings.api_base, which is carried: http://all.example/v1',
  ])
  expect(addition.ignoredVariables).toEqual(['OPENAI_API_KEY'])
})

test('a variable with the key of another server is not sent to the provider of that name', () => {
  const server = 'model: openai/x, api_base: "http://llm.example/v1", api_key: os.environ/OPENAI_API_KEY'
  const fault = (name: string, user: string) =>
    `the deployment is not carried: "${name}" has no api_key, and OPENAI_API_KEY has the key of another server, by ${user}, which OpenAI must not get: give "${name}" an api_key of its own (os.environ/ and a variable of another name), then import again`
  for (const [first, second] of [
    ['model: gpt-4o', server],
    [server, 'model: gpt-4o'],
  ] as const) {
    const { providers, messages, addition } = read(
      list(
        entry('one', first),
        entry('two', second),
        entry('three', 'model: gpt-4o, api_key: os.environ/OWN'),
      ),
      { OPENAI_API_KEY: 'of-llm' },
    )
    expect(providers.map(({ preset, api_key: key }) => [preset, key])).toEqual([
      ['custom', '${env:OPENAI_API_KEY}'],
      ['openai', '${env:OWN}'],
    ])
    expect(messages).toEqual([first === server ? fault('two', '"one"') : fault('one', '"two"')])
    expect(addition.ignoredVariables).toEqual([])
  }
  const others = read(
    list(
      entry('a', 'model: gpt-4o'),
      entry('b', 'model: bedrock/x, api_key: os.environ/OPENAI_API_KEY'),
      entry('openai/*', 'model: openai/*'),
      entry('c', 'model: openai/dall-e-3, api_key: os.environ/OPENAI_API_KEY', '{ mode: image_generation }'),
    ),
  )
  expect(others.providers).toEqual([])
  expect(others.messages[0]).toBe(fault('a', 'model_list[1]'))
  expect(others.addition.ignoredVariables).toEqual(['OPENAI_API_KEY'])
  const ofFile = `${list(entry('a', 'model: gpt-4o'), entry('b', server))}environment_variables: { OPENAI_API_KEY: sk-of-llm }\n`
  expect(read(ofFile).providers.map(({ preset }) => preset)).toEqual(['custom'])
  // A deployment that names no key, and one that names the variable for its own provider, change nothing.
  const usual = list(
    entry('a', 'model: gpt-4o'),
    entry('b', 'model: openai/x, api_base: "http://llm.example/v1"'),
    entry('c', 'model: gpt-4o-mini, api_key: os.environ/OPENAI_API_KEY'),
  )
  expect(read(usual).providers.map(({ preset, api_key: key }) => [preset, key])).toEqual([
    ['openai', undefined],
    ['custom', undefined],
    ['openai', '${env:OPENAI_API_KEY}'],
  ])
})

test('drop_params is listed wherever it is, because it is always so here', () => {
  const { places, messages } = read(
    `${list(entry('a', 'model: groq/x, drop_params: true'))}litellm_settings: { drop_params: true }\n`,
  )
  expect(places).toEqual(['2 model_list[0].litellm_params.drop_params', '3 litellm_settings.drop_params'])
  expect(new Set(messages)).toEqual(
    new Set(['tuning that a provider does not take is left out and listed here, always']),
  )
})

test('a model of text that has a price of a part alone, or of seconds, is reported', () => {
  const { toldPrices, providers } = read(
    list(
      entry(
        'both',
        'model: openai/a, api_base: "http://llm.example/v1"',
        '{ input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 }',
      ),
      entry('half', 'model: openai/b, api_base: "http://llm.example/v1"', '{ output_cost_per_token: 2e-6 }'),
      entry(
        'timed',
        'model: openai/c, api_base: "http://llm.example/v1"',
        '{ input_cost_per_second: 0.001 }',
      ),
      entry(
        'heard',
        'model: openai/d, api_base: "http://llm.example/v1"',
        '{ mode: audio_transcription, input_cost_per_second: 0.001 }',
      ),
    ),
  )
  expect(toldPrices).toEqual([
    'says no price of input tokens, so keys with a budget are refused its calls; other keys pay nothing for it',
    'says no price of input tokens and output tokens, so keys with a budget are refused its calls; other keys pay nothing for these',
  ])
  expect(providers[0]?.models.map(({ prices }) => prices)).toEqual([
    { input_per_million: '1', output_per_million: '2' },
    { output_per_million: '2' },
    { audio_per_second: '0.001' },
    { audio_per_second: '0.001' },
  ])
})
