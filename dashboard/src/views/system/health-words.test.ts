import { expect, test } from 'bun:test'
import { healthWord } from './health-words.ts'

const after = (requests: number, errors: number) =>
  healthWord({ state: 'healthy', last_30m: { requests, errors, p50_ms: null } }).word

test('a deployment whose calls fail is not shown as healthy between two failures', () => {
  expect(after(24, 12)).toBe('Calls fail')
  expect(after(1, 1)).toBe('Calls fail')
  expect(after(1000, 1)).toBe('Healthy')
  expect(after(0, 0)).toBe('Healthy')
})

test('a state that the gateway names stays', () => {
  const { word } = healthWord({ state: 'out', last_30m: { requests: 2, errors: 2, p50_ms: null } })
  expect(word).toBe('Out')
})
