import { expect, test } from 'bun:test'
import { noUsage } from '../../canonical/usage.ts'
import { modelStatsMax } from '../../core/limits/billing.ts'
import { createLearning } from './learning.ts'
import type { Learning, LearningSample } from './learning.ts'

function teach(learning: Learning, count: number, change: (index: number) => Partial<LearningSample>): void {
  for (let index = 0; index < count; index += 1) {
    learning.record({
      organizationId: 'org_a',
      model: 'maker/model',
      estimatedInputTokens: 100,
      usage: { ...noUsage, inputTokens: 120, outputTokens: index + 1 },
      source: 'provider',
      ending: 'completed',
      ...change(index),
    })
  }
}

test('the prompt ratio is 1 until there are enough calls, and is then rounded towards a high estimate', () => {
  const learning = createLearning()
  teach(learning, 19, () => ({}))
  expect(learning.promptRatio('org_a', 'maker/model')).toBe(1)
  teach(learning, 5, () => ({ usage: { ...noUsage, inputTokens: 200 } }))
  expect(learning.promptRatio('org_a', 'maker/model')).toBe(2)
  expect(learning.promptRatio('org_a', 'maker/other')).toBe(1)
})

test('the model that was seen least recently is forgotten first', () => {
  const learning = createLearning()
  const see = (model: string, count: number): void =>
    teach(learning, count, () => ({ model, usage: { ...noUsage, outputTokens: 7 } }))
  see('maker/busy', 20)
  for (let index = 0; index < modelStatsMax - 1; index += 1) see(`maker/${index}`, 1)
  see('maker/busy', 1)
  see('maker/new', 1)
  expect(learning.outputTokens('org_a', 'maker/busy')).toBe(7)
})

test('the ratio that was saved last is restored first, and forgotten last', () => {
  const learning = createLearning()
  const saved = Array.from({ length: modelStatsMax }, (_, index) => ({
    organizationId: 'org_a',
    model: `maker/${index}`,
    sampleCount: 20,
    ratioPpm: 1_000_000,
    outputP90: 7,
  }))
  learning.restore(saved)
  teach(learning, 1, () => ({ model: 'maker/new', usage: { ...noUsage, outputTokens: 7 } }))
  expect(learning.outputTokens('org_a', 'maker/0')).toBe(7)
})

test('a ratio beyond belief is bounded', () => {
  const learning = createLearning()
  teach(learning, 30, () => ({ usage: { ...noUsage, inputTokens: 1_000_000 } }))
  expect(learning.promptRatio('org_a', 'maker/model')).toBe(4)
})

test('expected output is the 90th percentile of the organization’s own recent answers', () => {
  const learning = createLearning()
  teach(learning, 128, () => ({ usage: { ...noUsage, outputTokens: 9_999 } }))
  teach(learning, 128, () => ({}))
  expect(learning.outputTokens('org_a', 'maker/model')).toBe(116)
  expect(learning.outputTokens('org_b', 'maker/model')).toBeNull()
})

test('nothing is learned from estimates, failures and hang-ups', () => {
  const learning = createLearning()
  teach(learning, 30, () => ({ source: 'estimated' }))
  teach(learning, 30, () => ({ ending: 'cancelled' }))
  teach(learning, 30, () => ({ ending: 'failed' }))
  expect(learning.outputTokens('org_a', 'maker/model')).toBeNull()
  expect(learning.takeChanged()).toEqual([])
})

test('saved ratios are restored, and ratios learned since then count first', () => {
  const first = createLearning()
  teach(first, 40, () => ({}))
  const saved = first.takeChanged()
  expect(first.takeChanged()).toEqual([])
  const second = createLearning()
  second.restore(saved)
  expect(second.promptRatio('org_a', 'maker/model')).toBe(1.2)
  expect(second.outputTokens('org_a', 'maker/model')).toBe(37)
  teach(second, 40, () => ({ usage: { ...noUsage, inputTokens: 100, outputTokens: 5 } }))
  expect(second.promptRatio('org_a', 'maker/model')).toBe(1)
})

test('calls of others do not change the ratio of an organization that has made enough calls itself', () => {
  const learning = createLearning()
  teach(learning, 24, () => ({}))
  const asked = (inputTokens: number) => () => ({
    organizationId: 'org_b',
    usage: { ...noUsage, inputTokens, outputTokens: 1 },
  })
  for (const inputTokens of [400, 1]) {
    teach(learning, 200, asked(inputTokens))
    expect(learning.promptRatio('org_a', 'maker/model')).toBe(1.2)
    expect(learning.promptRatio('org_b', 'maker/model')).toBe(inputTokens === 400 ? 4 : 0.25)
  }
  expect(learning.promptRatio('org_new', 'maker/model')).toBe(0.25)
  const restarted = createLearning()
  restarted.restore(learning.takeChanged())
  expect(restarted.promptRatio('org_a', 'maker/model')).toBe(1.2)
})
