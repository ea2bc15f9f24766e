import type { PriceEntry, TierRule } from '../../catalog/prices/provider-prices.ts'

const speechPage = 'https://developers.openai.com/api/docs/guides/text-to-speech'
const seen = '2026-10'

/** Prices that the package lacks or has wrong. */
export const openAiPrices: readonly PriceEntry[] = [
  {
    upstream: ['gpt-transcribe'],
    prices: { audio_per_minute: '0.0045' },
    source: 'https://developers.openai.com/api/docs/models/gpt-transcribe',
    seen,
  },
  { upstream: ['tts-1'], prices: { characters_per_million: '15' }, source: speechPage, seen },
  { upstream: ['tts-1-hd'], prices: { characters_per_million: '30' }, source: speechPage, seen },
  // The package states the output as text; this model outputs audio.
  {
    upstream: ['gpt-4o-mini-tts', 'gpt-4o-mini-tts-*'],
    prices: { input_per_million: '0.6', output_audio_per_million: '12' },
    source: speechPage,
    seen,
  },
  {
    upstream: ['whisper-1'],
    prices: { round_to_seconds: 1 },
    source:
      'https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create',
    seen,
  },
]

/**
 * Flex costs half, as a batch does; only these models have it.
 * https://developers.openai.com/api/docs/guides/flex-processing
 */
export const openAiTiers: readonly TierRule[] = [
  {
    tier: 'flex',
    models: /^(?:gpt-5(?:\.[12])?(?:-mini|-nano)?|o3|o4-mini)(?:-\d{4}-\d\d-\d\d)?$/,
    share: [1n, 2n],
  },
  // The guide states half for all models that take batches, and no list of them by name was seen:
  // https://platform.openai.com/docs/guides/batch
  {
    tier: 'batch',
    models:
      /^(?:gpt-(?:3\.5-turbo|4-turbo|4o(?:-mini)?|4\.1(?:-mini|-nano)?|[56](?:\.\d+)?(?:-(?:mini|nano|pro|luna|sol|luna-pro|sol-pro))?)|o[134](?:-mini|-pro)?|text-embedding-(?:3-small|3-large|ada-002))(?:-\d{4}-\d\d-\d\d)?$/,
    share: [1n, 2n],
  },
]
