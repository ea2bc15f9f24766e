import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** From third-party lists only; speakers are said to cost 40 percent more. */
export const fireworksPrices: readonly PriceEntry[] = [
  {
    upstream: ['whisper-v3-turbo'],
    prices: { audio_per_minute: '0.0009' },
    source: 'https://fireworks.ai/blog/audio-summer-updates-and-new-features',
    seen: '2026-11',
    isThirdParty: true,
  },
  {
    upstream: ['whisper-v3', 'whisper-v3-turbo'],
    prices: { surcharges: { diarize: { percent: 40 } } },
    source: 'https://docs.fireworks.ai/api-reference/audio-transcriptions',
    seen: '2026-11',
    isThirdParty: true,
  },
]
