import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Demand } from '../../canonical/usage.ts'
import { DemandLog, demandPricesMax } from './demand-log.ts'

const demandOf = (inputTokens: number, outputTokensMax: number | null, choices: number): Demand => ({
  inputTokens,
  outputTokensMax,
  choices,
  audioMilliseconds: 0,
  characters: 0,
})

/** A price that different demands hardly share, and small enough for any sum of them to be an amount. */
function priceOf(demand: Demand | null): { estimate: bigint; worstCase: bigint } {
  if (demand === null) return { estimate: 1n, worstCase: 2n }
  const { inputTokens, outputTokensMax, choices } = demand
  const mixed = BigInt(inputTokens) * 1_000_003n + BigInt(outputTokensMax ?? 77) * 17n + BigInt(choices)
  const estimate = mixed % 1_000_000_000_039n
  return { estimate, worstCase: estimate * 3n }
}

const count = fc.oneof(fc.nat(300), fc.constantFrom(127, 128, 16_383, 16_384, Number.MAX_SAFE_INTEGER - 1))
const demand = fc.option(fc.tuple(count, fc.option(count), fc.integer({ min: 1, max: 200 })))

test('the sum equals that of pricing the items one by one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(demand, fc.integer({ min: 1, max: 4 })), { maxLength: 3_000 }),
      async (runs) => {
        const log = new DemandLog()
        let estimate = 0n
        for (const [entry, times] of runs) {
          const item = entry === null ? null : demandOf(...entry)
          for (let time = 0; time < times; time++) {
            log.add(item)
            estimate += priceOf(item).estimate
          }
        }
        expect((await log.price(priceOf)).estimate).toBe(estimate)
      },
    ),
    { numRuns: 50 },
  )
})

test('items that demand the same are priced once, more lengths than are remembered correctly', async () => {
  const log = new DemandLog()
  let calls = 0
  let estimate = 0n
  for (let round = 0; round < 2; round++) {
    for (let tokens = 0; tokens < demandPricesMax + 10; tokens++) {
      const item = demandOf(tokens, 64, 1)
      log.add(item)
      estimate += priceOf(item).estimate
    }
  }
  const counted = (item: Demand | null): ReturnType<typeof priceOf> => {
    calls++
    return priceOf(item)
  }
  expect(await log.price(counted)).toEqual({ estimate, worstCase: estimate * 3n })
  expect(calls).toBeGreaterThan(demandPricesMax)

  const alike = new DemandLog()
  for (let item = 0; item < 1_000_000; item++) alike.add(demandOf(1_300 + (item % 2), 64, 1))
  calls = 0
  await alike.price(counted)
  expect(calls).toBe(2)
})

test('a sum that no database column can hold is reported as the largest possible one', async () => {
  const log = new DemandLog()
  for (let item = 0; item < 1_000; item++) log.add(demandOf(item, 64, 1))
  const absurd = { estimate: 1n, worstCase: 10n ** 16n }
  expect(await log.price(() => absurd)).toEqual({ estimate: 1_000n, worstCase: 9_223_372_036_854_775_807n })
})
