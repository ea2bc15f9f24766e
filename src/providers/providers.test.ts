import { describe, expect, test } from 'bun:test'
import { toDeploymentSource } from './deployments.ts'
import { findPreset, presets } from './presets.ts'
import { testProvider } from './provider.case.ts'

for (const preset of presets) describe(preset.name, () => testProvider(preset))

test('the address of a local server may be given without the path of its version', () => {
  const addressOf = (preset: string, baseUrl: string) =>
    toDeploymentSource({ preset, base_url: baseUrl, weight: 1, models: [] }).deployment.baseUrl
  for (const given of ['http://a:11434', 'http://a:11434/', 'http://a:11434/v1', 'http://a:11434/v1/'])
    expect(addressOf('ollama', given)).toBe('http://a:11434/v1')
  expect(addressOf('ollama', 'http://a/behind/v1')).toBe('http://a/behind/v1')
  expect(addressOf('custom', 'http://a:8000')).toBe('http://a:8000')
})

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
    expect(findPreset('mistral')?.adapters.speech).toBeUndefined()
    expect(findPreset('groq')?.audio.speech?.speechFormats).toEqual(['pcm'])
  })
})
