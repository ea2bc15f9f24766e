import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/**
 * From third-party lists. Nova-3 costs 0.0058 a minute for several languages at once (`language=multi`), which the
 * gateway never asks for. Channels are billed one by one only when the call asks for separate channels. Speakers: a
 * list of 2026-05 has 0.002 a minute, and later readers of the provider's page say that they are included for recorded
 * audio; the higher price counts until the page itself is read. The prices of terms and entities are unknown. A
 * family's price applies to each of its voices.
 */
export const deepgramPrices: readonly PriceEntry[] = [
  {
    upstream: ['nova-3', 'nova-3-general'],
    prices: {
      audio_per_minute: '0.0048',
      per_channel: 'when_asked',
      surcharges: { diarize: { per_minute: '0.002' }, keyterms: 'unknown', entities: 'unknown' },
    },
    source: 'https://github.com/hail-hq/hail/blob/main/costs/stt.json',
    seen: '2026-11',
    isThirdParty: true,
  },
  {
    upstream: ['aura-2', 'aura-2-thalia-en', 'aura-2-*'],
    prices: { characters_per_million: '30' },
    source: 'https://developers.deepgram.com/docs/text-to-speech',
    seen: '2026-11',
    isThirdParty: true,
  },
  {
    upstream: ['aura', 'aura-*'],
    prices: { characters_per_million: '15' },
    source: 'https://developers.deepgram.com/docs/text-to-speech',
    seen: '2026-11',
    isThirdParty: true,
  },
]
