import type { BatchId } from '../../core/ids.ts'
import type { Database, Row, Statement } from '../../storage/database.ts'
import type { ResultPart } from '../results/part-repository.ts'
import { insertPart } from '../results/part-repository.ts'
import { batchOfBlob } from '../results/payloads.ts'

/** A segment as ingest stores it: its items, compressed, in one blob. */
export interface SegmentDraft {
  ordinal: number
  /** The first item's place in the batch, from 0. */
  firstItem: number
  itemCount: number
  blob: string
  blobBytes: number
  /** Set where its items start beside the provider's jobs that run the batch. */
  lane?: 'emulated'
}

/** A segment leased to this process. The epoch rises at every change of owner and fences late results. */
export interface SegmentLease extends SegmentDraft {
  batchId: BatchId
  epoch: number
  /** Bit n is set when item n of the segment has its result. */
  done: Uint8Array
  doneCount: number
}

/** One independently compressed block of a merged segment: consecutive items, in input order. */
export interface MergedBlock {
  itemCount: number
  offset: number
  bytes: number
}

/** A finished segment for readers. */
export interface MergedSegment {
  ordinal: number
  blob: string
  indexJson: string
}

/** The changes that a part makes to its segment. */
export interface PartCommit {
  part: ResultPart
  epoch: number
  owner: string
  before: Uint8Array
  after: Uint8Array
  failedCount: number
}

/** A segment that a job may have. */
export interface FreeSegment {
  ordinal: number
  firstItem: number
  openItems: number
}

/** The guard of all statements of a segment's owner. It fails when the lease was taken over or the items were finished before. */
export const leaseGuard = 'segment_lease'

/** Reads of the table `segments`. */
export interface SegmentRepository {
  /** Whether a segment of the batch is free to be leased. */
  hasFree(batchId: BatchId, live: LiveSegments): Promise<boolean>
  /** Segments of a native batch that no job has, with their unfinished items. */
  listForJob(batchId: BatchId, limit: number): Promise<FreeSegment[]>
  /** Unfinished items of the segments that a job has. */
  countOpen(batchId: BatchId, jobId: string): Promise<number>
  /** Whether a segment of the batch is not done. */
  hasOpen(batchId: BatchId): Promise<boolean>
  /** Owners of leases that have not run out, except this process. */
  listOwners(except: string): Promise<string[]>
  /** Finished segments in input order, from `fromOrdinal`. */
  listMerged(batchId: BatchId, fromOrdinal: number, limit: number): Promise<MergedSegment[]>
  /** Segments as they were stored, with what is done of them, from `fromOrdinal`. */
  listStored(batchId: BatchId, fromOrdinal: number, limit: number): Promise<SegmentLease[]>
  /** Some segments of a batch that is to be purged, with their blobs; empty when none are left. */
  listPurgeable(batchId: BatchId, limit: number): Promise<{ ordinals: number[]; blobs: string[] }>
  /** Whether a segment names this blob. */
  isReferenced(blob: string): Promise<boolean>
}

export function createSegmentRepository(database: Database): SegmentRepository {
  const exists = async (sql: string, params: (string | number)[]): Promise<boolean> =>
    (await database.query(`${sql} limit 1`, params)).length > 0
  return {
    hasFree: (batchId, live) =>
      exists(`select 1 as found from segments where batch_id = $1 and ${isFree(live)}`, [batchId]),
    async listForJob(batchId, limit) {
      const rows = await database.query<
        Record<'ordinal' | 'first_item' | 'item_count' | 'done_count', number>
      >(
        `select ordinal, first_item, item_count, done_count from segments where batch_id = $1 and ${isForJob} order by ordinal limit $2`,
        [batchId, limit],
      )
      return rows.map((row) => ({
        ordinal: row.ordinal,
        firstItem: row.first_item,
        openItems: row.item_count - row.done_count,
      }))
    },
    async countOpen(batchId, jobId) {
      const [row] = await database.query<{ open: number }>(
        `select cast(coalesce(sum(item_count - done_count), 0) as bigint) as open from segments
         where batch_id = $1 and owner_id = $2 and state = 'given'`,
        [batchId, jobId],
      )
      return row?.open ?? 0
    },
    hasOpen: (batchId) =>
      exists(`select 1 as found from segments where batch_id = $1 and state <> 'done'`, [batchId]),
    async listOwners(except) {
      const rows = await database.query<{ owner_id: string }>(
        `select distinct owner_id from segments
         where state = 'running' and lease_until_ms > now_ms() and owner_id <> $1 limit 1000`,
        [except],
      )
      return rows.map((row) => row.owner_id)
    },
    async listMerged(batchId, fromOrdinal, limit) {
      const rows = await database.query(
        `select ordinal, merged_blob, merged_index_json from segments
         where batch_id = $1 and ordinal >= $2 and state = 'done' order by ordinal limit $3`,
        [batchId, fromOrdinal, limit],
      )
      return rows.map((row) => ({
        ordinal: Number(row['ordinal']),
        blob: String(row['merged_blob']),
        indexJson: String(row['merged_index_json']),
      }))
    },
    async listStored(batchId, fromOrdinal, limit) {
      const sql = `select * from segments where batch_id = $1 and ordinal >= $2 order by ordinal limit $3`
      return (await database.query(sql, [batchId, fromOrdinal, limit])).map(toLease)
    },
    async listPurgeable(batchId, limit) {
      const rows = await database.query<{ ordinal: number; blob: string; merged_blob: string | null }>(
        `select ordinal, blob, merged_blob from segments where batch_id = $1 order by ordinal limit $2`,
        [batchId, limit],
      )
      const blobs = rows.flatMap((row) => [row.blob, row.merged_blob]).filter((blob) => blob !== null)
      return { ordinals: rows.map((row) => row.ordinal), blobs }
    },
    isReferenced: (blob) =>
      exists(`select 1 as found from segments where batch_id = $1 and (blob = $2 or merged_blob = $2)`, [
        batchOfBlob(blob),
        blob,
      ]),
  }
}

/** All segments of a new batch. */
export function insertSegments(batchId: BatchId, segments: readonly SegmentDraft[]): Statement {
  return {
    sql: `insert into segments (batch_id, ordinal, first_item, item_count, blob, blob_bytes, state, done_bitmap, lane)
      values ($1, $2, $3, $4, $5, $6, 'pending', $7, $8)`,
    rows: segments.map((segment) => [
      batchId,
      segment.ordinal,
      segment.firstItem,
      segment.itemCount,
      segment.blob,
      segment.blobBytes,
      new Uint8Array(Math.ceil(segment.itemCount / 8)),
      segment.lane ?? null,
    ]),
  }
}

/**
 * Which free segments of a batch a worker may lease. `moved`: of a batch in a provider's lane, those whose items were moved
 * out of it, and those that only have to be merged.
 */
export type LiveSegments = 'all' | 'moved'

function isFree(live: LiveSegments): string {
  const moved = live === 'moved' ? ` and (lane is not null or done_count = item_count)` : ''
  return `state <> 'done' and lease_until_ms <= now_ms()${moved}`
}

const isForJob = `state = 'pending' and lease_until_ms <= now_ms() and lane is null and done_count < item_count`

/** The lease of a segment that a job owns does not run out. */
const givenUntilMs = 8_000_000_000_000_000

/** Gives segments to a job, under a new epoch; refused unless all of them are free. */
export function giveSegments(batchId: BatchId, jobId: string, ordinals: readonly number[]): Statement {
  const places = ordinals.map((_, index) => `$${index + 4}`).join(', ')
  return {
    sql: `update segments set state = 'given', owner_id = $1, epoch = epoch + 1, lease_until_ms = $2
      where batch_id = $3 and ordinal in (${places}) and ${isForJob}`,
    params: [jobId, givenUntilMs, batchId, ...ordinals],
    expect: ordinals.length,
    guard: leaseGuard,
  }
}

/** The segments of a job for the process that drives it now: under a new epoch, so that a driver before commits nothing more. */
export function takeGiven(batchId: BatchId, jobId: string): Statement {
  return {
    sql: `update segments set epoch = epoch + 1 where batch_id = $1 and owner_id = $2 and state = 'given' returning *`,
    params: [batchId, jobId],
  }
}

/** Moves the items of segments that no job has to the emulated lane; refused when a job has one of them by now. */
export function moveSegments(batchId: BatchId, ordinals: readonly number[]): Statement {
  const places = ordinals.map((_, index) => `$${index + 2}`).join(', ')
  return {
    sql: `update segments set lane = 'emulated' where batch_id = $1 and ordinal in (${places}) and ${isForJob}`,
    params: [batchId, ...ordinals],
    expect: ordinals.length,
    guard: leaseGuard,
  }
}

/** Ends a job's ownership of segments, from this ordinal on; `lane` is where their unfinished items go on, null for the batch's own. */
export function returnGiven(
  batchId: BatchId,
  jobId: string,
  { from, lane }: { from: number; lane: 'emulated' | null },
): Statement {
  return {
    sql: `update segments set state = 'pending', owner_id = null, lease_until_ms = 0, lane = $1
      where batch_id = $2 and owner_id = $3 and state = 'given' and ordinal >= $4`,
    params: [lane, batchId, jobId, from],
  }
}

/** Leases the first free segment of a batch, if there is one, under a new epoch. */
export function leaseSegment(
  batchId: BatchId,
  owner: string,
  { leaseMs, live }: { leaseMs: number; live: LiveSegments },
): Statement {
  return {
    sql: `update segments set state = 'running', owner_id = $1, epoch = epoch + 1, lease_until_ms = now_ms() + cast($2 as bigint)
      where batch_id = $3 and ${isFree(live)} and ordinal = (
        select ordinal from segments where batch_id = $3 and ${isFree(live)}
        order by ordinal limit 1 {{for_update_skip_locked}})
      returning *`,
    params: [owner, leaseMs, batchId],
  }
}

/**
 * Prolongs these leases if this process still has them; those that are not returned are lost. Other leases of this
 * process must run out: nobody works on a lease whose commit got no answer, or that could not be given back.
 */
export function renewLeases(
  owner: string,
  leaseMs: number,
  leases: readonly Pick<SegmentLease, 'batchId' | 'ordinal' | 'epoch'>[],
): Statement {
  const each = leases.map((_, index) => {
    const first = index * 3 + 3
    return `(batch_id = $${first} and ordinal = $${first + 1} and epoch = $${first + 2})`
  })
  return {
    sql: `update segments set lease_until_ms = now_ms() + cast($1 as bigint)
      where owner_id = $2 and state = 'running' and (${each.join(' or ')})
      returning batch_id, ordinal, epoch`,
    params: [leaseMs, owner, ...leases.flatMap(({ batchId, ordinal, epoch }) => [batchId, ordinal, epoch])],
  }
}

/** Ends the leases of an owner that is known to be dead. */
export function freeLeases(owner: string): Statement {
  return {
    sql: `update segments set state = 'pending', owner_id = null, lease_until_ms = 0
      where owner_id = $1 and state = 'running'`,
    params: [owner],
  }
}

/** Gives a segment back, to be leased again after `restMs`. Does nothing when another owner has taken it over. */
export function returnSegment(lease: SegmentLease, owner: string, restMs: number): Statement {
  return {
    sql: `update segments set state = 'pending', owner_id = null,
        lease_until_ms = case when cast($1 as bigint) > 0 then now_ms() + cast($1 as bigint) else 0 end
      where batch_id = $2 and ordinal = $3 and epoch = $4 and owner_id = $5 and state = 'running'`,
    params: [restMs, lease.batchId, lease.ordinal, lease.epoch, owner],
  }
}

/** Ends the rests of a batch's segments, so that they are closed at once; null: of all batches whose deadline has passed. */
export function endRests(batchId: BatchId | null): Statement {
  const overdue = `select batch_id from batches where status in ('validating', 'in_progress') and expires_at_ms <= now_ms()`
  return {
    sql: `update segments set lease_until_ms = 0
      where state = 'pending' and lease_until_ms > 0 and batch_id ${batchId === null ? `in (${overdue})` : '= $1'}`,
    params: batchId === null ? [] : [batchId],
  }
}

/**
 * The statements that commit a part. Items enter the bitmap only under the current epoch, and only when none of them was
 * in it before: the row's bitmap must equal the one that this owner knows.
 */
export function commitPart(commit: PartCommit): { claim: Statement; insert: Statement } {
  const { part } = commit
  return {
    claim: {
      sql: `update segments set done_bitmap = $1, done_count = done_count + $2, failed_count = failed_count + $3
        where batch_id = $4 and ordinal = $5 and epoch = $6 and owner_id = $7 and state in ('running', 'given') and done_bitmap = $8`,
      params: [
        commit.after,
        part.itemCount,
        commit.failedCount,
        part.batchId,
        part.segmentOrdinal,
        commit.epoch,
        commit.owner,
        commit.before,
      ],
      expect: 1,
      guard: leaseGuard,
    },
    insert: insertPart(part, commit.epoch),
  }
}

/** Ends a segment whose items all have results: the merged blob replaces the parts. */
export function finishSegment(
  lease: SegmentLease,
  owner: string,
  merged: { blob: string; indexJson: string },
): Statement {
  return {
    sql: `update segments set state = 'done', merged_blob = $1, merged_index_json = $2, lease_until_ms = 0
      where batch_id = $3 and ordinal = $4 and epoch = $5 and owner_id = $6 and state = 'running'
        and done_count = item_count`,
    params: [merged.blob, merged.indexJson, lease.batchId, lease.ordinal, lease.epoch, owner],
    expect: 1,
    guard: leaseGuard,
  }
}

/** Removes rows of a deleted batch, after their blobs. */
export function purgeSegments(batchId: BatchId, ordinals: readonly number[]): Statement {
  const places = ordinals.map((_, index) => `$${index + 2}`).join(', ')
  return {
    sql: `delete from segments where batch_id = $1 and ordinal in (${places})`,
    params: [batchId, ...ordinals],
  }
}

/** A leased row as a value. */
export function toLease(row: Row): SegmentLease {
  return {
    batchId: String(row['batch_id']),
    ordinal: Number(row['ordinal']),
    firstItem: Number(row['first_item']),
    itemCount: Number(row['item_count']),
    blob: String(row['blob']),
    blobBytes: Number(row['blob_bytes']),
    epoch: Number(row['epoch']),
    done: row['done_bitmap'] as Uint8Array,
    doneCount: Number(row['done_count']),
  }
}
