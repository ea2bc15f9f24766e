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
    ...own,
  }
}

/** Requests of each sum, by what tells it from others. */
function requestsOf(rows: readonly LogRow[]): Record<string, number> {
  return Object.fromEntries(
    sumsOf(rows).map(({ organizationId, minutes, slot, keyId, model, provider, requests }) => [
      [organizationId, minutes, slot, keyId, model, provider].join(' '),
      requests,
    ]),
  )
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
  ]
  expect(requestsOf(rows)).toEqual({
    'org 15 0 key maker/model acme': 4,
    'org 15 1 key maker/model acme': 1,
    'org 60 0 key maker/model acme': 5,
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
  })
})

test('only answered calls have times', () => {
  const [quarter] = sumsOf([
    rowOf(0),
    rowOf(1, { outcome: 'failed' }),
    rowOf(2, { outcome: 'refused' }),
    rowOf(3, { outcome: 'cancelled' }),
  ])
  expect(quarter).toMatchObject({ requests: 4, failed: 1, refused: 1, cancelled: 1 })
  expect(quarter?.bins.reduce((sum, count) => sum + count, 0)).toBe(1)
})
