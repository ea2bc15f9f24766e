import { expect, test } from 'bun:test'
import { parseOperatorPrices, type OperatorPrices } from './prices/operator-prices.ts'
import { perUnit } from './model-json.ts'
import { pricingRules } from './pricing-rules.ts'

const rulesOf = (modality: 'transcription' | 'speech' | 'language', prices: OperatorPrices) =>
  pricingRules({ modality, price: parseOperatorPrices(prices) }, perUnit)

test('rules without a member in the contract are shown beside the prices, and no member where there are no rules', () => {
  expect(
    rulesOf('transcription', {
      audio_per_hour: '0.36',
      minimum_seconds: 10,
      round_to_seconds: 0.5,
      per_channel: true,
      surcharges: { diarize: { percent: 12.5 }, keyterms: { per_hour: '0.05' }, entities: 'unknown' },
    }),
  ).toEqual({
    minimum_seconds: 10,
    round_to_seconds: 0.5,
    per_channel: true,
    surcharges: {
      diarize: { percent: 12.5, per_second: null },
      keyterms: { percent: null, per_second: '0.000013888888889' },
      entities: { percent: null, per_second: null },
    },
  })
  expect(rulesOf('speech', { utf8_bytes_per_million: '15' })).toEqual({ prompt_unit: 'utf8_byte' })
  expect(rulesOf('speech', { characters_per_million: '15' })).toBeNull()
  expect(
    rulesOf('transcription', { audio_per_hour: '0.36', surcharges: { diarize: { percent: 0 } } }),
  ).toBeNull()
  expect(rulesOf('language', { minimum_seconds: 10 })).toBeNull()
})
