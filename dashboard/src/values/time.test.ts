import { describe, expect, test } from 'bun:test'
import { rangeOf } from './ranges.ts'
import {
  formatAge,
  formatDuration,
  formatMoment,
  momentTitle,
  nextReset,
  startOfDay,
  zoneName,
} from './time.ts'

const now = new Date('2026-11-24T14:00:00Z')

describe('times', () => {
  test('a time of today has seconds, an earlier one has its day', () => {
    expect(formatMoment('2026-11-24T13:03:09.123Z', 'Europe/Berlin', now)).toBe('14:03:09')
    expect(formatMoment('2026-11-23T22:30:00Z', 'Europe/Berlin', now)).toBe('23 Nov 23:30')
    expect(formatMoment('2025-01-02T00:00:00Z', 'UTC', now)).toBe('2 Jan 2025 00:00')
  })

  test('the evening of a zone belongs to its own day', () => {
    expect(formatMoment('2026-11-23T23:30:00Z', 'Europe/Berlin', now)).toBe('00:30:00')
    expect(formatMoment('2026-11-23T19:00:00Z', 'Asia/Kolkata', now)).toBe('00:30:00')
  })

  test('a limit begins again at midnight, on Monday and on the first, all UTC', () => {
    const nextAfter = (reset: string, at: string) => nextReset(reset, new Date(at)).toISOString()
    expect(nextAfter('daily', '2026-11-30T23:59:59Z')).toBe('2026-12-01T00:00:00.000Z')
    expect(nextAfter('weekly', '2026-11-29T16:00:00Z')).toBe('2026-11-30T00:00:00.000Z')
    expect(nextAfter('weekly', '2026-11-30T00:00:00Z')).toBe('2026-12-07T00:00:00.000Z')
    expect(nextAfter('monthly', '2026-12-31T12:00:00Z')).toBe('2027-01-01T00:00:00.000Z')
  })

  test('hovering says UTC and the age', () => {
    expect(momentTitle('2026-11-24T13:57:00.000Z', now)).toBe('2026-11-24 13:57:00.000 UTC, 3 min ago')
    expect(formatAge(new Date('2026-11-24T15:30:00Z'), now)).toBe('in 1 h')
  })

  test('a day begins at midnight of the zone, also on the days when its clock is changed', () => {
    expect(startOfDay(now, 'Asia/Kolkata').toISOString()).toBe('2026-11-23T18:30:00.000Z')
    // In Berlin the clock is put back on 25 October 2026 and forward on 29 March 2026.
    expect(startOfDay(new Date('2026-10-25T12:00:00Z'), 'Europe/Berlin').toISOString()).toBe(
      '2026-10-24T22:00:00.000Z',
    )
    expect(startOfDay(new Date('2026-10-26T12:00:00Z'), 'Europe/Berlin').toISOString()).toBe(
      '2026-10-25T23:00:00.000Z',
    )
    expect(startOfDay(new Date('2026-03-30T12:00:00Z'), 'Europe/Berlin', 1).toISOString()).toBe(
      '2026-03-28T23:00:00.000Z',
    )
  })

  test('seven days are today and the six before it', () => {
    const { from, bucket } = rangeOf('7d', 'Europe/Berlin', now)
    expect([from.toISOString(), bucket]).toEqual(['2026-11-17T23:00:00.000Z', 'day'])
  })

  test('a measured time has the unit that fits', () => {
    expect([4.25, 62, 1380, 65_000].map(formatDuration)).toEqual(['4.3 ms', '62 ms', '1.38 s', '1 min 5 s'])
    expect(zoneName('Europe/Berlin', now)).toBe('CET')
  })
})
