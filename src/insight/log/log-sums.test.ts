import { expect, test } from 'bun:test'
import { firstIdAt, type LogRow } from './log-row.ts'
import { sumsOf } from './log-sums.ts'

const quarterMs = 15 * 60_000

function rowOf(atMs: number, own: Partial<LogRow> = {}): LogRow {
  return {
    organizationId: 'org',
    requestId: `${firstIdAt(atMs)}abc`,
    generationId: null,
    keyId: 'key',
    outcome: 'answered',
    status: 200,
    errorType: null,
    operation: null,
    model: 'maker/model',
    provider: 'acme',
    deployment: null,
    userId: null,
    sessionId: null,
    batchId: null,
    streamed: false,
    attempts: 1,
    inputTokens: 0,
    outputTokens: 0,
    firstByteMs: null,
    totalMs: 1,
    costNanocredits: null,
    isEstimated: false,
    clientAddress: null,
    detailsJson: '{}',
    isKnownModel: true,
    hasTime: true,
    ...own,
  }
}

/** Requests of each sum, by what tells it from others. */
function requestsOf(rows: readonly LogRow[]): Record<string, number> {
  const { whole, hours } = sumsOf(rows)
  return Object.fromEntries([
    ...whole.map(({ organizationId, minutes, slot, keyId, model, provider, requests }) => [
      [organizationId, minutes, slot, keyId, model, provider].join(' '),
      requests,
    ]),
    ...hours.map(({ organizationId, scope, slot, keyId, model, provider, requests }) => [
      [organizationId, scope, slot, keyId, model, provider].join(' '),
      requests,
    ]),
  ])
}

test('rows of several keys, models, providers and quarters in turn each reach their own sums', () => {
  const rows = [
    rowOf(0),
    rowOf(1),
    rowOf(2, { keyId: 'other' }),
    rowOf(3),
    rowOf(4, { model: 'maker/second' }),
    rowOf(5, { provider: 'beta' }),
    rowOf(6, { organizationId: 'second' }),
    rowOf(7, { isKnownModel: false }),
    rowOf(quarterMs),
    rowOf(8),
    rowOf(4 * quarterMs),
  ]
  expect(requestsOf(rows)).toEqual({
    'org 15 0 key maker/model acme': 4,
    'org 15 1 key maker/model acme': 1,
    'org 15 4 key maker/model acme': 1,
    'org 60 0 key maker/model acme': 5,
    'org 60 1 key maker/model acme': 1,
    'org 15 0 other maker/model acme': 1,
    'org 60 0 other maker/model acme': 1,
    'org 15 0 key maker/second acme': 1,
    'org 60 0 key maker/second acme': 1,
    'org 15 0 key maker/model beta': 1,
    'org 60 0 key maker/model beta': 1,
    'second 15 0 key maker/model acme': 1,
    'second 60 0 key maker/model acme': 1,
    'org 15 0 key  acme': 1,
    'org 60 0 key  acme': 1,
    // The same calls by the hour, of both keys together.
    'org models 0  maker/model acme': 6,
    'org models 1  maker/model acme': 1,
    'org models 0  maker/second acme': 1,
    'org models 0  maker/model beta': 1,
    'second models 0  maker/model acme': 1,
    'org models 0   acme': 1,
    // And of all models together.
    'org keys 0 key  ': 8,
    'org keys 1 key  ': 1,
    'org keys 0 other  ': 1,
    'second keys 0 key  ': 1,
  })
})

test('an item of a job counts as answered, without a time', () => {
  const { whole, hours } = sumsOf([rowOf(0), rowOf(1, { hasTime: false })])
  for (const sum of [...whole, ...hours]) {
    expect(sum.requests).toBe(2)
    expect(sum.bins.reduce((total, calls) => total + calls, 0)).toBe(1)
  }
})

test('only answered calls have times, and every level counts all of them', () => {
  const { whole, hours } = sumsOf([
    rowOf(0),
    rowOf(1, { outcome: 'failed' }),
    rowOf(2, { outcome: 'refused' }),
    rowOf(3, { outcome: 'cancelled' }),
    rowOf(quarterMs, { keyId: 'other' }),
  ])
  expect(whole[0]).toMatchObject({ requests: 4, failed: 1, refused: 1, cancelled: 1 })
  const timesOf = ({ bins }: { bins: readonly number[] }) => bins.reduce((sum, calls) => sum + calls, 0)
  expect(whole.map(timesOf)).toEqual([1, 1, 1, 1])
  const models = hours.filter(({ scope }) => scope === 'models')
  expect(models).toMatchObject([{ requests: 5, failed: 1, refused: 1, cancelled: 1 }])
  expect(models.map(timesOf)).toEqual([2])
  expect(hours.filter(({ scope }) => scope === 'keys').map(timesOf)).toEqual([1, 1])
})
