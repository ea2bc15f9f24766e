import type { PriceEntry, TierRule } from '../../catalog/prices/provider-prices.ts'

const transcriptionPage = 'https://docs.mistral.ai/studio/audio/speech-to-text/transcribe-files'
const seen = '2026-10'

/** The prices of Mistral's audio models come from resellers' lists only: $0.000058 and $0.0000667 a second. */
export const mistralPrices: readonly PriceEntry[] = [
  {
    upstream: ['voxtral-mini-transcribe-3-0', 'voxtral-mini-transcribe-*'],
    prices: { audio_per_second: '0.000058' },
    source: transcriptionPage,
    seen,
    isThirdParty: true,
  },
  {
    upstream: ['voxtral-small-transcribe-latest'],
    prices: { audio_per_second: '0.0000667' },
    source: transcriptionPage,
    seen,
    isThirdParty: true,
  },
  {
    upstream: ['voxtral-mini-tts-3-0', 'voxtral-mini-tts-3*'],
    prices: { characters_per_million: '14.3' },
    source: 'https://docs.mistral.ai/studio/audio/text-to-speech/generate-speech',
    seen,
    isThirdParty: true,
  },
  {
    upstream: [
      'voxtral-mini-latest',
      'voxtral-mini-2602',
      'voxtral-mini-transcribe-3-0',
      'voxtral-mini-transcribe-*',
      'voxtral-small-transcribe-latest',
    ],
    prices: { round_to_seconds: 1 },
    source: transcriptionPage,
    seen,
  },
]

/**
 * Half of all tokens of models of chat and embeddings, for which its batches are named.
 * https://docs.mistral.ai/studio-api/batch-processing
 */
export const mistralTiers: readonly TierRule[] = [
  { tier: 'batch', models: /^(?!.*(?:voxtral|ocr|moderation|classifier))/, share: [1n, 2n] },
]
