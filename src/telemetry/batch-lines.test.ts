import { expect, test } from 'bun:test'
import { createBatchLines, batchLineEveryMs } from './batch-lines.ts'
import type { AttemptLine } from './call-line.ts'

function setUp() {
  const clock = { ms: 0, nowMs: () => clock.ms, monotonicMs: () => clock.ms }
  const lines: unknown[] = []
  const batchLines = createBatchLines({
    clock,
    log: { warn: (message, facts) => void lines.push({ message, ...facts }) },
  })
  const fail = (batchId: string, more: Partial<AttemptLine> = {}) =>
    batchLines.record(batchId, {
      tried: [
        {
          deployment: 'acme',
          model: 'acme/chat',
          status: 400,
          outcome: 'failed',
          errorType: 'invalid_request',
          said: 'Unknown member "x".',
          ...more,
        },
      ],
    })
  return { clock, lines, fail }
}

test('a provider that fails many items of a batch is one line, and later one that counts the others', () => {
  const { clock, lines, fail } = setUp()
  for (let item = 0; item < 100; item += 1) {
    fail('batch_1')
    clock.ms += 1_000
  }
  expect(lines).toEqual([
    {
      message: 'a provider fails items of a batch',
      batch_id: 'batch_1',
      deployment: 'acme',
      model: 'acme/chat',
      status: 400,
      error_type: 'invalid_request',
      failures: 1,
      said: 'Unknown member "x".',
    },
  ])
  clock.ms = batchLineEveryMs
  fail('batch_1')
  expect(lines.slice(1)).toMatchObject([{ failures: 100 }])
})

test('another batch, deployment or type of error has its own line; successful and cancelled items have none', () => {
  const { lines, fail } = setUp()
  fail('batch_1')
  fail('batch_2')
  fail('batch_1', { deployment: 'other' })
  fail('batch_1', { errorType: 'provider_failed', status: null, said: null })
  fail('batch_1', { outcome: 'answered' })
  fail('batch_3', { outcome: 'cancelled' })
  expect(lines).toHaveLength(4)
  expect(lines.at(-1)).not.toHaveProperty('said')
  expect(lines.at(-1)).not.toHaveProperty('status')
})
