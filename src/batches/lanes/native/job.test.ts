import { expect, test } from 'bun:test'
import { itemOfLine, lineIdOf } from './job.ts'

test('a line belongs to a job by its nonce alone, whatever place it names', () => {
  expect(itemOfLine('abc', lineIdOf('abc', 7))).toBe(7)
  expect(itemOfLine('abc', lineIdOf('abd', 7))).toBeNull()
  expect(itemOfLine('abc', lineIdOf('abcd', 7))).toBeNull()
})

test('a line that no job writes belongs to no item', () => {
  for (const id of [
    'habc_',
    'habc_07',
    'habc_-1',
    'habc_1e3',
    'habc_7 ',
    'abc_7',
    'habc7',
    'habc_9999999999999999',
  ])
    expect(itemOfLine('abc', id)).toBeNull()
})
