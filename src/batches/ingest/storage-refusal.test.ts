import { segmentLeaseMs } from '../running/worker.ts'
import { segmentItemsMax } from './segment-writer.ts'
import { partInlineBytesMax } from '../results/part-writer.ts'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  answerOrWait,
  batchOf,
  create,
  itemCost,
  linesOf,
  resultsOf,
  runToEnd,
  upload,
  World,
} from '../../../test/simulation/batches-world.ts'
import type { Process } from '../../../test/simulation/batches-world.ts'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { newId } from '../../core/ids.ts'
import { resultsHoldMs } from '../../core/limits/batches.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { FolderBlobStore } from '../../storage/blobs/folder-blob-store.ts'
import { StorageFailure, storageUnavailable } from '../../storage/database.ts'
import { systemPause } from '../running/pause.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })
const prepaid = principalOf({ organizationId: 'org_a' })

/** A store that refuses what a test names, as a folder without permission does. */
class RefusingStore implements BlobStore {
  readonly #store: BlobStore
  refuses: (key: string) => boolean = () => false
  isBlind: (key: string) => boolean = () => false
  keeps: (key: string) => boolean = () => false
  refusals = 0

  constructor(world: World) {
    this.#store = new FolderBlobStore('/blobs', { files: world.files, clock: world.clock })
  }

  put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>) {
    if (!this.refuses(key)) return this.#store.put(key, content)
    this.refusals++
    return Promise.reject(storageUnavailable(new StorageFailure('permission denied', { code: 'EACCES' })))
  }
  get(key: string) {
    if (!this.isBlind(key)) return this.#store.get(key)
    return Promise.reject(storageUnavailable(new StorageFailure('input/output error', { code: 'EIO' })))
  }
  stream(key: string, range?: { offset?: number; length?: number }) {
    return this.#store.stream(key, range)
  }
  size(key: string) {
    return this.#store.size(key)
  }
  exists(key: string) {
    return this.#store.exists(key)
  }
  delete(key: string) {
    if (!this.keeps(key)) return this.#store.delete(key)
    return Promise.reject(storageUnavailable(new StorageFailure('permission denied', { code: 'EACCES' })))
  }
  list(prefix: string, page?: { after?: string; limit?: number }) {
    return this.#store.list(prefix, page)
  }
  removeUnfinished(beforeMs: number) {
    return this.#store.removeUnfinished(beforeMs)
  }
}

/** Too large and too random for a row. */
const large = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(partInlineBytesMax))).toString('base64')

async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5_000; turn++) {
    if (await condition()) return
    await systemPause(1)
  }
  throw new Error('what was waited for did not happen')
}

const isPart = (key: string): boolean => key.startsWith('parts/')
const isMerged = (key: string): boolean => key.startsWith('merged/')

eachDatabase((_name, open) => {
  let world: World
  let store: RefusingStore
  /** Items whose answers a provider was paid for. */
  let answered: string[]
  afterEach(() => world.close())

  /** A process whose answers are large, of the items named. */
  async function processOf(isLarge: (customId: string) => boolean): Promise<Process> {
    world = new World(open)
    store = new RefusingStore(world)
    answered = []
    const process = await world.process({
      blobs: store,
      behave: async (item, own) => {
        const outcome = await answerOrWait(item, own)
        if (outcome.response !== null) answered.push(item.customId)
        if (!isLarge(item.customId) || outcome.response === null) return outcome
        const body = Buffer.from(JSON.stringify({ echo: item.customId, text: large() }))
        return { ...outcome, response: { ...outcome.response, body } }
      },
    })
    await world.grant(process, itemCost * 10_000n)
    return process
  }

  async function available(process: Process): Promise<bigint> {
    const [budget] = await process.database.query<{ left_nanocredits: bigint }>(
      `select limit_nanocredits - granted_nanocredits as left_nanocredits from budgets where budget_id = 'credits:org_a'`,
    )
    return budget?.left_nanocredits ?? 0n
  }

  async function completed(process: Process, id: string): Promise<number> {
    return (await process.batches.get(prepaid, id)).object.request_counts.completed
  }

  /** A segment that was kept waiting is given back and rests, so one look may not be enough, nor one moment. */
  async function lookUntil(process: Process, condition: () => boolean | Promise<boolean>): Promise<void> {
    let looks = 0
    await waitFor(async () => {
      await process.batches.rounds.look()
      looks += 1
      if (looks % 100 === 0) await world.advance(1_000)
      return condition()
    })
  }

  /**
   * Runs the worker's checks and renewals for a time of the simulated clock, to which the machine's own time is
   * added.
   */
  async function pass(process: Process, ms: number): Promise<void> {
    const untilMs = world.clock.monotonicMs() + ms
    while (world.clock.monotonicMs() < untilMs) {
      await world.advance(segmentLeaseMs / 2)
      await process.batches.rounds.renew()
      await process.batches.rounds.look()
      await systemPause(2)
    }
  }

  describe('results that storage refuses', () => {
    test('are held until it takes them, and their items do not run again', async () => {
      const process = await processOf(() => true)
      store.refuses = isPart
      const { id } = await create(process, upload(batchOf(3)))
      await lookUntil(process, () => store.refusals > 0)
      await pass(process, resultsHoldMs / 2)
      expect(answered).toHaveLength(3)
      expect(process.reports.map(({ event }) => event)).toEqual(['batch_results_held'])
      store.refuses = () => false
      const ended = await runToEnd(process, tracked, id, world)
      expect(ended).toMatchObject({ status: 'completed', request_counts: { completed: 3, failed: 0 } })
      expect(await resultsOf(process, tracked, id)).toHaveLength(3)
      expect(answered).toHaveLength(3)
      expect(await world.findings(process)).toEqual([])
    }, 30_000)

    test('for good fail their batch, which has paid once for the stored results', async () => {
      // The first segment's answers fit into a row; none of the second segment's does.
      const process = await processOf((customId) => Number(customId.slice(5)) >= segmentItemsMax)
      store.refuses = isPart
      const { id } = await create(process, upload(batchOf(segmentItemsMax + 200), { principal: prepaid }))
      await lookUntil(
        process,
        async () => (await completed(process, id)) === segmentItemsMax && store.refusals > 0,
      )
      await pass(process, resultsHoldMs + segmentLeaseMs)
      const ended = await runToEnd(process, prepaid, id, world)
      expect(ended).toMatchObject({
        status: 'failed',
        request_counts: { total: segmentItemsMax + 200, completed: segmentItemsMax, failed: 200 },
        usage: { total_tokens: 15 * segmentItemsMax },
      })
      expect(ended.error?.message).toContain('could not store')
      expect((await process.batches.get(prepaid, id)).results).toBeNull()
      expect(await linesOf(process, prepaid, id)).toHaveLength(segmentItemsMax)
      expect(new Set(answered).size).toBe(answered.length)
      expect(answered.length).toBeLessThan(segmentItemsMax + 200)
      expect(await available(process)).toBe(itemCost * BigInt(10_000 - segmentItemsMax))
      expect(await world.findings(process)).toEqual([])
      expect(await process.batches.delete(prepaid, id)).toMatchObject({ id })
    }, 60_000)

    test('because the database is away are kept however long that takes', async () => {
      world = new World(open)
      let isAway = false
      const answers: string[] = []
      const process = await world.process({
        behave: async (item, own) => {
          answers.push(item.customId)
          isAway = true
          return answerOrWait(item, own)
        },
        wrapDatabase: (database) =>
          new Proxy(database, {
            get(target, name) {
              if (isAway && (name === 'query' || name === 'commit'))
                return () => Promise.reject(storageUnavailable(new StorageFailure('gone')))
              const member: unknown = Reflect.get(target, name, target)
              return typeof member === 'function' ? (member.bind(target) as unknown) : member
            },
          }),
      })
      const { id } = await create(process, upload(batchOf(1)))
      // The database goes away in the middle of the look, which may notice it.
      await process.batches.rounds.look().catch(() => undefined)
      await waitFor(() => process.reports.some(({ event }) => event === 'batch_results_held'))
      for (let hour = 0; hour < 3; hour++) {
        await world.advance(resultsHoldMs)
        await systemPause(20)
      }
      isAway = false
      expect(await runToEnd(process, tracked, id, world)).toMatchObject({ status: 'completed' })
      expect(answers).toEqual(['item-0'])
    }, 30_000)

    test('do not keep a process from stopping', async () => {
      const process = await processOf(() => true)
      store.refuses = isPart
      const { id } = await create(process, upload(batchOf(3), { principal: prepaid }))
      process.batches.start()
      await waitFor(() => store.refusals > 0)
      await process.batches.stop()
      await process.database.close()
      const next = await world.process({ blobs: store })
      store.refuses = () => false
      await next.batches.rounds.renew()
      const ended = await runToEnd(next, prepaid, id, world)
      expect(ended).toMatchObject({ status: 'completed', request_counts: { completed: 3 } })
    }, 30_000)

    test('when they are merged are merged later', async () => {
      const process = await processOf(() => false)
      store.refuses = isMerged
      const { id } = await create(process, upload(batchOf(3), { principal: prepaid }))
      await lookUntil(process, () => store.refusals > 0)
      await pass(process, resultsHoldMs)
      const tries = store.refusals
      expect(tries).toBeLessThan(100)
      store.refuses = () => false
      expect(await runToEnd(process, prepaid, id, world)).toMatchObject({ status: 'completed' })
      expect(answered).toHaveLength(3)
    }, 30_000)

    test('when they are merged do not keep a batch from ending', async () => {
      const process = await processOf(() => false)
      store.refuses = isMerged
      const { id } = await create(process, upload(batchOf(3), { principal: prepaid }))
      await lookUntil(process, () => store.refusals > 0)
      await process.batches.cancel(prepaid, id)
      await pass(process, resultsHoldMs + 4 * segmentLeaseMs)
      expect(await runToEnd(process, prepaid, id, world)).toMatchObject({
        status: 'failed',
        request_counts: { completed: 3, failed: 0 },
      })
      expect(await linesOf(process, prepaid, id)).toHaveLength(3)
      expect(await available(process)).toBe(itemCost * 9_997n)
      expect(await world.findings(process)).toEqual([])
    }, 30_000)
  })

  test('a blob that cannot be deleted does not stop the deletion of others', async () => {
    const process = await processOf(() => false)
    const orphan = `parts/batch_x/${newId('b', world.clock.nowMs())}`
    await store.put(orphan, Buffer.from('x'))
    const ids: string[] = []
    for (let index = 0; index < 2; index++) {
      const { id } = await create(process, upload(batchOf(1)))
      await runToEnd(process, tracked, id)
      await process.batches.delete(tracked, id)
      await world.advance(1_000)
      ids.push(id)
    }
    store.keeps = (key) => key.includes(ids[0] ?? '')
    for (let round = 0; round < 2; round++) {
      await world.advance(2 * 86_400_000)
      await expect(process.batches.rounds.cleanUp()).rejects.toThrow()
    }
    const left = world.files.paths()
    expect(left.length).toBeGreaterThan(0)
    expect(left.every((path) => path.includes(ids[0] ?? ''))).toBe(true)
    store.keeps = () => false
    await process.batches.rounds.cleanUp()
    expect(world.files.paths()).toEqual([])
  })

  test('a batch whose items cannot be read any more ends after its deadline, and its money returns', async () => {
    const process = await processOf(() => false)
    const { id } = await create(process, upload(batchOf(3), { principal: prepaid }))
    store.isBlind = (key) => key.startsWith('segments/')
    await process.batches.rounds.look()
    await world.advance(86_400_000)
    await pass(process, resultsHoldMs + 4 * segmentLeaseMs)
    expect(await runToEnd(process, prepaid, id, world)).toMatchObject({
      status: 'failed',
      request_counts: { total: 3, completed: 0, failed: 3 },
    })
    expect(answered).toEqual([])
    expect(await available(process)).toBe(itemCost * 10_000n)
    expect(await world.findings(process)).toEqual([])
  }, 30_000)
})
