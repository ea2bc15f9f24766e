import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { demandOf, endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import { noUsage, type TimeRules } from '../../canonical/usage.ts'
import { costOfUsage } from './price.ts'
import { missingPrices } from './hold-amount.ts'

const million = 1_000_000n

describe('a charge', () => {
  test('prices every part of the input and output once', () => {
    const usage = {
      ...noUsage,
      inputTokens: 1_000,
      cachedInputTokens: 400,
      cacheWriteTokens: 100,
      outputTokens: 50,
      reasoningTokens: 30,
    }
    const price = {
      inputToken: 10n * million,
      cachedInputToken: 1n * million,
      cacheWriteToken: 12n * million,
      outputToken: 40n * million,
      request: 7n * million,
    }
    expect(costOfUsage(usage, price)).toEqual({
      costNanocredits: 500n * 10n + 400n + 100n * 12n + 50n * 40n + 7n,
      promptNanocredits: 500n * 10n + 400n + 100n * 12n + 7n,
      completionNanocredits: 50n * 40n,
      unpricedUnits: [],
      lacksSurcharge: false,
    })
  })

  test('prices cache writes for an hour separately, or like other writes when they have no price of their own', () => {
    const usage = { ...noUsage, inputTokens: 100, cacheWriteTokens: 60, cacheWriteHourTokens: 45 }
    const price = { inputToken: 4n * million, cacheWriteToken: 5n * million }
    expect(costOfUsage(usage, { ...price, cacheWriteHourToken: 8n * million }).costNanocredits).toBe(
      40n * 4n + 15n * 5n + 45n * 8n,
    )
    expect(costOfUsage(usage, price).costNanocredits).toBe(40n * 4n + 60n * 5n)
    expect(costOfUsage(usage, { inputToken: 4n * million })).toMatchObject({
      costNanocredits: 400n,
      unpricedUnits: [],
    })
  })

  test('counts cached and written input at the input price where they have none of their own', () => {
    const usage = { ...noUsage, inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 40 }
    expect(costOfUsage(usage, { inputToken: 5n * million })).toMatchObject({
      costNanocredits: 500n,
      unpricedUnits: [],
    })
  })

  test('names units that were used and have no price, and prices the rest', () => {
    const usage = { ...noUsage, inputTokens: 10, outputTokens: 10, outputAudioTokens: 4 }
    expect(costOfUsage(usage, { inputToken: million, outputToken: million })).toMatchObject({
      costNanocredits: 16n,
      unpricedUnits: ['outputAudioToken'],
    })
    expect(costOfUsage({ ...noUsage, audioMilliseconds: 5 }, {}).unpricedUnits).toEqual(['audioHour'])
  })

  test('of audio input without its own price is that of text, and is marked as possibly too low', () => {
    const usage = { ...noUsage, inputTokens: 384, inputAudioTokens: 375, outputTokens: 10 }
    expect(costOfUsage(usage, { inputToken: million, outputToken: million })).toMatchObject({
      costNanocredits: 394n,
      unpricedUnits: ['inputAudioToken'],
    })
    const stated = { inputToken: million, inputAudioToken: 9n * million, outputToken: million }
    expect(costOfUsage(usage, stated)).toMatchObject({
      costNanocredits: 9n + 375n * 9n + 10n,
      unpricedUnits: [],
    })
  })

  test('a stated price of zero is a price', () => {
    expect(costOfUsage({ ...noUsage, inputTokens: 10 }, { inputToken: 0n }).unpricedUnits).toEqual([])
  })

  test('audio is priced by time or by tokens, as the endpoint has it, and the other unit is not reported as unpriced', () => {
    const usage = { ...noUsage, inputTokens: 50, outputTokens: 9, audioMilliseconds: 1_000 }
    expect(costOfUsage(usage, { audioHour: 3_600_000n * million })).toMatchObject({
      costNanocredits: 1_000n,
      unpricedUnits: [],
    })
    const byTokens = { inputToken: million, outputToken: million }
    expect(costOfUsage(usage, byTokens)).toMatchObject({ costNanocredits: 59n, unpricedUnits: [] })
  })

  test('counts time by the rules of its price: a minimum, and whole steps', () => {
    const costOf = (audioMilliseconds: number, rules: TimeRules) =>
      costOfUsage({ ...noUsage, audioMilliseconds }, { audioHour: 3_600_000n * million, ...rules })
        .costNanocredits
    const steps = { roundToMilliseconds: 1_000 }
    expect([1, 400, 1_000, 1_001].map((each) => costOf(each, steps))).toEqual([
      1_000n,
      1_000n,
      1_000n,
      2_000n,
    ])
    const both = { minimumMilliseconds: 9_500, ...steps }
    expect([400, 10_400].map((each) => costOf(each, both))).toEqual([10_000n, 11_000n])
    const undone = { minimumMilliseconds: 0, roundToMilliseconds: 0 }
    expect([costOf(0, both), costOf(400, undone), costOf(400, {})]).toEqual([0n, 400n, 400n])
  })

  test('is rounded once, so that its two parts always add up to it', () => {
    const count = fc.integer({ min: 0, max: 3_000_000 })
    const price = fc.bigInt({ min: 0n, max: 10_000_000n })
    fc.assert(
      fc.property(count, count, price, price, (inputTokens, outputTokens, inputToken, outputToken) => {
        const charge = costOfUsage({ ...noUsage, inputTokens, outputTokens }, { inputToken, outputToken })
        const exact = BigInt(inputTokens) * inputToken + BigInt(outputTokens) * outputToken
        expect(charge.promptNanocredits + charge.completionNanocredits).toBe(charge.costNanocredits)
        const error = charge.costNanocredits * million - exact
        expect(error <= million / 2n && error >= -million / 2n).toBe(true)
      }),
    )
  })
})

describe('missing prices', () => {
  test('are named in words per modality', () => {
    expect(missingPrices(demandOf(), endpointOf('language', { inputToken: 1n }))).toEqual(['output tokens'])
    const spoken = demandOf({ audioInputTokens: 5, inputTokens: 9 })
    const ofText = { inputToken: 1n, outputToken: 1n }
    expect(missingPrices(spoken, endpointOf('language', ofText))).toEqual(['input audio tokens'])
    expect(missingPrices(spoken, endpointOf('language', { ...ofText, inputAudioToken: 0n }))).toEqual([])
    expect(missingPrices(demandOf(), endpointOf('embedding', {}))).toEqual(['input tokens'])
    expect(missingPrices(demandOf(), endpointOf('transcription', {}))).toEqual(['audio time'])
    expect(missingPrices(demandOf(), endpointOf('speech', {}))).toEqual(['characters'])
  })

  test('are not reported where all units of one basis have prices', () => {
    expect(
      missingPrices(demandOf(), endpointOf('transcription', { inputAudioToken: 1n, outputToken: 1n })),
    ).toEqual([])
    expect(missingPrices(demandOf(), endpointOf('speech', { inputToken: 1n, outputAudioToken: 1n }))).toEqual(
      [],
    )
    expect(missingPrices(demandOf(), endpointOf('language', { inputToken: 0n, outputToken: 0n }))).toEqual([])
  })
})
