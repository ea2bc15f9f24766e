import { expect, test } from 'bun:test'
import { eachDatabase } from '../../test/support/databases.ts'
import { newId } from '../core/ids.ts'
import type { Database } from '../storage/database.ts'
import { GuardFailed } from '../storage/database.ts'
import { commitPart, insertSegments, leaseSegment, toLease } from './segment-repository.ts'
import type { SegmentLease } from './segment-repository.ts'

const owner = 'owner_a'

async function leased(database: Database, leaseMs: number): Promise<SegmentLease> {
  const batchId = newId('batch', 1)
  const draft = { ordinal: 0, firstItem: 0, itemCount: 8, blob: 'segments/b/x', blobBytes: 1 }
  await database.commit({ name: 'test.segment', statements: [insertSegments(batchId, [draft])] })
  return lease(database, batchId, leaseMs)
}

async function lease(database: Database, batchId: string, leaseMs: number): Promise<SegmentLease> {
  const rows = await database.commit({
    name: 'test.lease',
    statements: [leaseSegment(batchId, owner, leaseMs)],
  })
  return toLease(rows[0]?.[0] ?? {})
}

/** Commits a part with the items whose bits are set; resolves with the failed guard, or null. */
async function commit(
  database: Database,
  { batchId, epoch }: SegmentLease,
  { before, after }: { before: number; after: number },
): Promise<string | null> {
  const part = {
    id: newId('part', 1),
    batchId,
    segmentOrdinal: 0,
    sequence: 0,
    itemCount: 1,
    blob: null,
    inlineBody: new Uint8Array([1]),
    bytes: 1,
  }
  const bits = { before: new Uint8Array([before]), after: new Uint8Array([after]) }
  const { claim, insert } = commitPart({ part, epoch, owner, ...bits, failedCount: 0 })
  try {
    await database.commit({ name: 'test.part', statements: [claim, insert] })
    return null
  } catch (error) {
    if (error instanceof GuardFailed) return error.guard
    throw error
  }
}

eachDatabase((_name, open) => {
  test('a part under an old epoch is refused, also when the same process has the segment again', async () => {
    const database = await open()
    // A lease that is over at once, so that the segment can be leased again under the next epoch.
    const old = await leased(database, 0)
    const current = await lease(database, old.batchId, 60_000)
    expect(current.epoch).toBe(old.epoch + 1)
    expect(await commit(database, old, { before: 0, after: 1 })).toBe('segment_lease')
    expect(await commit(database, current, { before: 0, after: 1 })).toBeNull()
  })

  test('a part with items that were finished meanwhile is refused', async () => {
    const database = await open()
    const current = await leased(database, 60_000)
    expect(await commit(database, current, { before: 0, after: 0b01 })).toBeNull()
    expect(await commit(database, current, { before: 0, after: 0b11 })).toBe('segment_lease')
    expect(await commit(database, current, { before: 0b01, after: 0b11 })).toBeNull()
    const [row] = await database.query('select count(*) as parts from parts where batch_id = $1', [
      current.batchId,
    ])
    expect(Number(row?.['parts'])).toBe(2)
  })
})
