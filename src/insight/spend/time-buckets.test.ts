import { expect, test } from 'bun:test'
import { cutSpan, type BucketName } from './time-buckets.ts'

const hourMs = 3_600_000
const startsOf = (zone: string, bucket: BucketName, from: string, to: string) =>
  cutSpan({ fromMs: Date.parse(from), toMs: Date.parse(to), bucket, zone }).starts.map((atMs) =>
    new Date(atMs).toISOString().slice(0, 16),
  )

test('a day whose midnight the clocks skip begins when they change, and the next one follows', () => {
  expect(startsOf('America/Santiago', 'day', '2026-09-05T04:00Z', '2026-09-08T03:00Z')).toEqual([
    '2026-09-05T04:00',
    '2026-09-06T04:00',
    '2026-09-07T03:00',
  ])
  // Samoa skipped 30 December 2011.
  expect(startsOf('Pacific/Apia', 'day', '2011-12-29T10:00Z', '2012-01-01T10:00Z')).toEqual([
    '2011-12-29T10:00',
    '2011-12-30T10:00',
    '2011-12-31T10:00',
  ])
})

test('a midnight that comes twice begins its day once', () => {
  expect(startsOf('America/Havana', 'day', '2026-10-31T04:00Z', '2026-11-03T05:00Z')).toEqual([
    '2026-10-31T04:00',
    '2026-11-01T04:00',
    '2026-11-02T05:00',
  ])
  expect(startsOf('America/Sao_Paulo', 'day', '2018-02-17T02:00Z', '2018-02-19T03:00Z')).toEqual([
    '2018-02-17T02:00',
    '2018-02-18T03:00',
  ])
})

const zones = [
  'America/Santiago',
  'America/Havana',
  'America/Asuncion',
  'America/Sao_Paulo',
  'America/Scoresbysund',
  'Atlantic/Azores',
  'Pacific/Apia',
  'Pacific/Fakaofo',
  'Asia/Beirut',
  'Asia/Tehran',
  'Africa/Cairo',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Europe/Berlin',
]
test.each(zones)('every day, week and month of %s is followed by a later one', (zone) => {
  const longest = { day: 49, week: 193, month: 770 }
  for (const bucket of ['day', 'week', 'month'] as const)
    for (let year = 2005; year <= 2027; year += 2) {
      const { starts } = cutSpan({
        fromMs: Date.UTC(year, 0, 1),
        toMs: Date.UTC(year + 2, 0, 1),
        bucket,
        zone,
      })
      const lengths = starts.slice(1).map((atMs, index) => (atMs - (starts[index] ?? 0)) / hourMs)
      expect(Math.min(...lengths)).toBeGreaterThan(0)
      expect(Math.max(...lengths)).toBeLessThanOrEqual(longest[bucket])
    }
})
