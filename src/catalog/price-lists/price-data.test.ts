import { expect, test } from 'bun:test'
import { pricePackage } from '../prices/price-package.gen.ts'
import { readDataLiteral } from './data-literal.ts'
import { BadPriceData, readPriceData } from './price-data.ts'

const provider = (...models: unknown[]) => [{ id: 'acme', name: 'Acme', models }]
const model = (prices: unknown, more: object = {}) => ({
  id: 'small',
  match: { equals: 'small' },
  prices,
  ...more,
})
const read = (...models: unknown[]) => readPriceData(provider(...models), ['acme'])['acme']

test('prices are whole nanocredits for a million units, exactly', () => {
  expect(
    read(
      model(
        {
          input_mtok: 0.15,
          cache_read_mtok: 0.075,
          output_mtok: 0.6,
          audio_hours: 0.36,
          web_search_kcount: 10,
        },
        { name: 'Small', context_window: 8000 },
      ),
    ),
  ).toEqual([
    {
      id: 'small',
      upstream: 'small',
      name: 'Small',
      contextLength: 8000,
      match: { equals: 'small' },
      prices: [
        {
          fromMs: 0,
          // 0.36 USD an hour is 0.0001 a second, so 0.1 for a million milliseconds.
          price: {
            inputToken: 150_000_000n,
            cachedInputToken: 75_000_000n,
            outputToken: 600_000_000n,
            audioHour: 360_000_000_000_000n,
          },
        },
      ],
    },
  ])
})

test('a price may depend on the prompt’s length and the day; of prices by the hour the dearest counts', () => {
  const [found] =
    read(
      model([
        { prices: { input_mtok: { base: 1, tiers: [{ start: 1000, price: 2 }] }, output_mtok: 3 } },
        { constraint: { start_date: '2026-12-01' }, prices: { input_mtok: 4, output_mtok: 5 } },
        {
          constraint: { type: 'time_of_date', start_time: '00:00:00Z', end_time: '06:00:00Z' },
          prices: { input_mtok: 0.5, output_mtok: 9 },
        },
      ]),
    ) ?? []
  expect(found?.prices).toEqual([
    {
      fromMs: 0,
      price: { inputToken: 1_000_000_000n, outputToken: 9_000_000_000n },
      long: [{ inputTokensAbove: 1000, price: { inputToken: 2_000_000_000n, outputToken: 9_000_000_000n } }],
    },
    {
      fromMs: Date.parse('2026-12-01'),
      price: { inputToken: 4_000_000_000n, outputToken: 5_000_000_000n },
    },
  ])
})

test('the package that is shipped, read without running it, has the prices that are shipped', async () => {
  const code = await Bun.file('node_modules/@pydantic/genai-prices/dist/index.js').text()
  const ids = Object.keys(pricePackage)
  expect(readPriceData(readDataLiteral(code), ids)).toEqual({ ...pricePackage })
  const minified = await Bun.file('node_modules/@pydantic/genai-prices/dist/index.cjs').text()
  expect(readPriceData(readDataLiteral(minified), ids)).toEqual({ ...pricePackage })
})

test('a file that is not a list of prices is refused with the name of its fault', () => {
  const refused: readonly [unknown, string][] = [
    [null, 'no provider'],
    [{}, 'no provider'],
    [[], 'no provider'],
    ['prices', 'no provider'],
    [[{ id: 'other', models: [model({ input_mtok: 1 })] }], 'no price of any provider'],
    [provider(), 'no price of any provider'],
    [provider({ match: { equals: 'x' }, prices: {} }), 'a model of acme has no id'],
    [provider(model({ input_mtok: -1 })), 'acme/small: input_mtok is below zero, -1'],
    [provider(model({ input_mtok: '1' })), 'acme/small: input_mtok is "1" and no number'],
    [provider(model({ output_mtok: 1e9 })), 'more than any price there is'],
    [provider(model({ output_mtok: { tiers: [] } })), 'acme/small: output_mtok is undefined and no number'],
    [provider(model({ output_mtok: { base: 1, tiers: [{ start: -5, price: 1 }] } })), 'no number of tokens'],
    [provider(model({ input_mtok: 1 }, { match: { sounds_like: 'x' } })), 'unknown rule "sounds_like"'],
    [provider(model({ input_mtok: 1 }, { match: {} })), '"match" is no rule'],
    [provider(model({ input_mtok: 1 }, { match: { regex: '(a+)+$' } })), 'a pattern that is not taken'],
    [provider(model({ input_mtok: 1 }, { match: { regex: '(' } })), 'a pattern that is not taken'],
    [provider(model([{ constraint: { start_date: 'soon' }, prices: { input_mtok: 1 } }])), 'is no date'],
  ]
  for (const [data, message] of refused) {
    expect(() => readPriceData(data, ['acme'])).toThrow(BadPriceData)
    expect(() => readPriceData(data, ['acme'])).toThrow(message)
  }
})

test('rules that are nested too deeply are refused by name', () => {
  let match: unknown = { equals: 'small' }
  for (let depth = 0; depth < 5_000; depth++) match = { and: [match] }
  expect(() => read(model({ input_mtok: 1 }, { match }))).toThrow(
    new BadPriceData('acme/small: "match" has rules within rules without end'),
  )
})
