import { expect, test } from 'bun:test'
import { giveBack } from './memory.ts'

test('bytes that are given back are empty', () => {
  const bytes = new Uint8Array(1_000)
  giveBack(bytes)
  expect(bytes.byteLength).toBe(0)
})

test('bytes within a larger memory stay, and so do their neighbours', () => {
  const memory = new Uint8Array(10).fill(7)
  const part = memory.subarray(2, 5)
  giveBack(part)
  expect([...part]).toEqual([7, 7, 7])
  expect(memory.byteLength).toBe(10)
})
