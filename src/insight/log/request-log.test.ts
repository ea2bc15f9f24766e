import { expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { CallLine, RequestLine } from '../../telemetry/call-line.ts'
import { createRequestLog, logRowsMax } from './request-log.ts'
import type { LogUnit, RequestLogRepository } from './request-log-repository.ts'

const refused: CallLine = {
  generationId: null,
  operation: 'chat_completions',
  model: 'acme/large',
  provider: null,
  attempts: 0,
  tried: [],
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costNanocredits: null,
  isEstimated: false,
  uncoveredNanocredits: 0n,
  isCancelled: false,
  firstByteMs: null,
  errorType: 'invalid_request',
  story: null,
}

function lineOf(): RequestLine {
  const asker = { organizationId: 'org_a', keyId: 'key_a', clientAddress: '203.0.113.7' }
  const requestId = newId('req', Date.now())
  return { requestId, route: 'chat_completions', status: 400, durationMs: 1, asker, facts: refused }
}

/** A log whose timer never runs, and what it writes; a write ends when `finish` is called. */
function openLog() {
  const written: LogUnit[] = []
  const waiting: (() => void)[] = []
  const repository: RequestLogRepository = {
    write(unit) {
      written.push(unit)
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      return promise
    },
    nextOrganization: () => Promise.resolve(null),
    deleteRows: () => Promise.resolve(0),
    deleteSums: () => Promise.resolve(0),
    deleteAnonymous: () => Promise.resolve(0),
  }
  const log = createRequestLog({
    repository,
    clock: systemClock,
    callRoutes: new Set(),
    keptMs: 1,
    storageQueue: () => 0,
    report: () => undefined,
  })
  const finish = async (): Promise<void> => {
    for (const end of waiting.splice(0)) end()
    await Bun.sleep(0)
  }
  const add = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) log.request(lineOf())
    await Bun.sleep(0)
  }
  const sizes = () => written.map(({ rows }) => rows.length)
  return { log, written, finish, add, sizes }
}

test('a unit that is full is written without waiting for the others of its half second', async () => {
  const { log, finish, add, sizes } = openLog()
  await add(logRowsMax - 1)
  expect(sizes()).toEqual([])
  await add(1)
  expect(sizes()).toEqual([logRowsMax])
  expect(log.stats()).toEqual({ queued: 0, dropped: 0 })
  await finish()
})

test('one unit is written at a time, and every row once with its sums', async () => {
  const { log, written, finish, add, sizes } = openLog()
  await add(logRowsMax + 7)
  await add(logRowsMax * 2)
  // The write that runs had these rows alone when it began.
  expect(sizes()).toEqual([logRowsMax])
  await finish()
  await add(1)
  expect(sizes()).toEqual([logRowsMax, logRowsMax])
  for (let unit = 0; unit < 4; unit += 1) await finish()
  const stopped = log.stop()
  for (let unit = 0; unit < 4; unit += 1) await finish()
  await stopped
  const all = logRowsMax * 3 + 8
  expect(new Set(written.flatMap(({ rows }) => rows.map(({ requestId }) => requestId))).size).toBe(all)
  expect(sizes().reduce((sum, size) => sum + size, 0)).toBe(all)
  const refusals = written.flatMap(({ sums }) => sums.hours.filter(({ scope }) => scope === 'models'))
  expect(refusals.reduce((sum, { refused: count }) => sum + count, 0)).toBe(all)
})
