import { expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { CallLine, RequestLine } from '../../telemetry/call-line.ts'
import { createRequestLog, logGatherMs, logQueueMax, logRowsMax } from './request-log.ts'
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

function lineOf(own: Partial<RequestLine['asker']> = {}): RequestLine {
  const asker = { organizationId: 'org_a', keyId: 'key_a', clientAddress: '203.0.113.7', ...own }
  const requestId = newId('req', Date.now())
  return { requestId, route: 'chat_completions', status: 400, durationMs: 1, asker, facts: refused }
}

/** A log whose timer does not run unless it is started, and what it writes; a write ends when `finish` is called. */
function openLog({ storageQueue = () => 0 }: { storageQueue?: () => number } = {}) {
  const written: LogUnit[] = []
  const reported: unknown[] = []
  const waiting: PromiseWithResolvers<void>[] = []
  const repository: RequestLogRepository = {
    write(unit) {
      written.push(unit)
      const writing = Promise.withResolvers<void>()
      waiting.push(writing)
      return writing.promise
    },
    nextOrganization: () => Promise.resolve(null),
    deleteRows: () => Promise.resolve(0),
    deleteSums: () => Promise.resolve(0),
    deleteAnonymous: () => Promise.resolve(0),
  }
  const log = createRequestLog({
    repository,
    clock: systemClock,
    callRoutes: new Set(['chat_completions']),
    keptMs: 1,
    storageQueue,
    report: (cause) => reported.push(cause),
  })
  const finish = async (): Promise<void> => {
    for (const { resolve } of waiting.splice(0)) resolve()
    await Bun.sleep(0)
  }
  const fail = async (): Promise<void> => {
    for (const { reject } of waiting.splice(0)) reject(new Error('the disk is full'))
    await Bun.sleep(0)
  }
  const add = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) log.request(lineOf())
    await Bun.sleep(0)
  }
  const stop = async (): Promise<void> => {
    const stopped = log.stop()
    for (let unit = 0; unit < 200; unit += 1) await finish()
    await stopped
  }
  const sizes = () => written.map(({ rows }) => rows.length)
  const refusals = () =>
    written
      .flatMap(({ sums }) => sums.hours.filter(({ scope }) => scope === 'models'))
      .reduce((sum, { refused: count }) => sum + count, 0)
  return { log, written, reported, finish, fail, add, stop, sizes, refusals }
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

test('items of batches fill units as requests do', async () => {
  const { log, finish, sizes, stop } = openLog()
  const item = { batchId: 'batch_a', organizationId: 'org_a', keyId: 'key_a' }
  for (let each = 0; each < logRowsMax; each += 1)
    log.item({ ...item, requestId: newId('req', Date.now()), durationMs: 1 }, refused)
  await finish()
  expect(sizes()).toEqual([logRowsMax])
  await finish()
  for (let each = 0; each < logRowsMax; each += 1)
    log.itemOfJob({ ...item, requestId: newId('req', Date.now()) }, refused)()
  await finish()
  expect(sizes()).toEqual([logRowsMax, logRowsMax])
  await stop()
})

test('one unit is written at a time, and every row once with its sums', async () => {
  const { written, finish, add, sizes, stop, refusals } = openLog()
  await add(logRowsMax + 7)
  await add(logRowsMax * 2)
  // The write that runs had these rows alone when it began.
  expect(sizes()).toEqual([logRowsMax])
  await finish()
  await add(1)
  expect(sizes()).toEqual([logRowsMax, logRowsMax])
  await stop()
  const all = logRowsMax * 3 + 8
  expect(new Set(written.flatMap(({ rows }) => rows.map(({ requestId }) => requestId))).size).toBe(all)
  expect(sizes().reduce((sum, size) => sum + size, 0)).toBe(all)
  expect(refusals()).toBe(all)
})

test('sums and counts of addresses are written once for each half second, not with each full unit', async () => {
  const { log, written, finish, add, refusals, stop } = openLog()
  // More addresses than are counted one by one, between rows that fill units.
  for (let address = 0; address < 3_000; address += 1) {
    log.request(lineOf({ organizationId: null, clientAddress: `2001:db8::${address.toString(16)}` }))
    if (address % 2 === 0) log.request(lineOf())
    if (address % 100 === 0) await finish()
  }
  expect(written.length).toBeGreaterThan(3)
  expect(refusals()).toBe(0)
  expect(written.flatMap(({ anonymous }) => anonymous)).toEqual([])
  await finish()
  log.start()
  for (let each = 0; each < 20 && refusals() === 0; each += 1) {
    await Bun.sleep(logGatherMs / 4)
    await finish()
  }
  expect(refusals()).toBe(1_500)
  const counted = written.flatMap(({ anonymous }) => anonymous)
  // One minute may end meanwhile, and both have a count of all further addresses.
  expect(counted.length).toBeLessThanOrEqual(1_002)
  expect(counted.reduce((sum, { requests }) => sum + requests, 0)).toBe(3_000)
  await add(3)
  await stop()
  expect(refusals()).toBe(1_503)
})

test('the log stands back while captures wait for the database, and not when it stops', async () => {
  let isBusy = true
  const { add, sizes, stop } = openLog({ storageQueue: () => (isBusy ? 1_000 : 0) })
  await add(logRowsMax)
  await Bun.sleep(100)
  expect(sizes()).toEqual([])
  isBusy = false
  await Bun.sleep(100)
  expect(sizes()).toEqual([logRowsMax])
  isBusy = true
  await add(5)
  await stop()
  expect(sizes()).toEqual([logRowsMax, 5])
})

test('rows that cannot be written, and rows that find no room, are counted as dropped', async () => {
  const { log, add, fail, stop, reported, sizes } = openLog()
  for (const dropped of [1, 2]) {
    await add(logRowsMax)
    await fail()
    expect(log.stats()).toEqual({ queued: 0, dropped: dropped * logRowsMax })
    // The first failure of a streak is told, and not the others.
    expect(reported).toHaveLength(1)
  }
  await add(logRowsMax)
  await add(logQueueMax)
  expect(log.stats()).toEqual({ queued: logQueueMax, dropped: 2 * logRowsMax })
  await add(3)
  expect(log.stats()).toEqual({ queued: logQueueMax, dropped: 2 * logRowsMax + 3 })
  await stop()
  expect(sizes().reduce((sum, size) => sum + size, 0)).toBe(3 * logRowsMax + logQueueMax)
})
