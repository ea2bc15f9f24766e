import type { PriceEntry, TierRule } from '../../catalog/prices/provider-prices.ts'

/** Speech: the package states the output as text, or lacks the model; these models output sound. */
export const studioPrices: readonly PriceEntry[] = [
  {
    upstream: ['gemini-2.5-flash-preview-tts', 'gemini-2.5-flash-tts'],
    prices: { input_per_million: '0.5', output_audio_per_million: '10' },
    source: 'https://ai.google.dev/gemini-api/docs/pricing, as the price package has it',
    seen: '2026-10',
  },
  {
    upstream: ['gemini-2.5-pro-preview-tts', 'gemini-2.5-pro-tts'],
    prices: { input_per_million: '1', output_audio_per_million: '20' },
    source: 'https://ai.google.dev/gemini-api/docs/pricing, as the price package has it',
    seen: '2026-10',
  },
  {
    upstream: ['gemini-3.8-flash-lite-tts'],
    prices: { input_per_million: '0.5', output_audio_per_million: '6' },
    source: 'https://vercel.com/ai-gateway/models/gemini-3.8-flash-lite-tts',
    seen: '2026-11',
    isThirdParty: true,
  },
  {
    upstream: ['gemini-3.8-flash-tts'],
    prices: { input_per_million: '0.5', output_audio_per_million: '9' },
    source: 'https://github.com/BerriAI/litellm/discussions/42776',
    seen: '2026-11',
    isThirdParty: true,
  },
  // The price doubles from that day on.
  {
    upstream: ['gemini-3.8-flash-tts'],
    prices: { input_per_million: '1', output_audio_per_million: '18' },
    source: 'https://github.com/BerriAI/litellm/discussions/42776',
    seen: '2026-11',
    isThirdParty: true,
    from: '2027-01-01',
  },
]

/**
 * Flex costs half of everything that is billed by tokens. The models are those that the page listed in 2026-04, and
 * later ones that its examples ask for flex.
 * https://ai.google.dev/gemini-api/docs/flex-inference
 */
export const studioTiers: readonly TierRule[] = [
  // Half of the usual price for all models that take batches: https://ai.google.dev/gemini-api/docs/batch-api. The others
  // make sound or pictures, or are open models.
  {
    tier: 'batch',
    models: /^(?:models\/)?gemini-(?!.*(?:tts|image|live|native-audio|embedding|robotics|computer-use))/,
    share: [1n, 2n],
  },
  {
    tier: 'flex',
    models:
      /^(?:models\/)?gemini-(?:2\.5-(?:pro|flash|flash-lite)|3-flash-preview|3\.1-(?:pro|flash-lite)(?:-preview)?|3\.[5-8]-flash)$/,
    share: [1n, 2n],
  },
]
