import { describe, expect, test } from 'bun:test'
import { findPreset, presets } from './presets.ts'
import { testProvider } from './provider.case.ts'

for (const preset of presets) describe(preset.name, () => testProvider(preset))

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
