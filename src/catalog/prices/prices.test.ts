import { expect, test } from 'bun:test'
import { parseOperatorPrices, withStated } from './operator-prices.ts'
import { pricePackage } from './price-package.gen.ts'
import { tableFacts } from './price-table.ts'
import { createProviderPrices } from './provider-prices.ts'

function outputOn(day: string) {
  return tableFacts({ table: pricePackage, providerId: 'openai' }, 'gpt-5.6-luna', Date.parse(day))?.price
    .outputToken
}

test('a price that begins on a day applies from that day on', () => {
  expect(outputOn('2026-07-29')).toBe(6_000_000_000n)
  expect(outputOn('2026-07-30')).toBe(1_200_000_000n)
})

test('a dated name has the price of its model, and a price by the hour of the day is the dearest', () => {
  expect(
    tableFacts({ table: pricePackage, providerId: 'openai' }, 'gpt-4o-2024-11-20', 0)?.price.inputToken,
  ).toBe(2_500_000_000n)
  expect(
    tableFacts({ table: pricePackage, providerId: 'deepseek' }, 'deepseek-chat', 0)?.price.outputToken,
  ).toBe(1_100_000_000n)
  expect(tableFacts({ table: pricePackage, providerId: 'openai' }, 'no-such-model', 0)).toBeNull()
  expect(tableFacts({ table: pricePackage, providerId: 'no-such-provider' }, 'gpt-4o', 0)).toBeNull()
})

// The maker's price list: prompts of more than 272,000 tokens cost twice the input and one and a half times the output.
test('long prompts have a separate price where the package has one', () => {
  const facts = tableFacts({ table: pricePackage, providerId: 'openai' }, 'gpt-5.4', 0)
  expect(facts?.price).toMatchObject({ inputToken: 2_500_000_000n, outputToken: 15_000_000_000n })
  expect(facts?.longPrices).toEqual([
    {
      inputTokensAbove: 271_999,
      price: { inputToken: 5_000_000_000n, cachedInputToken: 500_000_000n, outputToken: 22_500_000_000n },
    },
  ])
  expect(tableFacts({ table: pricePackage, providerId: 'openai' }, 'gpt-4o', 0)?.longPrices).toEqual([])
})

// The maker's price list: a write for an hour costs twice the input, also above 200,000 tokens.
test('cache writes for an hour have a separate price where the package has one', () => {
  const facts = tableFacts({ table: pricePackage, providerId: 'anthropic' }, 'claude-sonnet-4-5', 0)
  expect(facts?.price).toMatchObject({ inputToken: 3_000_000_000n, cacheWriteHourToken: 6_000_000_000n })
  expect(facts?.longPrices[0]?.price.cacheWriteHourToken).toBe(12_000_000_000n)
  expect(
    tableFacts({ table: pricePackage, providerId: 'openai' }, 'gpt-5.6-sol', 0)?.price,
  ).not.toHaveProperty('cacheWriteHourToken')
})

test('written prices become nanocredits per million units', () => {
  expect(
    parseOperatorPrices({
      input_per_million: '0.15',
      audio_per_minute: '0.006',
      audio_per_hour: undefined,
      per_request: 0.01,
    }),
  ).toEqual({ inputToken: 150_000_000n, audioHour: 360_000_000_000_000n, request: 10_000_000_000_000n })
  expect(parseOperatorPrices({ audio_per_hour: '0.111' })).toEqual({ audioHour: 111_000_000_000_000n })
  expect(() => parseOperatorPrices({ input_per_million: 'free' })).toThrow(RangeError)
})

test('rules of counting time are written in seconds, and zero removes a known rule', () => {
  expect(
    parseOperatorPrices({ audio_per_minute: '0.006', minimum_seconds: 10, round_to_seconds: 0.5 }),
  ).toEqual({ audioHour: 360_000_000_000_000n, minimumMilliseconds: 10_000, roundToMilliseconds: 500 })
  expect(parseOperatorPrices({ minimum_seconds: 0 })).toEqual({ minimumMilliseconds: 0 })
})

test('all entries of a provider that match a model apply together, and a model with a rule of counting but no price is not offered', () => {
  const from = { source: 'https://example.test', seen: '2026-10' }
  const prices = createProviderPrices([
    { ...from, upstream: ['speech'], prices: { characters_per_million: '15' } },
    { ...from, upstream: ['hearing'], prices: { audio_per_minute: '0.00348' } },
    { ...from, upstream: ['hearing', 'listening'], prices: { minimum_seconds: 10, round_to_seconds: 1 } },
  ])
  const counting = { minimumMilliseconds: 10_000, roundToMilliseconds: 1_000 }
  expect(prices.priceOf('hearing', 0)).toEqual({ audioHour: 208_800_000_000_000n, ...counting })
  expect(prices.priceOf('listening', 0)).toEqual(counting)
  expect(prices.priceOf('gpt-4o', 0)).toBeNull()
  expect(prices.names).toEqual(['speech', 'hearing'])
})

test('an entry prices a family by the beginning of its names, and one with a day counts from that day', () => {
  const from = { source: 'https://example.test', seen: '2026-11', isThirdParty: true as const }
  const prices = createProviderPrices([
    { ...from, upstream: ['voice-2', 'voice-2-*'], prices: { characters_per_million: '30' } },
    { ...from, upstream: ['voice-2-old'], prices: { characters_per_million: '15' } },
    { ...from, upstream: ['spoken'], prices: { output_audio_per_million: '9', input_per_million: '0.5' } },
    { ...from, upstream: ['spoken'], prices: { output_audio_per_million: '18' }, from: '2027-01-01' },
  ])
  const names = ['voice-2', 'voice-2-anna-en', 'voice-2-old', 'voice-20']
  expect(names.map((name) => prices.priceOf(name, 0)?.character ?? null)).toEqual([
    30_000_000_000n,
    30_000_000_000n,
    15_000_000_000n,
    null,
  ])
  expect(prices.names).toEqual(['voice-2', 'voice-2-old', 'spoken'])
  const spokenAt = (time: string) => prices.priceOf('spoken', Date.parse(time))
  expect(spokenAt('2026-12-31T23:59:59Z')).toEqual({
    inputToken: 500_000_000n,
    outputAudioToken: 9_000_000_000n,
  })
  expect(spokenAt('2027-01-01T00:00:00Z')).toEqual({
    inputToken: 500_000_000n,
    outputAudioToken: 18_000_000_000n,
  })
})

test('surcharges are written by feature, in percent or by time, and never above ten times the audio', () => {
  expect(
    parseOperatorPrices({
      utf8_bytes_per_million: '15',
      per_channel: true,
      surcharges: { diarize: { percent: '12.5' }, keyterms: { per_minute: '0.0013' }, entities: 'unknown' },
    }),
  ).toEqual({
    utf8Byte: 15_000_000_000n,
    isPerChannel: true,
    diarizeMillionths: 125_000,
    diarizedHour: 0n,
    keytermHour: 78_000_000_000_000n,
    keytermsMillionths: 0,
    surcharged: ['entities'],
  })
  expect(() => parseOperatorPrices({ surcharges: { diarize: { percent: '1.00001' } } })).toThrow(
    /diarize\.percent/,
  )
  expect(() => parseOperatorPrices({ surcharges: { diarize: { per_hour: -1 } } })).toThrow(
    /diarize\.per_hour/,
  )
})

test('a price of characters takes the place of one of bytes, and the other way round', () => {
  const characters = parseOperatorPrices({ characters_per_million: 1 })
  const bytes = parseOperatorPrices({ utf8_bytes_per_million: 1, per_request: 1 })
  expect(Object.keys(withStated(bytes, characters)).toSorted()).toEqual(['character', 'request'])
  expect(Object.keys(withStated(characters, bytes)).toSorted()).toEqual(['request', 'utf8Byte'])
  expect(withStated(bytes, { request: 0n })).toEqual({ ...bytes, request: 0n })
})
