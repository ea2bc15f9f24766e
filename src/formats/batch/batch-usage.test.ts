import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BatchUsage } from './batch-usage.ts'
import { addUsage, emptyUsageSum, shownUsage, usageSumOf } from './batch-usage.ts'

function sumOf(usages: readonly BatchUsage[]): BatchUsage {
  return shownUsage(usages.map(usageSumOf).reduce(addUsage, emptyUsageSum()))
}

const plain = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }

test('counts, details and costs are added, and a null count adds nothing', () => {
  const first = {
    ...plain,
    cost: 0.1,
    cost_details: { upstream_inference_cost: null, upstream_inference_prompt_cost: 0.1 },
    prompt_tokens_details: { cached_tokens: 4, audio_tokens: null },
  }
  const second = {
    ...plain,
    cost: 0.2,
    cost_details: { upstream_inference_prompt_cost: 0.2 },
    prompt_tokens_details: { cached_tokens: 1 },
  }
  expect(sumOf([first, second])).toEqual({
    prompt_tokens: 2,
    completion_tokens: 4,
    total_tokens: 6,
    cost: 0.3,
    cost_details: { upstream_inference_prompt_cost: 0.3 },
    is_byok: false,
    prompt_tokens_details: { cached_tokens: 5 },
  })
})

test('one item with a customer’s key sets `is_byok` of the batch; tier and speed are shown only when all items agree', () => {
  expect(sumOf([plain, { ...plain, is_byok: true }]).is_byok).toBe(true)
  expect(
    sumOf([
      { ...plain, service_tier: 'flex', speed: 'fast' },
      { ...plain, service_tier: 'flex' },
    ]),
  ).toMatchObject({ service_tier: 'flex' })
  expect(sumOf([{ ...plain, speed: 'fast' }, plain])).not.toHaveProperty('speed')
  expect(
    sumOf([{ ...plain, service_tier: 'flex' }, plain, { ...plain, service_tier: 'flex' }]),
  ).not.toHaveProperty('service_tier')
})

test('a batch without items costs zero', () => {
  expect(shownUsage(emptyUsageSum())).toEqual({
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    cost: 0,
    is_byok: false,
  })
})

test('the cost is null while no item’s cost is known, else the sum of the known costs', () => {
  const unknown = {
    ...plain,
    cost: null,
    cost_details: { upstream_inference_cost: null, upstream_inference_prompt_cost: 0 },
  }
  const free = { ...plain, cost: 0 }
  const paid = { ...plain, cost: 0.2, cost_details: { upstream_inference_cost: 0.2 } }
  const none = { upstream_inference_cost: null, upstream_inference_prompt_cost: 0 }
  expect(sumOf([unknown, unknown])).toMatchObject({ total_tokens: 6, cost: null, cost_details: none })
  expect(sumOf([free, unknown])).toMatchObject({ cost: null })
  expect(sumOf([unknown, paid, unknown])).toMatchObject({
    cost: 0.2,
    cost_details: { upstream_inference_cost: 0.2 },
  })
  expect(sumOf([free, free]).cost).toBe(0)
})

test('costs add up to the nanocredit in whatever order and grouping', () => {
  const nanocredits = fc.nat({ max: 1_000_000_000 })
  fc.assert(
    fc.property(fc.array(nanocredits, { maxLength: 50 }), fc.nat(), (amounts, at) => {
      const sums = amounts.map((amount) => usageSumOf({ ...plain, cost: amount / 1e9 }))
      const split = at % (amounts.length + 1)
      const left = sums.slice(0, split).reduce(addUsage, emptyUsageSum())
      const right = sums.slice(split).reduceRight((sum, next) => addUsage(next, sum), emptyUsageSum())
      const total = amounts.reduce((sum, amount) => sum + amount, 0)
      expect(addUsage(left, right).usage.cost).toBe(total / 1e9)
    }),
  )
})
