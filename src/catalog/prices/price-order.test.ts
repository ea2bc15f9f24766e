import { expect, test } from 'bun:test'
import { priceAt } from '../../canonical/endpoint.ts'
import { modalityNames, modalityRow, type Modality } from '../../canonical/operation.ts'
import { priceUnits } from '../../canonical/usage.ts'
import type { OperatorPrices } from './operator-prices.ts'
import { priceInOrder } from './price-order.ts'

/** The price of a model of a server that charges nothing, with the operator's prices for it. */
function ownServer(modality: Modality, model: OperatorPrices) {
  const sources = { table: null, provider: null, everywhere: undefined, model }
  return priceInOrder(sources, { modality, upstream: 'own', isFree: true }).price
}

test('a self-hosted server is free in every unit until the operator writes a price', () => {
  for (const modality of modalityNames)
    for (const written of [{}, { minimum_seconds: 10 }, { per_request: '1' }]) {
      const price = ownServer(modality, written)
      for (const unit of modalityRow(modality).pricedBy.flat()) expect(price[unit]).toBe(0n)
    }
})

test('a written price makes its unit the billed one, and no other unit of the kind is free beside it', () => {
  const billed = (modality: Modality, written: OperatorPrices) => {
    const price = ownServer(modality, written)
    return Object.fromEntries(
      priceUnits
        .filter((unit) => unit !== 'request' && price[unit] !== undefined)
        .map((unit) => [unit, price[unit]]),
    )
  }
  const two = 2_000_000_000n
  expect(billed('rerank', { search_units_per_thousand: '2' })).toEqual({ searchUnit: two * 1_000n })
  expect(billed('rerank', { input_per_million: '2' })).toEqual({ inputToken: two, inputAudioToken: two })
  expect(billed('rerank', { input_per_million: '2', search_units_per_thousand: '2' })).toEqual({
    inputToken: two,
    searchUnit: two * 1_000n,
  })
  expect(billed('speech', { characters_per_million: '2' })).toEqual({ character: two })
  expect(billed('speech', { utf8_bytes_per_million: '2' })).toEqual({ utf8Byte: two })
  expect(billed('speech', { audio_per_hour: '2' })).toEqual({ audioHour: two * 1_000_000n })
  expect(billed('speech', { output_per_million: '2' })).toMatchObject({
    inputToken: 0n,
    outputAudioToken: two,
  })
  expect(billed('transcription', { audio_per_second: '2' })).toEqual({ audioHour: two * 3_600_000_000n })
  expect(billed('transcription', { input_per_million: '2', output_per_million: '2' })).toMatchObject({
    inputToken: two,
    inputAudioToken: two,
    outputToken: two,
  })
  expect(billed('transcription', { input_per_million: '2' })).not.toHaveProperty('audioHour')
  expect(billed('embedding', { input_per_million: '2' })).not.toHaveProperty('cachedInputToken')
})

test('cached input and audio input of a self-hosted server cost as much as its input, unless they have a written price', () => {
  const price = ownServer('language', { input_per_million: '2' })
  expect(price).toMatchObject({
    inputToken: 2_000_000_000n,
    inputAudioToken: 2_000_000_000n,
    outputToken: 0n,
  })
  expect(price).not.toHaveProperty('cachedInputToken')
  expect(
    ownServer('language', { input_per_million: '2', cached_input_per_million: '0' }).cachedInputToken,
  ).toBe(0n)
})

test('an order by price uses the billed unit, not a free one', () => {
  const compared = (modality: Modality, written: OperatorPrices) =>
    modalityRow(modality).comparedPrice(ownServer(modality, written))
  expect(compared('rerank', { input_per_million: '1000' })).toBe(1e12)
  expect(compared('rerank', { input_per_million: '1000', search_units_per_thousand: '0' })).toBe(1e12)
  expect(compared('rerank', { search_units_per_thousand: '2' })).toBe(40_000_000)
  expect(compared('speech', { audio_per_hour: '2', characters_per_million: '0' })).toBe(2e15)
  expect(compared('transcription', { input_per_million: '2', audio_per_hour: '0' })).toBe(2e9)
  for (const modality of modalityNames) expect(compared(modality, {})).toBe(0)
})

test('a tier that is a share of the usual price is one of long prompts too, until the operator states it', () => {
  const table = {
    price: { inputToken: 1_250n, outputToken: 10_000n },
    longPrices: [{ inputTokensAbove: 200_000, price: { inputToken: 2_500n, outputToken: 15_000n } }],
  }
  const sources = { table, provider: null, everywhere: undefined, model: undefined }
  const rules = {
    modality: 'language' as const,
    upstream: 'pro',
    isFree: false,
    tiers: [{ tier: 'flex', models: /^pro$/, share: [1n, 2n] as const }],
  }
  const priced = priceInOrder(sources, rules)
  const costs = (endpoint: typeof priced) =>
    [200_000, 200_001].map((tokens) => [
      priceAt(endpoint, tokens).inputToken,
      priceAt(endpoint, tokens, 'flex').inputToken,
    ])
  expect(costs(priced)).toEqual([
    [1_250n, 625n],
    [2_500n, 1_250n],
  ])
  const stated = priceInOrder(
    { ...sources, everywhere: { service_tiers: { flex: { input_per_million: '0.0000007' } } } },
    rules,
  )
  expect(costs(stated)).toEqual([
    [1_250n, 700n],
    [2_500n, 700n],
  ])
  expect(priceInOrder(sources, { ...rules, upstream: 'other' })).not.toHaveProperty('tierPrices')
})
