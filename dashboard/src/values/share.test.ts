import { expect, test } from 'bun:test'
import { formatShare } from './share.ts'

test('a share has two digits, and all of it is 100 %', () => {
  expect(formatShare(3, 3)).toBe('100 %')
  expect(formatShare(1, 2)).toBe('50 %')
  expect(formatShare(1, 800)).toBe('0.13 %')
})
