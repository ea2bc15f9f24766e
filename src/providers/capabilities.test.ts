import { expect, test } from 'bun:test'
import { traitsOf } from '../catalog/capabilities.ts'
import { findPreset, modelRulesOf } from './registry.ts'

function traits(slug: string, model: string) {
  const preset = findPreset(slug)
  if (preset === null) throw new Error(`there is no preset ${slug}`)
  return traitsOf(model, modelRulesOf(preset))
}

test.each([
  ['openai', 'gpt-4o', 'language'],
  ['openai', 'text-embedding-3-small', 'embedding'],
  ['openai', 'whisper-1', 'transcription'],
  ['openai', 'gpt-4o-mini-transcribe', 'transcription'],
  ['openai', 'gpt-4o-mini-tts', 'speech'],
  ['openai', 'gpt-4o-realtime-preview', null],
  ['openai', 'gpt-image-1', null],
  ['openai', 'dall-e-3', null],
  ['openai', 'omni-moderation-latest', null],
  ['openai', 'gpt-3.5-turbo-instruct', null],
  ['groq', 'whisper-large-v3', 'transcription'],
  ['groq', 'playai-tts', 'speech'],
  ['groq', 'canopylabs/orpheus-v1-english', 'speech'],
  ['together', 'cartesia/sonic-2', 'speech'],
  ['together', 'black-forest-labs/FLUX.1-schnell', null],
  ['together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', 'language'],
  ['mistral', 'voxtral-mini-2602', 'transcription'],
  ['mistral', 'voxtral-mini-transcribe-realtime-2602', null],
  ['mistral', 'voxtral-small-latest', 'language'],
  ['mistral', 'mistral-ocr-latest', null],
  ['mistral', 'mistral-embed', 'embedding'],
  ['deepinfra', 'hexgrad/Kokoro-82M', 'speech'],
  ['deepinfra', 'BAAI/bge-m3', 'embedding'],
  ['ollama', 'nomic-embed-text', 'embedding'],
  ['xai', 'grok-voice-latest', null],
  ['custom', 'nobody/knows-it', 'language'],
] as const)('%s: the name %s implies %s', (slug, model, modality) => {
  expect(traits(slug, model).modality).toBe(modality)
})

test.each([
  ['openai', 'gpt-5-mini', { sees: true, hears: false, reasons: true }],
  ['openai', 'gpt-4o-audio-preview', { sees: true, hears: true, reasons: false }],
  ['openai', 'gpt-3.5-turbo', { sees: false, hears: false, reasons: false }],
  ['openai', 'o3', { sees: true, hears: false, reasons: true }],
  ['anthropic', 'claude-sonnet-4-5', { sees: true, hears: false, reasons: true }],
  ['anthropic', 'claude-3-5-haiku-latest', { sees: true, hears: false, reasons: false }],
  ['mistral', 'pixtral-12b-2409', { sees: true, hears: false, reasons: false }],
  ['mistral', 'voxtral-small-latest', { sees: false, hears: true, reasons: false }],
  ['deepseek', 'deepseek-reasoner', { sees: false, hears: false, reasons: true }],
  ['groq', 'openai/gpt-oss-120b', { sees: false, hears: false, reasons: true }],
  ['groq', 'groq/compound', { sees: false, hears: false, reasons: true }],
  ['ollama', 'gemma3:4b', { sees: true, hears: false, reasons: false }],
  ['vllm', 'Qwen/Qwen3-VL-8B-Thinking', { sees: true, hears: false, reasons: true }],
  ['xai', 'grok-4.3', { sees: true, hears: false, reasons: true }],
  ['xai', 'grok-4-fast-non-reasoning', { sees: true, hears: false, reasons: false }],
  ['xai', 'grok-3', { sees: false, hears: false, reasons: false }],
  ['moonshot', 'kimi-k3', { sees: true, hears: false, reasons: true }],
  ['moonshot', 'kimi-k2-thinking-turbo', { sees: false, hears: false, reasons: true }],
  ['openrouter', 'moonshotai/kimi-k2', { sees: false, hears: false, reasons: false }],
  ['openrouter', 'moonshotai/kimi-k2-thinking', { sees: false, hears: false, reasons: true }],
  ['groq', 'moonshotai/kimi-k2-instruct-0905', { sees: false, hears: false, reasons: false }],
  ['moonshot', 'moonshot-v1-128k', { sees: false, hears: false, reasons: false }],
  ['fireworks', 'accounts/fireworks/models/kimi-k2p6', { sees: true, hears: false, reasons: true }],
  ['zai', 'glm-5.2', { sees: false, hears: false, reasons: true }],
  ['openrouter', 'z-ai/glm-4.5v', { sees: true, hears: false, reasons: true }],
  ['openrouter', 'x-ai/grok-code-fast-1', { sees: false, hears: false, reasons: true }],
  ['custom', 'anthropic/claude-opus-4-7', { sees: true, hears: false, reasons: true }],
] as const)('%s: what %s takes and whether it thinks', (slug, model, expected) => {
  expect(traits(slug, model)).toMatchObject(expected)
})

test('Google’s own models transcribe only at Google', () => {
  const transcribes = (slug: string, model: string) => traits(slug, model).transcribes
  expect(transcribes('google-ai-studio', 'gemini-2.5-flash')).toBe(true)
  expect(transcribes('google-ai-studio', 'gemma-3-27b-it')).toBe(false)
  expect(transcribes('openrouter', 'google/gemini-2.5-flash')).toBe(false)
})

test('a server that calls its own voice tts-1 has neither OpenAI’s voices nor its limits', () => {
  expect(traits('openai', 'tts-1').audio).toHaveProperty('voices')
  expect(traits('azure', 'gpt-4o-mini-tts').audio).toHaveProperty('voices')
  expect(traits('custom', 'tts-1').audio).toEqual({ speed: { min: 0.25, max: 4 } })
})

test('the limits of an audio model are those of the host that states them', () => {
  expect(traits('openai', 'tts-1').audio).toMatchObject({ inputCharactersMax: 4096 })
  expect(traits('groq', 'canopylabs/orpheus-v1-english').audio).toMatchObject({ inputCharactersMax: 200 })
  expect(traits('deepinfra', 'canopylabs/orpheus-3b-0.1-ft').audio).toEqual({})
  expect(traits('groq', 'whisper-large-v3').audio).toMatchObject({ verboseJson: true, wordTimes: true })
  expect(traits('mistral', 'voxtral-mini-2602').audio).toEqual({
    wordTimes: true,
    segmentSpeakers: true,
    uploadBytesMax: 536_870_912,
  })
})
