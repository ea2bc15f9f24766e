import { expect, test } from 'bun:test'
import { dayOfTransaction, newGenerationId, newId, undatedDay } from './ids.ts'

const dayMs = 86_400_000

test('every kind of generation is filed under the day of its id, at both ends of the day', () => {
  for (const prefix of ['gen', 'gen-stt', 'gen-tts', 'gen-batch'] as const) {
    expect(dayOfTransaction(newGenerationId(prefix, 20_000 * dayMs))).toBe(20_000)
    expect(dayOfTransaction(newGenerationId(prefix, 20_001 * dayMs - 1))).toBe(20_000)
    expect(dayOfTransaction(newGenerationId(prefix, 20_001 * dayMs))).toBe(20_001)
  }
})

test('an id without a time of its own is filed under one day for ever, whatever day it is repeated on', () => {
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

test('a number that no clock shows is no time', () => {
  expect(dayOfTransaction('gen-99999999999-a')).toBe(1_157_407)
  expect(dayOfTransaction('gen-999999999999-a')).toBe(undatedDay)
})
