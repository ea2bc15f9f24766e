import { describe, expect, test } from 'bun:test'
import {
  compactNumber,
  exactCredits,
  formatBytes,
  formatMoney,
  formatWhole,
  parseCredits,
  pricePer,
} from './money.ts'

describe('money', () => {
  test('a number of the API becomes whole nanocredits without passing a float', () => {
    expect(parseCredits(0.0000105)).toBe(10_500n)
    expect(parseCredits(1.05e-5)).toBe(10_500n)
    expect(parseCredits(7.5e-7)).toBe(750n)
    expect(parseCredits('123456789.123456789')).toBe(123_456_789_123_456_789n)
    expect(parseCredits(-0.25)).toBe(-250_000_000n)
    expect(parseCredits('2e3')).toBe(2_000_000_000_000n)
    expect(parseCredits('')).toBeNull()
    expect(parseCredits('five')).toBeNull()
    expect(parseCredits(null)).toBeNull()
  })

  test('amounts that people add up have every digit', () => {
    expect(formatWhole(20_000_000_000n)).toBe('$20.00')
    expect(formatWhole(284_900n)).toBe('$0.0002849')
    expect(formatWhole(19_999_715_100n)).toBe('$19.9997151')
    expect(formatWhole(-1_234_567_000_000_001n)).toBe('−$1,234,567.000000001')
    expect(formatWhole(0n)).toBe('$0.00')
  })

  test('totals have two decimals and groups of three', () => {
    expect(formatMoney(1_043_834_000_000n)).toBe('$1,043.83')
    expect(formatMoney(1_000_000_000n)).toBe('$1.00')
    expect(formatMoney(-1_500_000_000n)).toBe('−$1.50')
    expect(formatMoney(1_995_000_000n)).toBe('$2.00')
  })

  test('below one credit four digits count, below a millionth all of them, and nothing looks like zero', () => {
    expect(formatMoney(123_456_789n)).toBe('$0.1235')
    expect(formatMoney(10_500n)).toBe('$0.0000105')
    expect(formatMoney(999_960_000n)).toBe('$1.00')
    expect(formatMoney(999n)).toBe('$0.000000999')
    expect(formatMoney(1n)).toBe('$0.000000001')
    expect(formatMoney(500_000_000n)).toBe('$0.50')
    expect(formatMoney(0n)).toBe('$0.00')
  })

  test('hovering and copying give every digit', () => {
    expect(exactCredits(1_043_834_000_001n)).toBe('1043.834000001')
    expect(exactCredits(2_000_000_000n)).toBe('2')
  })

  test('a price for a token is shown for a million of them', () => {
    expect(pricePer('0.00000015', 1_000_000n)).toBe('$0.15')
    expect(pricePer('1.5e-7', 1_000_000n)).toBe('$0.15')
    expect(pricePer('0.0001', 3600n)).toBe('$0.36')
    expect(pricePer('0', 1_000_000n)).toBeNull()
    expect(pricePer(undefined, 1n)).toBeNull()
  })

  test('large counts are short and small ones are whole', () => {
    expect(compactNumber(9999)).toBe('9,999')
    expect(compactNumber(128_000)).toBe('128k')
    expect(compactNumber(1_050_000)).toBe('1.1M')
    expect(formatBytes(200_000_000)).toBe('200 MB')
    expect(formatBytes(999)).toBe('999 B')
  })
})
