import { afterEach, describe, expect, test } from 'bun:test'
import { batchOf, create, upload, World } from '../../../test/simulation/batches-world.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { segmentLeaseMs } from './worker.ts'
import { GuardFailed } from '../../storage/database.ts'
import type { Database, Statement } from '../../storage/database.ts'
import { countItems, moveBatch } from '../batch-repository.ts'
import { withBits } from '../results/bitmap.ts'
import { createPartRepository } from '../results/part-repository.ts'
import type { SegmentLease } from './segment-repository.ts'
import {
  commitPart,
  createSegmentRepository,
  finishSegment,
  giveSegments,
  leaseSegment,
  renewLeases,
  takeGiven,
  toLease,
} from './segment-repository.ts'

const noCounts = { completed: 0, failed: 0, cancelled: 0, expired: 0, outputBytes: 0, errorBytes: 0 }

eachDatabase((_name, open) => {
  let world: World
  afterEach(() => world.close())

  async function running(items = 10): Promise<{ database: Database; batchId: string }> {
    world = new World(open)
    const process = await world.process()
    const { id } = await create(process, upload(batchOf(items)))
    await process.database.commit({ name: 'test', statements: [moveBatch(id, 'validating', 'in_progress')] })
    return { database: process.database, batchId: id }
  }

  async function lease(database: Database, batchId: string, owner = 'me'): Promise<SegmentLease | null> {
    const [rows] = await database.commit({
      name: 'test',
      statements: [leaseSegment(batchId, owner, { leaseMs: segmentLeaseMs, live: 'all' })],
    })
    return rows?.[0] ? toLease(rows[0]) : null
  }

  async function guardOf(database: Database, ...statements: Statement[]): Promise<string | null> {
    try {
      await database.commit({ name: 'test', statements })
      return null
    } catch (thrown) {
      if (thrown instanceof GuardFailed) return thrown.guard
      throw thrown
    }
  }

  let parts = 0
  function partOf(
    from: SegmentLease,
    items: number[],
    change: { before?: Uint8Array; owner?: string } = {},
  ): Statement[] {
    const before = change.before ?? from.done
    const { claim, insert } = commitPart({
      part: {
        id: `part_${++parts}_${Math.random()}`,
        batchId: from.batchId,
        segmentOrdinal: from.ordinal,
        sequence: 0,
        itemCount: items.length,
        blob: null,
        inlineBody: new Uint8Array([1]),
        bytes: 1,
      },
      epoch: from.epoch,
      owner: change.owner ?? 'me',
      before,
      after: withBits(before, items),
      failedCount: 0,
    })
    const counts = { ...noCounts, completed: items.length }
    return [claim, countItems(from.batchId, counts), insert]
  }

  describe('a segment', () => {
    test('has one owner at a time, under an epoch that rises', async () => {
      const { database, batchId } = await running()
      const first = await lease(database, batchId)
      expect(first).toMatchObject({ epoch: 1, itemCount: 10, doneCount: 0 })
      expect(await lease(database, batchId, 'other')).toBeNull()
      await world.advance(segmentLeaseMs - 1)
      expect(await lease(database, batchId, 'other')).toBeNull()
      const renewal = renewLeases('me', segmentLeaseMs, first === null ? [] : [first])
      const [renewed] = await database.commit({ name: 'test', statements: [renewal] })
      expect(renewed).toHaveLength(1)
      await world.advance(segmentLeaseMs)
      expect(await lease(database, batchId, 'other')).toMatchObject({ epoch: 2 })
      const [lost] = await database.commit({ name: 'test', statements: [renewal] })
      expect(lost).toEqual([])
    })

    test('a part under an old epoch is refused, also when the same process has the segment again', async () => {
      const { database, batchId } = await running()
      const old = (await lease(database, batchId)) as SegmentLease
      await world.advance(segmentLeaseMs)
      const current = (await lease(database, batchId)) as SegmentLease
      expect(await guardOf(database, ...partOf(old, [0]))).toBe('segment_lease')
      expect(await guardOf(database, ...partOf(current, [0]))).toBeNull()
    })

    test("that a provider's job has takes no part of a driver before the one that collects now", async () => {
      const { database, batchId } = await running()
      const take = async () => {
        const [rows = []] = await database.commit({ name: 'test', statements: [takeGiven(batchId, 'job_1')] })
        return rows.map(toLease)[0] as SegmentLease
      }
      await database.commit({ name: 'test', statements: [giveSegments(batchId, 'job_1', [0])] })
      expect(await lease(database, batchId)).toBeNull()
      const before = await take()
      const now = await take()
      expect(now.epoch).toBe(before.epoch + 1)
      const ofJob = { owner: 'job_1' }
      expect(await guardOf(database, ...partOf(before, [0], ofJob))).toBe('segment_lease')
      expect(await guardOf(database, ...partOf(now, [0], ofJob))).toBeNull()
    })

    test('a part with items that were finished meanwhile is refused', async () => {
      const { database, batchId } = await running()
      const current = (await lease(database, batchId)) as SegmentLease
      expect(await guardOf(database, ...partOf(current, [0, 3]))).toBeNull()
      // The bitmap in memory is out of date here: item 3 would be finished twice.
      expect(await guardOf(database, ...partOf(current, [3, 4]))).toBe('segment_lease')
      expect(
        await guardOf(
          database,
          ...partOf(current, [4], { owner: 'other', before: withBits(current.done, [0, 3]) }),
        ),
      ).toBe('segment_lease')
      expect(
        await guardOf(database, ...partOf(current, [4], { before: withBits(current.done, [0, 3]) })),
      ).toBeNull()
      const rows = await database.query<{ done_count: number }>('select done_count from segments')
      expect(rows).toEqual([{ done_count: 3 }])
    })

    test('is finished only when every item is', async () => {
      const { database, batchId } = await running()
      const current = (await lease(database, batchId)) as SegmentLease
      const finish = finishSegment(current, 'me', { blob: 'merged/x/y', indexJson: '{}' })
      expect(await guardOf(database, finish)).toBe('segment_lease')
      await guardOf(
        database,
        ...partOf(
          current,
          Array.from({ length: 10 }, (_, item) => item),
        ),
      )
      expect(await guardOf(database, finish)).toBeNull()
      expect(await createSegmentRepository(database).hasOpen(batchId)).toBe(false)
    })

    test('of a batch that ended accepts no part', async () => {
      const { database, batchId } = await running()
      const current = (await lease(database, batchId)) as SegmentLease
      await database.commit({ name: 'test', statements: [moveBatch(batchId, 'in_progress', 'finalizing')] })
      expect(await guardOf(database, ...partOf(current, [0]))).toBe('batch_status')
    })
  })

  test('parts committed at once are numbered without gaps, so that a cursor skips none', async () => {
    const { database, batchId } = await running(2_000)
    const other = await world.openDatabase()
    const leases = [await lease(database, batchId), await lease(database, batchId)] as SegmentLease[]
    const commits = leases.map(async (first, index) => {
      let done = first.done
      for (let item = 0; item < 10; item++) {
        const statements = partOf(first, [item], { before: done })
        expect(await guardOf(index === 0 ? database : other, ...statements)).toBeNull()
        done = withBits(done, [item])
      }
    })
    await Promise.all(commits)
    const found = await createPartRepository(database).listAfter(batchId, 0, 100)
    expect(found.map((part) => part.sequence)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
  })
})
