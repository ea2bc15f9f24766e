import { describe, expect, test } from 'bun:test'
import { faultNamesIn, FaultSpecError, parseFaults } from './faults.ts'

describe('a fault specification', () => {
  test('is a list of faults with values and attributes', () => {
    expect(parseFaults('status=429;retry_after=2;code=insufficient_quota, latency=50..80 ,no_done')).toEqual({
      error: { status: 429, retryAfterSeconds: 2, code: 'insufficient_quota' },
      latency: { min: 50, max: 80 },
      noDone: true,
    })
  })

  test('carries free text percent-encoded', () => {
    expect(parseFaults('text=one%2C%20two%3B%20%C3%A9')).toEqual({ text: 'one, two; é' })
  })

  test('without faults changes nothing', () => {
    expect(parseFaults('')).toEqual({})
    expect(parseFaults(' , ')).toEqual({})
  })

  test('may reject several members', () => {
    expect(parseFaults('reject=stream_options,reject=seed')).toEqual({ rejected: ['stream_options', 'seed'] })
  })

  test.each([
    ['explode', 'Unknown fault "explode"'],
    ['toString', 'Unknown fault "toString"'],
    ['status=200', 'wants a status from 400 to 599'],
    ['status=429;colour=red', 'has no attribute "colour"'],
    ['latency=fast', 'wants a whole number'],
    ['latency=9..1', 'range from low to high'],
    ['latency=-5', 'wants a whole number'],
    ['usage=none', 'wants one of missing, null'],
    ['cut_after=', 'wants a whole number'],
    ['text=%E0%A4%A', 'percent-encoded'],
  ])('that reads "%s" is refused by name', (spec, reason) => {
    expect(() => parseFaults(spec)).toThrow(FaultSpecError)
    expect(() => parseFaults(spec)).toThrow(reason)
  })

  test('is counted under the names in it', () => {
    expect(faultNamesIn(['status=503;retry_after=1', 'latency=5,status=500'])).toBe('status,latency')
    expect(faultNamesIn([''])).toBeNull()
  })
})
