import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { demandOf, endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import type { SpeechBilled } from '../../canonical/audio.ts'
import type { Price } from '../../canonical/usage.ts'
import { parseOperatorPrices } from '../../catalog/prices/operator-prices.ts'
import { emptyReading } from '../../formats/text/streams/stream-meter.ts'
import { holdAmountOf } from './hold-amount.ts'
import { meter } from './meter.ts'
import { costOfUsage } from './price.ts'
import { speechUsage } from './speech-usage.ts'

const byTokens = parseOperatorPrices({ input_per_million: '0.5', output_audio_per_million: '10' })

/** The cost of speech of a number of characters, with its provider's report. */
function spoken(price: Price, characters: number, billed: SpeechBilled = {}) {
  const endpoint = endpointOf('speech', price)
  const demand = demandOf({ characters, utf8Bytes: characters * 2 })
  const usage = speechUsage(demand, endpoint, billed)
  const reading = { ...emptyReading(), usage, source: 'provider' as const, outputPieces: 1 }
  const metered = meter(reading, { demand, endpoint, ending: 'completed' })
  const { costNanocredits: cost, unpricedUnits } = costOfUsage(metered.usage, price)
  return {
    cost,
    source: metered.source,
    usage: metered.usage,
    unpricedUnits,
    hold: holdAmountOf(demand, endpoint, 1),
  }
}

describe('speech that is priced by tokens', () => {
  test('costs the tokens that its provider counted; output that is not split counts as sound', () => {
    const { cost, source } = spoken(byTokens, 100, { inputTokens: 30, outputTokens: 200 })
    expect([cost, source]).toEqual([15_000n + 2_000_000n, 'provider'])
  })

  test('is estimated within the hold when the provider counts no tokens', () => {
    const { cost, source, hold, unpricedUnits } = spoken(byTokens, 100)
    // The estimate is a third of the characters as input tokens and one and a half times as output tokens.
    expect([cost, source, unpricedUnits]).toEqual([17_000n + 1_500_000n, 'estimated', []])
    expect(hold).toBeGreaterThan(cost)
  })

  test.each([
    ['of none', { inputTokens: 30, outputTokens: 0 }],
    ['of nothing read', { inputTokens: 0, outputTokens: 200 }],
    ['of an hour', { inputTokens: 30, outputTokens: 90_000 }],
  ])('is estimated when the provider’s counts are %s', (_, billed) => {
    expect(spoken(byTokens, 100, billed)).toMatchObject({ source: 'estimated', cost: 1_517_000n })
  })
})

test('speech that is priced by time costs the time that its provider measured, else an estimate', () => {
  const byTime = parseOperatorPrices({ audio_per_minute: '0.06' })
  expect(spoken(byTime, 120, { audioMilliseconds: 7_500 })).toMatchObject({
    cost: 7_500_000n,
    source: 'provider',
  })
  // The estimate is twelve characters a second.
  expect(spoken(byTime, 120)).toMatchObject({ cost: 10_000_000n, source: 'estimated', unpricedUnits: [] })
})

test('speech without any price is counted, and is not free', () => {
  expect(spoken({}, 120)).toMatchObject({ source: 'provider', cost: 0n, unpricedUnits: ['character'] })
  expect(spoken({}, 120).usage).toMatchObject({ characters: 120, utf8Bytes: 240 })
})

test('a hold covers speech that the provider does not count, by every unit', () => {
  const prices = fc.constantFrom(
    parseOperatorPrices({ characters_per_million: '15', per_request: '0.001' }),
    parseOperatorPrices({ utf8_bytes_per_million: '15' }),
    parseOperatorPrices({ audio_per_hour: '0.9', minimum_seconds: 3, round_to_seconds: 2 }),
    byTokens,
  )
  fc.assert(
    fc.property(prices, fc.integer({ min: 1, max: 40_000 }), (price, characters) => {
      const { cost, hold } = spoken(price, characters)
      expect(cost).toBeGreaterThan(0n)
      expect(hold).toBeGreaterThanOrEqual(cost)
    }),
  )
})
