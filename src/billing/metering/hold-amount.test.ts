import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { demandOf, endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import { noUsage } from '../../canonical/usage.ts'
import { holdAmountOf, largestOutput } from './hold-amount.ts'
import { costOfUsage } from './price.ts'

const million = 1_000_000n
const price = { inputToken: 2n * million, outputToken: 10n * million, request: 3n * million }

test('a hold is the estimated prompt, the output limit times the choices, and the fee', () => {
  const demand = demandOf({ inputTokens: 100, outputTokensMax: 50, choices: 2 })
  expect(holdAmountOf(demand, endpointOf('language', price), 1)).toBe(200n + 1_000n + 3n)
  expect(holdAmountOf(demand, endpointOf('language', price), 1.25)).toBe(250n + 1_000n + 3n)
})

test('audio in a prompt is held at its own price, corrected like the rest', () => {
  const spoken = { ...price, inputAudioToken: 32n * million }
  const demand = demandOf({ inputTokens: 100, audioInputTokens: 60, outputTokensMax: 0 })
  expect(holdAmountOf(demand, endpointOf('language', spoken), 1)).toBe(80n + 1_920n + 3n)
  expect(holdAmountOf(demand, endpointOf('language', spoken), 1.5)).toBe(120n + 2_880n + 3n)
  expect(holdAmountOf(demand, endpointOf('language', price), 1)).toBe(200n + 3n)
  expect(largestOutput(demand, endpointOf('language', spoken), { available: 2_013n, ratio: 1 })).toBe(1)
})

test('a prompt above the bound of a longer price is held at that price, input and output', () => {
  const endpoint = endpointOf('language', price, {
    longPrices: [
      { inputTokensAbove: 1_000, price: { inputToken: 4n * million, outputToken: 15n * million } },
      { inputTokensAbove: 2_000, price: { inputToken: 8n * million, outputToken: 30n * million } },
    ],
  })
  const holdOf = (inputTokens: number) =>
    holdAmountOf(demandOf({ inputTokens, outputTokensMax: 10 }), endpoint, 1)
  expect(holdOf(1_000)).toBe(2_000n + 100n + 3n)
  expect(holdOf(1_001)).toBe(4_004n + 150n)
  expect(holdOf(2_001)).toBe(16_008n + 300n)
  const demand = demandOf({ inputTokens: 1_001, outputTokensMax: null })
  expect(largestOutput(demand, endpoint, { available: 4_004n + 150n, ratio: 1 })).toBe(10)
})

test('the output limit is the caller’s, at most the endpoint’s, else the endpoint’s, else what the context leaves', () => {
  const outputOf = (outputTokensMax: number | null, endpoint: Parameters<typeof endpointOf>[2]): bigint =>
    holdAmountOf(
      demandOf({ inputTokens: 1_000, outputTokensMax }),
      endpointOf('language', { outputToken: million }, endpoint),
      1,
    )
  expect(outputOf(700, { outputTokensMax: 500 })).toBe(500n)
  expect(outputOf(null, { outputTokensMax: 500 })).toBe(500n)
  expect(outputOf(null, { contextLength: 4_000 })).toBe(3_000n)
  expect(outputOf(null, {})).toBe(16_384n)
  // Anthropic's format requires a limit, so the gateway states one, and an answer may be as long.
  expect(outputOf(null, { outputTokensStated: 64_000 })).toBe(64_000n)
  expect(outputOf(null, { outputTokensStated: 64_000, contextLength: 50_000 })).toBe(49_000n)
  expect(outputOf(null, { outputTokensStated: 8_192 })).toBe(16_384n)
  expect(outputOf(700, { outputTokensStated: 64_000 })).toBe(700n)
})

test('for a limit that the model cannot reach, the model’s own limit is held, however many choices', () => {
  const endpoint = (contextLength: number | null) =>
    endpointOf('language', { outputToken: million }, { contextLength })
  const demand = demandOf({ outputTokensMax: Number.MAX_SAFE_INTEGER, choices: 128 })
  expect(holdAmountOf(demand, endpoint(4_000), 1)).toBe(512_000n)
  expect(holdAmountOf(demand, endpoint(null), 1)).toBe(20_000_000n * 128n)
})

test('input that may be billed as a cache write is held at the dearest price', () => {
  const endpoint = endpointOf('language', {
    inputToken: million,
    cacheWriteToken: 2n * million,
    outputToken: 0n,
  })
  expect(holdAmountOf(demandOf({ inputTokens: 100 }), endpoint, 1)).toBe(200n)
  const forAnHour = endpointOf('language', { ...endpoint.price, cacheWriteHourToken: 3n * million })
  expect(holdAmountOf(demandOf({ inputTokens: 100 }), forAnHour, 1)).toBe(300n)
})

test('audio is held by its own length in whole seconds and one more, never by bytes, and by an hour when the length is unknown', () => {
  const endpoint = endpointOf('transcription', { audioHour: 3_600_000n * million })
  expect(holdAmountOf(demandOf({ audioMilliseconds: 61_500 }), endpoint, 1)).toBe(63_000n)
  expect(holdAmountOf(demandOf({ audioMilliseconds: null }), endpoint, 1)).toBe(3_601_000n)
  expect(holdAmountOf(demandOf({ characters: 40 }), endpointOf('speech', { character: million }), 1)).toBe(
    40n,
  )
})

test('audio is held as its price counts time', () => {
  const counted = { audioHour: 3_600_000n * million, minimumMilliseconds: 10_000, roundToMilliseconds: 1_000 }
  const holdOf = (audioMilliseconds: number) =>
    holdAmountOf(demandOf({ audioMilliseconds }), endpointOf('transcription', counted), 1)
  expect([holdOf(400), holdOf(11_400)]).toEqual([10_000n, 13_000n])
})

test('usage within a call’s demand never costs more than its hold', () => {
  const tokens = fc.integer({ min: 0, max: 100_000 })
  const amount = fc.bigInt({ min: 0n, max: 50_000_000n })
  const call = fc.record({ input: tokens, cached: tokens, written: tokens, hour: tokens, output: tokens })
  const prices = fc.record({
    inputToken: amount,
    cachedInputToken: amount,
    cacheWriteToken: amount,
    cacheWriteHourToken: amount,
    outputToken: amount,
  })
  fc.assert(
    fc.property(call, prices, ({ input, cached, written, hour, output }, stated) => {
      const endpoint = endpointOf('language', stated)
      const demand = demandOf({ inputTokens: input, outputTokensMax: output })
      const used = {
        ...noUsage,
        inputTokens: input,
        cachedInputTokens: Math.min(cached, input),
        cacheWriteTokens: written,
        cacheWriteHourTokens: hour,
        outputTokens: output,
      }
      expect(costOfUsage(used, stated).costNanocredits <= holdAmountOf(demand, endpoint, 1)).toBe(true)
    }),
  )
})

test('the largest output that fits does fit, and one token more does not', () => {
  const endpoint = endpointOf('language', price, { outputTokensMax: 1_000_000 })
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 5_000_000n }),
      fc.integer({ min: 1, max: 4 }),
      (available, choices) => {
        const demand = demandOf({ inputTokens: 100, choices })
        const largest = largestOutput(demand, endpoint, { available, ratio: 1 })
        if (largest === 0) return
        expect(holdAmountOf({ ...demand, outputTokensMax: largest }, endpoint, 1) <= available).toBe(true)
        if (largest === 1_000_000) return
        expect(holdAmountOf({ ...demand, outputTokensMax: largest + 1 }, endpoint, 1) > available).toBe(true)
      },
    ),
  )
  expect(largestOutput(demandOf({ inputTokens: 100 }), endpoint, { available: 203n, ratio: 1 })).toBe(0)
})
