import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { rowsBySlug } from '../../test/support/rows-of-providers.ts'
import { toPublicId } from '../catalog/model-ids.ts'
import { asChat } from '../formats/text/chat/quirks.ts'
import { decodeChatRequest } from '../formats/text/chat/read-request.ts'
import { encodeChatRequest } from '../formats/text/chat/pass-request.ts'
import { testEndpoint, textOf } from '../formats/text/testing.ts'
import { potentialProviders, toDeploymentSource } from './deployments.ts'
import { findPreset, presets } from './registry.ts'
import { testProvider } from './provider.case.ts'
import { testSamples } from './sample.case.ts'

for (const preset of presets) {
  describe(preset.name, () => testProvider(preset))
  describe(`${preset.name}, by its sample replies,`, () => testSamples(preset))
}

test('the address of a local server may be given without the path of its version', () => {
  const addressOf = (preset: string, baseUrl: string) =>
    toDeploymentSource({ preset, base_url: baseUrl, weight: 1, models: [] }).deployment.baseUrl
  for (const given of ['http://a:11434', 'http://a:11434/', 'http://a:11434/v1', 'http://a:11434/v1/'])
    expect(addressOf('ollama', given)).toBe('http://a:11434/v1')
  expect(addressOf('ollama', 'http://a/behind/v1')).toBe('http://a/behind/v1')
  expect(addressOf('custom', 'http://a:8000')).toBe('http://a:8000')
})

test('a key travels where its provider’s preset says, and a server without a key is sent none', () => {
  const authOf = (preset: string, key?: string) =>
    toDeploymentSource({
      preset,
      base_url: 'http://a/v1',
      weight: 1,
      models: [],
      ...(key === undefined ? {} : { api_key: key }),
    }).credential.auth
  const bearer = { type: 'header', name: 'authorization', prefix: 'Bearer ', secret: 'k' } as const
  expect(authOf('groq', 'k')).toEqual(bearer)
  expect(authOf('ollama', 'k')).toEqual(bearer)
  expect(authOf('ollama')).toEqual({ type: 'none' })
  expect(authOf('anthropic', 'k')).toEqual({ type: 'header', name: 'x-api-key', prefix: '', secret: 'k' })
})

test('a limit of output is stated where Anthropic’s format requires one', () => {
  const statedFor = (preset: string, name: string): number | null | undefined =>
    toDeploymentSource({
      preset,
      base_url: 'https://a.example/openai/v1',
      weight: 1,
      models: [],
    }).outputTokensStatedOf?.(name, `maker/${name}`)
  expect(statedFor('anthropic', 'claude-haiku-4-5')).toBe(64_000)
  expect(statedFor('anthropic', 'claude-3-haiku-20240307')).toBe(4_096)
  expect(statedFor('azure', 'claude-haiku-4-5')).toBe(64_000)
  expect(statedFor('azure', 'gpt-4o')).toBeNull()
  expect(statedFor('openai', 'gpt-4o')).toBeNull()
})

test('in the id of a model whose name is only a path at the provider, the author is the provider’s', () => {
  const { author, publicName } = toDeploymentSource({ preset: 'fireworks', weight: 1, models: [] })
  expect(toPublicId(author, publicName('accounts/fireworks/models/kimi-k3'))).toBe('fireworks/kimi-k3')
  expect(toPublicId(author, publicName('qwen/qwen3-32b'))).toBe('qwen/qwen3-32b')
})

test.each(presets.map(({ slug }) => slug))(
  '%s has rows for the adapters of sound that it alone uses',
  (slug) => {
    const has = (file: string): boolean => existsSync(join(import.meta.dir, slug, file))
    const { transcribers = [], speech = [] } = rowsBySlug.get(slug) ?? {}
    // Without rows the shared tests ask nothing of an adapter, and pass.
    if (has('transcription.ts')) expect(transcribers).not.toEqual([])
    if (has('speech.ts')) expect(speech).not.toEqual([])
  },
)

describe('the registry', () => {
  test('has every provider once and finds it by its slug', () => {
    expect(new Set(presets.map((preset) => preset.slug)).size).toBe(presets.length)
    for (const preset of presets) expect(findPreset(preset.slug)).toBe(preset)
    expect(findPreset('nobody')).toBeNull()
  })

  test('sends each hosted key from a variable of its own', () => {
    const variables = presets.flatMap((preset) => preset.keyVariable ?? [])
    expect(new Set(variables).size).toBe(variables.length)
  })

  test('offers no modality that a provider’s sheet denies', () => {
    expect(findPreset('deepseek')?.adapters.embedding).toBeUndefined()
    expect(findPreset('groq')?.audio.speech?.speechFormats).toEqual(['pcm'])
  })
})

describe('a member that vendors’ own clients send', () => {
  const messages = [
    { role: 'assistant', content: null, tool_calls: [{ id: 'aaaaaaaaa', function: { name: 'f' } }] },
    { role: 'tool', tool_call_id: 'aaaaaaaaa', name: 'f', content: '1' },
  ]

  /** The request that this provider receives. */
  function sentTo(slug: string, members: Record<string, unknown>) {
    const bytes = new TextEncoder().encode(JSON.stringify({ model: 'a/b', messages, ...members }))
    const adapter = findPreset(slug)?.adapters.language?.find(({ format }) => format === 'chat')
    if (adapter === undefined) throw new Error(`${slug} has no chat`)
    const call = decodeChatRequest(bytes, { sessionIdHeader: null })
    const { body, dropped } = encodeChatRequest(call, testEndpoint('b', slug), asChat(adapter.quirks))
    return { wire: JSON.parse(textOf(body)), dropped }
  }

  test.each([
    ['groq', { reasoning_format: 'parsed', service_tier: 'flex' }],
    ['groq', { include_reasoning: false, service_tier: 'on_demand' }],
    ['deepseek', { thinking: { type: 'disabled' } }],
    ['mistral', { safe_prompt: true, prompt_mode: 'reasoning', random_seed: 7 }],
    ['fireworks', { context_length_exceeded_behavior: 'error' }],
    ['together', { safety_model: 'meta-llama/Llama-Guard-4-12B' }],
  ])('reaches %s: %j', (slug, members) => {
    expect(sentTo(slug, members)).toMatchObject({ wire: members, dropped: [] })
  })

  test('is not sent to providers that do not know it', () => {
    const members = { reasoning_format: 'parsed', thinking: { type: 'disabled' }, safe_prompt: true }
    expect(sentTo('openai', members).dropped).toEqual(Object.keys(members))
  })

  test('keeps a tool message’s name for Mistral only', () => {
    expect(sentTo('mistral', {}).wire.messages[1]).toMatchObject({ role: 'tool', name: 'f' })
    for (const slug of ['openai', 'groq', 'deepseek', 'together'])
      expect(sentTo(slug, {}).wire.messages[1]).not.toHaveProperty('name')
  })
})

test('an operator who has configured a provider is not told to set its key', () => {
  const settings = { preset: 'anthropic', id: 'ours', weight: 1, models: [] }
  const variables = potentialProviders([settings]).map(({ keyVariable }) => keyVariable)
  expect(variables).toContain('OPENAI_API_KEY')
  expect(variables).not.toContain('ANTHROPIC_API_KEY')
})
