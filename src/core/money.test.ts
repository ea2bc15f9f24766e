import { expect, test } from 'bun:test'
import { costOf, divideHalfEven, formatCredits, parseCredits, toCredits } from './money.ts'

test('a cost is added exactly and rounded once, half to even', () => {
  expect(costOf([{ quantity: 1000, price: 2_500_000_000n }])).toBe(2_500_000n)
  // Two halves of a nanocredit make one; rounded apart they would make none.
  expect(
    costOf([
      { quantity: 1, price: 500_000n },
      { quantity: 1, price: 500_000n },
    ]),
  ).toBe(1n)
  expect(costOf([{ quantity: 1, price: 500_000n }])).toBe(0n)
  expect(costOf([{ quantity: 3, price: 500_000n }])).toBe(2n)
})

test('a cost is exact to the last nanocredit beyond the range of exact numbers', () => {
  const prices = [
    0n,
    1n,
    499_999n,
    500_000n,
    500_001n,
    150_000_000n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 62n,
  ]
  const quantities = [0, 1, 2, 3, 211, 999_999, 1_000_001, 2 ** 31, Number.MAX_SAFE_INTEGER]
  for (const price of prices)
    for (const quantity of quantities)
      for (const second of [0n, 1n, 500_000n, 2n ** 53n - 1n]) {
        const exact = divideHalfEven(BigInt(quantity) * price + 3n * second, 1_000_000n)
        const terms = [
          { quantity, price },
          { quantity: 3, price: second },
        ]
        expect(costOf(terms)).toBe(exact)
      }
  expect(costOf([{ quantity: 3, price: -500_000n }])).toBe(-2n)
})

test('division rounds half to even on both sides of zero', () => {
  expect([-5n, -3n, -1n, 1n, 3n, 5n].map((n) => divideHalfEven(n, 2n))).toEqual([-2n, -2n, 0n, 0n, 2n, 2n])
})

test('decimal amounts are read and written without a float', () => {
  expect(parseCredits('0.000000150')).toBe(150n)
  expect(parseCredits(1e-7)).toBe(100n)
  expect(parseCredits('2.5')).toBe(2_500_000_000n)
  expect(formatCredits(-2_500_000_000n)).toBe('-2.5')
  expect(formatCredits(1n)).toBe('0.000000001')
  expect(toCredits(15n)).toBe(1.5e-8)
  expect(() => parseCredits('1,5')).toThrow(RangeError)
  expect(() => parseCredits('NaN')).toThrow(RangeError)
  expect(() => parseCredits(1e10)).toThrow(RangeError)
  expect(() => parseCredits('-9223372036.854775808')).toThrow(RangeError)
  expect(parseCredits('9223372036.854775807')).toBe(2n ** 63n - 1n)
})

test('a negative or fractional quantity is a bug, not a discount', () => {
  expect(() => costOf([{ quantity: -1, price: 1n }])).toThrow()
  expect(() => costOf([{ quantity: 1.5, price: 1n }])).toThrow()
})
