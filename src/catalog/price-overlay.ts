import type { Price } from '../canonical/usage.ts'
import { parseOperatorPrices } from './operator-prices.ts'
import type { OperatorPrices } from './operator-prices.ts'

/** Prices that the package lacks or has wrong, each with where and when it was found. */
interface OverlayEntry {
  /** The provider's id in the price package. */
  provider: string
  /** The name the provider knows. */
  upstream: string
  prices: OperatorPrices
  source: string
  /** When the source was read, `YYYY-MM`. */
  seen: string
}

const openAiModel = 'https://developers.openai.com/api/docs/models/gpt-transcribe'
const openAiSpeech = 'https://developers.openai.com/api/docs/guides/text-to-speech'
const read = '2026-10'

const entries: readonly OverlayEntry[] = [
  {
    provider: 'openai',
    upstream: 'gpt-transcribe',
    prices: { audio_per_minute: '0.0045' },
    source: openAiModel,
    seen: read,
  },
  {
    provider: 'openai',
    upstream: 'tts-1',
    prices: { characters_per_million: '15' },
    source: openAiSpeech,
    seen: read,
  },
  {
    provider: 'openai',
    upstream: 'tts-1-hd',
    prices: { characters_per_million: '30' },
    source: openAiSpeech,
    seen: read,
  },
  // The package states the output as text; what this model puts out is audio.
  {
    provider: 'openai',
    upstream: 'gpt-4o-mini-tts',
    prices: { input_per_million: '0.6', output_audio_per_million: '12' },
    source: openAiSpeech,
    seen: read,
  },
  // Mistral's speech models are known from resellers' lists only: $0.000058 and $0.0000667 a second.
  {
    provider: 'mistral',
    upstream: 'voxtral-mini-transcribe-3-0',
    prices: { audio_per_minute: '0.00348' },
    source: 'https://docs.mistral.ai/studio/audio/speech-to-text/transcribe-files',
    seen: read,
  },
  {
    provider: 'mistral',
    upstream: 'voxtral-small-transcribe-latest',
    prices: { audio_per_minute: '0.004002' },
    source: 'https://docs.mistral.ai/studio/audio/speech-to-text/transcribe-files',
    seen: read,
  },
  {
    provider: 'mistral',
    upstream: 'voxtral-mini-tts-3-0',
    prices: { characters_per_million: '14.3' },
    source: 'https://docs.mistral.ai/studio/audio/text-to-speech/generate-speech',
    seen: read,
  },
]

/** How providers count the time that they sell, by the models that they sell by time; the price itself is known otherwise. */
interface TimeRuleEntry extends Omit<OverlayEntry, 'upstream' | 'prices'> {
  upstream: readonly string[]
  rules: Pick<OperatorPrices, 'minimum_seconds' | 'round_to_seconds'>
}

const timeRules: readonly TimeRuleEntry[] = [
  {
    provider: 'openai',
    upstream: ['whisper-1'],
    rules: { round_to_seconds: 1 },
    source:
      'https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create',
    seen: read,
  },
  {
    provider: 'groq',
    upstream: ['whisper-large-v3', 'whisper-large-v3-turbo'],
    rules: { minimum_seconds: 10, round_to_seconds: 1 },
    source: 'https://console.groq.com/docs/speech-to-text',
    seen: read,
  },
  {
    provider: 'mistral',
    upstream: [
      'voxtral-mini-latest',
      'voxtral-mini-2602',
      'voxtral-mini-transcribe-3-0',
      'voxtral-small-transcribe-latest',
    ],
    rules: { round_to_seconds: 1 },
    source: 'https://docs.mistral.ai/studio/audio/speech-to-text/transcribe-files',
    seen: read,
  },
]

const overlay = new Map<string, Map<string, Price>>()
for (const entry of entries) {
  const models = overlay.get(entry.provider) ?? new Map<string, Price>()
  models.set(entry.upstream, parseOperatorPrices(entry.prices))
  overlay.set(entry.provider, models)
}

const rulesByModel = new Map<string, Price>()
for (const { provider, upstream, rules } of timeRules)
  for (const name of upstream) rulesByModel.set(`${provider}/${name}`, parseOperatorPrices(rules))

/** Our own price of a model, with how its time is counted, or null; its members replace the package's. */
export function overlayPrice(providerId: string, upstreamModel: string): Price | null {
  const price = overlay.get(providerId)?.get(upstreamModel)
  const rules = rulesByModel.get(`${providerId}/${upstreamModel}`)
  return price === undefined && rules === undefined ? null : { ...price, ...rules }
}

/** Names of the models that only the overlay knows. */
export function overlayNames(providerId: string): string[] {
  return [...(overlay.get(providerId)?.keys() ?? [])]
}
