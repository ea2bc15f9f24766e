import { expect, test } from 'bun:test'
import { dayOfTransaction, newGenerationId, newId, randomText, undatedDay } from './ids.ts'

const dayMs = 86_400_000

test('every kind of generation is filed under the day of its id, at both ends of the day', () => {
  for (const prefix of ['gen', 'gen-stt', 'gen-tts', 'gen-batch'] as const) {
    expect(dayOfTransaction(newGenerationId(prefix, 20_000 * dayMs))).toBe(20_000)
    expect(dayOfTransaction(newGenerationId(prefix, 20_001 * dayMs - 1))).toBe(20_000)
    expect(dayOfTransaction(newGenerationId(prefix, 20_001 * dayMs))).toBe(20_001)
  }
})

test('an id without a time is always filed under the same day, on whatever day it is repeated', () => {
  const ids = [
    'grant_bootstrap',
    newId('grant', Date.now()),
    'gen-a',
    'gen-123',
    'gen--5-a',
    'gen-x-1-a',
    'gen-12x-a',
    'gen-stt-',
    'agen-1-a',
    '',
  ]
  for (const id of ids) expect(dayOfTransaction(id)).toBe(undatedDay)
})

test('a number that no clock can show is not read as a time', () => {
  expect(dayOfTransaction('gen-99999999999-a')).toBe(1_157_407)
  expect(dayOfTransaction('gen-999999999999-a')).toBe(undatedDay)
})

test('a random text has the requested length, however long, and no two are equal', () => {
  for (const length of [0, 1, 15, 64, 10_000])
    expect(randomText(length)).toMatch(new RegExp(`^[a-z0-9]{${length}}$`))
  const texts = Array.from({ length: 5_000 }, () => randomText(18))
  expect(new Set(texts).size).toBe(texts.length)
  const counts = new Map<string, number>()
  for (const letter of texts.join('')) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  expect(counts.size).toBe(36)
  // 2,500 of each are due; a tenth off is six standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - 2_500)).toBeLessThan(300)
})
