import type { PriceEntry } from '../../catalog/price-overlay.ts'

/** Known from other people's lists only; speakers cost 40 percent more, as is commonly said. */
export const fireworksPrices: readonly PriceEntry[] = [
  {
    upstream: ['whisper-v3-turbo'],
    prices: { audio_per_minute: '0.0009' },
    source: 'https://fireworks.ai/blog/audio-summer-updates-and-new-features',
    seen: '2026-11',
  },
]
