import { expect, test } from 'bun:test'
import { readLimitReset, readRetryAfter } from './retry-after.ts'

const date = 'Fri, 20 Nov 2026 10:00:00 GMT'

test.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after-ms': '120', 'retry-after': '7' }, 120],
  [{ 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT', date }, 30_000],
  [{ 'retry-after': 'Fri, 20 Nov 2026 10:00:30 GMT' }, null],
  [{ 'retry-after': '1m30s' }, 90_000],
  [{ 'retry-after': '1795168810', date }, 10_000],
  [{ 'retry-after': '86400' }, 3_600_000],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '' }, null],
  [{}, null],
])('a wait that a provider names as %j is %p ms', (headers: Record<string, string>, waitMs) => {
  expect(readRetryAfter(new Headers(headers))).toBe(waitMs)
})

test.each([
  // Durations; only those of exhausted limits count.
  [
    {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-remaining-tokens': '900',
      'x-ratelimit-reset-tokens': '12h',
    },
    360_000,
  ],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '12ms' }, 12],
  [{ 'x-ratelimit-remaining-tokens': '-1', 'x-ratelimit-reset-tokens': '60s' }, null],
  [{ 'x-ratelimit-remaining-tokens': 'unlimited', 'x-ratelimit-reset-tokens': '60s' }, null],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7.66s' }, 7_660],
  // Names with the window at the end, and two limits at once.
  [
    {
      'x-ratelimit-remaining-requests-day': '0',
      'x-ratelimit-reset-requests-day': '900',
      'x-ratelimit-remaining-tokens-minute': '0',
      'x-ratelimit-reset-tokens-minute': '12.5',
    },
    900_000,
  ],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }, 1_000],
  [
    {
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-20T10:00:45Z',
      date,
    },
    45_000,
  ],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1795168860', date }, 60_000],
  // A missing header means unknown, not zero.
  [{ 'x-ratelimit-remaining-requests': '0' }, null],
  [{ 'x-ratelimit-reset-requests': '5s' }, null],
  [{ 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '5s' }, null],
  [{ 'x-ratelimit-limit-tokens-query-cost': '0' }, null],
])('limits that a provider reports by %j begin anew in %p ms', (headers: Record<string, string>, waitMs) => {
  expect(readLimitReset(new Headers(headers))).toBe(waitMs)
})
