import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { demandOf, endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import { priceWith } from '../../canonical/surcharges.ts'
import { audioFeatures, noUsage, type AudioFeature, type Price, type Usage } from '../../canonical/usage.ts'
import { leastAudio } from '../../catalog/capabilities.ts'
import { parseOperatorPrices } from '../../catalog/prices/operator-prices.ts'
import { holdAmountOf } from './hold-amount.ts'
import { costOfUsage } from './price.ts'
import { missingPrices } from './hold-amount.ts'
import { featuresOf } from './surcharge-cost.ts'

const keyterms = { countMax: 100, charactersMax: 100, wordsMax: null, tokensMax: null, forbidden: '' }
const audio = { ...leastAudio, diarize: true, keyterms }
/** 0.36 USD an hour: 100,000 nanocredits a second. */
const hourly = { audio_per_hour: '0.36' } as const

function heard(seconds: number, channels = 1): Usage {
  return { ...noUsage, audioMilliseconds: seconds * 1000, audioChannels: channels }
}

function costOf(usage: Usage, price: Price, features: readonly AudioFeature[] = []): bigint {
  return costOfUsage(usage, priceWith(price, features)).costNanocredits
}

describe('a surcharge', () => {
  test('in percent is a share of the audio’s cost, and only for calls that asked for the feature', () => {
    const price = parseOperatorPrices({ ...hourly, surcharges: { keyterms: { percent: 20 } } })
    expect(costOf(heard(10), price)).toBe(1_000_000n)
    expect(costOf(heard(10), price, ['keyterms'])).toBe(1_200_000n)
    expect(costOf(heard(10), price, ['diarize', 'entities'])).toBe(1_000_000n)
  })

  test('by the minute or the hour is added for the time that is billed', () => {
    const prices = { ...hourly, minimum_seconds: 20, surcharges: { diarize: { per_minute: '0.0012' } } }
    // In addition 20 µUSD a second, for the minimum of twenty billed seconds.
    expect(costOf(heard(10), parseOperatorPrices(prices), ['diarize'])).toBe(2_000_000n + 400_000n)
    const byHour = { ...prices, surcharges: { diarize: { per_hour: '0.072' } } }
    expect(costOf(heard(10), parseOperatorPrices(byHour), ['diarize'])).toBe(2_400_000n)
  })

  test('adds to others: each percentage is of the audio’s cost, never of another surcharge', () => {
    const price = parseOperatorPrices({
      ...hourly,
      per_request: '0.0005',
      surcharges: { diarize: { percent: 40 }, keyterms: { percent: 20 }, entities: { per_hour: '0.036' } },
    })
    expect(costOf(heard(10), price, audioFeatures)).toBe(1_600_000n + 100_000n + 500_000n)
  })

  test('in percent is taken of tokens where audio is priced by them', () => {
    const price = parseOperatorPrices({
      input_audio_per_million: 6,
      output_per_million: 10,
      surcharges: { keyterms: { percent: 50 } },
    })
    const usage = {
      ...noUsage,
      inputTokens: 100,
      inputAudioTokens: 100,
      outputTokens: 10,
      audioMilliseconds: 10_000,
    }
    expect(costOf(usage, price)).toBe(700_000n)
    const { costNanocredits, promptNanocredits } = costOfUsage(usage, priceWith(price, ['keyterms']))
    expect([costNanocredits, promptNanocredits]).toEqual([1_050_000n, 900_000n])
  })

  test('of unknown amount makes the cost an estimate, or refuses the call if the operator has chosen that', () => {
    const price = parseOperatorPrices({ ...hourly, surcharges: { diarize: 'unknown' } })
    expect(costOfUsage(heard(10), priceWith(price, [])).lacksSurcharge).toBe(false)
    const asked = costOfUsage(heard(10), priceWith(price, ['diarize']))
    expect(asked).toMatchObject({ costNanocredits: 1_000_000n, lacksSurcharge: true, unpricedUnits: [] })
    const endpoint = endpointOf('transcription', price, { audio })
    const demand = demandOf({ audioMilliseconds: 10_000, audioFeatures: ['diarize'] })
    expect(missingPrices(demand, endpoint, true)).toEqual(['telling speakers apart'])
    expect(missingPrices(demand, endpoint)).toEqual([])
    expect(missingPrices(demandOf({ audioMilliseconds: 10_000 }), endpoint, true)).toEqual([])
    const stated = { ...price, ...parseOperatorPrices({ surcharges: { diarize: { per_hour: 0 } } }) }
    expect(missingPrices(demand, endpointOf('transcription', stated, { audio }), true)).toEqual([])
  })

  test('stated by time replaces a known one in percent', () => {
    const known = parseOperatorPrices({ ...hourly, surcharges: { diarize: { percent: 40 } } })
    const price = { ...known, ...parseOperatorPrices({ surcharges: { diarize: { per_hour: '0.036' } } }) }
    expect(costOf(heard(10), price, ['diarize'])).toBe(1_100_000n)
  })

  test('counts features that are sent to the endpoint, not features that the endpoint lacks', () => {
    const demand = demandOf({ audioFeatures: ['diarize', 'keyterms'], askedAt: { entities: ['acme'] } })
    const at = (can: object) =>
      featuresOf(demand, endpointOf('transcription', {}, { audio: { ...leastAudio, ...can } }))
    expect(at({ diarize: true, keyterms })).toEqual(['diarize', 'keyterms'])
    expect(at({ keyterms })).toEqual(['keyterms'])
    const own = endpointOf('transcription', {}, { audio })
    expect(featuresOf({ ...demand, askedAt: { entities: [own.deployment.provider] } }, own)).toEqual([
      'diarize',
      'keyterms',
      'entities',
    ])
    expect(featuresOf(demand, endpointOf('speech', {}, { audio }))).toEqual([])
  })
})

describe('channels', () => {
  test('are billed each where the price says so', () => {
    const price = parseOperatorPrices({ ...hourly, per_channel: true })
    expect([1, 2, 6, 0].map((channels) => costOf(heard(10, channels), price))).toEqual([
      1_000_000n,
      2_000_000n,
      6_000_000n,
      // The number of channels is unknown, so one is billed.
      1_000_000n,
    ])
    expect(costOf(heard(10, 2), parseOperatorPrices(hourly))).toBe(1_000_000n)
  })

  test('are counted with the minimum and the step of each', () => {
    const price = parseOperatorPrices({
      ...hourly,
      per_channel: true,
      minimum_seconds: 15,
      round_to_seconds: 10,
    })
    expect(costOf(heard(2, 2), price)).toBe(4_000_000n)
  })

  test('are held as two when their number is unknown', () => {
    const endpoint = endpointOf('transcription', parseOperatorPrices({ ...hourly, per_channel: true }))
    expect(holdAmountOf(demandOf({ audioMilliseconds: 9_000 }), endpoint, 1)).toBe(2_000_000n)
    expect(holdAmountOf(demandOf({ audioMilliseconds: 9_000, audioChannels: 1 }), endpoint, 1)).toBe(
      1_000_000n,
    )
  })
})

test('an hour costs its price to the nanocredit, whether it is stated by second, minute or hour', () => {
  const hour = heard(3_600)
  expect(costOf(hour, parseOperatorPrices({ audio_per_hour: '0.21' }))).toBe(210_000_000n)
  expect(costOf(hour, parseOperatorPrices({ audio_per_minute: '0.0035' }))).toBe(210_000_000n)
  // This price is below a nanocredit for a second.
  expect(costOf(hour, parseOperatorPrices({ audio_per_second: '0.0000583333333333333' }))).toBe(210_000_000n)
  expect(() => parseOperatorPrices({ audio_per_hour: 1, audio_per_minute: 1 })).toThrow(
    /audio_per_hour|audio_per_minute/,
  )
})

const prices = fc.record({
  audio_per_hour: fc.integer({ min: 0, max: 5_000 }).map((thousandths) => thousandths / 1_000),
  minimum_seconds: fc.integer({ min: 0, max: 60 }),
  round_to_seconds: fc.constantFrom(0, 0.001, 1, 15, 60),
  per_channel: fc.boolean(),
  per_request: fc.constantFrom(0, 0.001),
  surcharges: fc.record({
    diarize: fc.oneof(
      fc.integer({ min: 0, max: 100_000 }).map((points) => ({ percent: points / 1_000 })),
      fc.constantFrom({ per_hour: 0.02 }, { per_minute: 0.0007 }),
    ),
    keyterms: fc.constantFrom({ percent: 20 }, { per_hour: 0.05 }),
    entities: fc.constantFrom({ percent: 0 }, { per_hour: 0.08 }),
  }),
})
const calls = fc.record({
  price: prices.map(parseOperatorPrices),
  milliseconds: fc.integer({ min: 1, max: 36_000_000 }),
  channels: fc.integer({ min: 1, max: 8 }),
  features: fc.subarray([...audioFeatures]),
})

describe('whatever the price', () => {
  test('a hold covers the charge for audio of known length, surcharges included', () => {
    fc.assert(
      fc.property(calls, ({ price, milliseconds, channels, features }) => {
        const endpoint = endpointOf('transcription', price, { audio })
        const demand = demandOf({
          audioMilliseconds: milliseconds,
          audioChannels: channels,
          audioFeatures: features.filter((feature) => feature !== 'entities'),
          askedAt: { entities: features.includes('entities') ? [endpoint.deployment.provider] : [] },
        })
        const usage = { ...noUsage, audioMilliseconds: milliseconds, audioChannels: channels }
        const cost = costOf(usage, price, featuresOf(demand, endpoint))
        expect(cost).toBeGreaterThanOrEqual(0n)
        expect(holdAmountOf(demand, endpoint, 1)).toBeGreaterThanOrEqual(cost)
      }),
    )
  })

  test('a surcharge only ever adds, a longer audio never costs less, and a rounded step costs one price', () => {
    fc.assert(
      fc.property(
        calls,
        fc.integer({ min: 0, max: 60_000 }),
        ({ price, milliseconds, channels, features }, more) => {
          const usage = { ...noUsage, audioMilliseconds: milliseconds, audioChannels: channels }
          const cost = costOf(usage, price, features)
          expect(cost).toBeGreaterThanOrEqual(costOf(usage, price))
          const longer = { ...usage, audioMilliseconds: milliseconds + more }
          expect(costOf(longer, price, features)).toBeGreaterThanOrEqual(cost)
          const step = price.roundToMilliseconds ?? 0
          if (step === 0) return
          const whole = { ...usage, audioMilliseconds: Math.ceil(milliseconds / step) * step }
          expect(costOf(whole, price, features)).toBe(cost)
        },
      ),
    )
  })
})
