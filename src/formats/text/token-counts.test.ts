import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { settleCounts, type CountingHabits, type WrittenCounts } from './token-counts.ts'

const none = { cached: 0, written: 0, inputAudio: 0, reasoning: 0, outputAudio: 0 }

function settle(given: Partial<WrittenCounts>, habits: Partial<CountingHabits> = {}) {
  return settleCounts(
    { input: 0, output: 0, total: null, ...none, ...given },
    { isReasoningApart: false, isAudioHeard: false, ...habits },
  )
}

test('counts that agree stay as they are', () => {
  const given = { input: 100, output: 50, total: 150, cached: 60, written: 30, reasoning: 20, inputAudio: 10 }
  const { total: _, ...counts } = given
  expect(settle(given)).toEqual({ ...none, ...counts })
  expect(settle({ ...given, total: null })).toEqual({ ...none, ...counts })
  expect(settle({ ...given, total: 3 })).toEqual({ ...none, ...counts })
})

test('a part above its total is dropped, and no other count is', () => {
  expect(settle({ input: 10, cached: 161, output: 213, total: 223 })).toEqual({
    ...none,
    input: 10,
    output: 213,
  })
  expect(settle({ input: 10, output: 5, reasoning: 50, outputAudio: 9 })).toEqual({
    ...none,
    input: 10,
    output: 5,
  })
  expect(settle({ input: 10, inputAudio: 11, written: 12 })).toEqual({ ...none, input: 10, output: 0 })
})

test('when a whole prompt counts as both read from a cache and written to it, the written count is dropped', () => {
  const given = { input: 700, cached: 700, written: 700, output: 9, total: 709 }
  expect(settle(given)).toEqual({ ...none, input: 700, cached: 700, output: 9 })
})

test('parts that only the sum includes are added to their totals, one or several', () => {
  expect(settle({ input: 10, cached: 161, output: 213, total: 384 })).toMatchObject({
    input: 171,
    cached: 161,
  })
  expect(settle({ input: 12, cached: 11, output: 2, reasoning: 340, total: 354 })).toEqual({
    ...none,
    input: 12,
    cached: 11,
    output: 342,
    reasoning: 340,
  })
  expect(settle({ input: 10, cached: 161, output: 13, reasoning: 90, total: 274 })).toEqual({
    ...none,
    input: 171,
    cached: 161,
    output: 103,
    reasoning: 90,
  })
  expect(settle({ input: 9, inputAudio: 375, output: 248, total: 632 })).toMatchObject({
    input: 384,
    inputAudio: 375,
    output: 248,
  })
})

test('of parts of the same size, the part that does not fit into its total is added to it', () => {
  expect(settle({ input: 10, cached: 40, output: 90, reasoning: 40, total: 140 })).toMatchObject({
    input: 50,
    cached: 40,
    output: 90,
    reasoning: 40,
  })
})

test('a part that does not fit into its total is added to it, even when the sum has further tokens', () => {
  expect(settle({ input: 10, cached: 161, output: 213, total: 400 })).toMatchObject({
    input: 171,
    cached: 161,
    output: 229,
  })
})

test('tokens that only the sum has belong to audio input, else to a prompt without tokens, else to the output', () => {
  const heard = settle({ input: 9, output: 248, total: 632 }, { isAudioHeard: true })
  expect(heard).toEqual({ ...none, input: 384, inputAudio: 375, output: 248 })
  expect(settle({ input: 0, output: 20, total: 30 })).toMatchObject({ input: 10, output: 20 })
  expect(settle({ input: 12, output: 35, total: 109 })).toMatchObject({ input: 12, output: 97 })
})

test('reasoning is added for providers that are known to leave it out, when the sum does not show it', () => {
  const given = { input: 16, output: 5, reasoning: 50, total: 21 }
  expect(settle(given, { isReasoningApart: true })).toMatchObject({ output: 55, reasoning: 50 })
  expect(settle({ ...given, total: 71 }, { isReasoningApart: true })).toMatchObject({
    output: 55,
    reasoning: 50,
  })
})

test('for any counts, parts fit into their totals afterwards, and no total becomes smaller', () => {
  const count = fc.integer({ min: 0, max: 50 })
  const written = fc.record({
    input: count,
    output: count,
    total: fc.option(fc.integer({ min: 0, max: 300 })),
    cached: count,
    written: count,
    inputAudio: count,
    reasoning: count,
    outputAudio: count,
  })
  fc.assert(
    fc.property(written, fc.boolean(), fc.boolean(), (given, isReasoningApart, isAudioHeard) => {
      const counts = settleCounts(given, { isReasoningApart, isAudioHeard })
      expect(counts.cached + counts.written).toBeLessThanOrEqual(counts.input)
      expect(counts.inputAudio).toBeLessThanOrEqual(counts.input)
      expect(Math.max(counts.reasoning, counts.outputAudio)).toBeLessThanOrEqual(counts.output)
      expect(counts.input).toBeGreaterThanOrEqual(given.input)
      expect(counts.output).toBeGreaterThanOrEqual(given.output)
      const sum = Math.max(given.total ?? 0, given.input + given.output)
      if (!isReasoningApart) expect(counts.input + counts.output).toBe(sum)
    }),
  )
})
