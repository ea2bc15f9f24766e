import type { BatchId } from '../../core/ids.ts'
import type { Database, Row, Statement } from '../../storage/database.ts'
import type { SegmentLease } from './segment-repository.ts'
import type { Waiting } from '../../canonical/waiting.ts'

/** Reads of the table `waiting_items`. */
export interface WaitingRepository {
  /** What items of these batches wait for, in all processes, the most frequent first; batches without waiting items are left out. */
  listOf(batchIds: readonly BatchId[]): Promise<ReadonlyMap<BatchId, readonly Waiting[]>>
  /** What items of all batches wait for. */
  listAll(): Promise<Waiting[]>
}

const summed = `max(message) as message, cast(sum(items) as bigint) as items, min(since_ms) as since_ms,
  min(next_try_ms) as next_try_ms`

export function createWaitingRepository(database: Database): WaitingRepository {
  return {
    async listOf(batchIds) {
      const found = new Map<BatchId, Waiting[]>()
      if (batchIds.length === 0) return found
      const places = batchIds.map((_, index) => `$${index + 1}`).join(', ')
      const rows = await database.query(
        `select batch_id, error_type, ${summed} from waiting_items where batch_id in (${places})
         group by batch_id, error_type order by items desc, error_type`,
        batchIds,
      )
      for (const row of rows) {
        const batchId = String(row['batch_id'])
        found.set(batchId, [...(found.get(batchId) ?? []), toWaiting(row)])
      }
      return found
    },
    async listAll() {
      const rows = await database.query(
        `select error_type, ${summed} from waiting_items group by error_type order by error_type`,
      )
      return rows.map(toWaiting)
    },
  }
}

/**
 * Replaces a segment's note, if its lease still counts; only deletes it when nothing waits. With `keepsEarlier`, items
 * that the old note had as waiting keep the time at which they began to.
 */
export function noteWaitingItems(
  { batchId, ordinal, epoch }: SegmentLease,
  owner: string,
  { waiting, keepsEarlier }: { waiting: readonly Waiting[]; keepsEarlier: boolean },
): Statement[] {
  const isLeased = `segments where batch_id = $1 and ordinal = $2 and epoch = $3 and owner_id = $4 and state = 'running'`
  const lease = [batchId, ordinal, epoch, owner]
  const kept = waiting.map((_, index) => `$${index + 5}`).join(', ')
  return [
    {
      sql: `delete from waiting_items where batch_id = $1 and segment_ordinal = $2
        and exists (select 1 from ${isLeased})${kept === '' ? '' : ` and error_type not in (${kept})`}`,
      params: [...lease, ...waiting.map(({ type }) => type)],
    },
    ...waiting.map(({ type, message, items, sinceMs, nextTryMs }) => ({
      sql: `insert into waiting_items (batch_id, segment_ordinal, error_type, message, items, since_ms, next_try_ms)
        select batch_id, ordinal, cast($5 as text), cast($6 as text), cast($7 as bigint), cast($8 as bigint),
          cast($9 as bigint)
        from ${isLeased}
        on conflict (batch_id, segment_ordinal, error_type) do update set message = excluded.message,
          items = excluded.items, next_try_ms = excluded.next_try_ms,
          since_ms = case when ${keepsEarlier ? 1 : 0} = 1 and waiting_items.since_ms < excluded.since_ms
            then waiting_items.since_ms else excluded.since_ms end`,
      params: [...lease, type, message, items, sinceMs, nextTryMs],
    })),
  ]
}

/** Not the number of any segment: it stands for the whole batch, which waits in validation. */
const wholeBatch = -1

/** Records what all items of a batch in validation wait for. */
export function noteBatchWaiting(
  batchId: BatchId,
  { type, message, items, sinceMs, nextTryMs }: Waiting,
): Statement {
  return {
    sql: `insert into waiting_items (batch_id, segment_ordinal, error_type, message, items, since_ms, next_try_ms)
      select batch_id, cast($2 as bigint), cast($3 as text), cast($4 as text), cast($5 as bigint), cast($6 as bigint),
        cast($7 as bigint)
      from batches where batch_id = $1 and status = 'validating'
      on conflict (batch_id, segment_ordinal, error_type) do update set message = excluded.message,
        next_try_ms = excluded.next_try_ms`,
    params: [batchId, wholeBatch, type, message, items, sinceMs, nextTryMs],
  }
}

/** The segments that a job has. */
const ofJob = `segments where batch_id = $1 and owner_id = $2 and state = 'given'`

/** Records, at the first of its segments, what all open items of a job wait for. */
export function noteJobWaiting(
  { batchId, jobId }: { batchId: BatchId; jobId: string },
  { type, message, sinceMs, nextTryMs }: Omit<Waiting, 'items'>,
): Statement {
  return {
    sql: `insert into waiting_items (batch_id, segment_ordinal, error_type, message, items, since_ms, next_try_ms)
      select batch_id, min(ordinal), cast($3 as text), cast($4 as text), cast(sum(item_count - done_count) as bigint),
        cast($5 as bigint), cast($6 as bigint)
      from ${ofJob} group by batch_id
      on conflict (batch_id, segment_ordinal, error_type) do update set message = excluded.message,
        items = excluded.items, next_try_ms = excluded.next_try_ms`,
    params: [batchId, jobId, type, message, sinceMs, nextTryMs],
  }
}

/** Deletes what a job's items wait for, before the job gives its segments back. */
export function forgetJobWaiting(batchId: BatchId, jobId: string): Statement {
  return {
    sql: `delete from waiting_items where batch_id = $1 and segment_ordinal in (select ordinal from ${ofJob})`,
    params: [batchId, jobId],
  }
}

/** Deletes the note of a segment that is done. */
export function forgetSegmentWaiting(batchId: BatchId, ordinal: number): Statement {
  return {
    sql: 'delete from waiting_items where batch_id = $1 and segment_ordinal = $2',
    params: [batchId, ordinal],
  }
}

/** Deletes the notes of a batch that has ended. */
export function forgetBatchWaiting(batchId: BatchId): Statement {
  return { sql: 'delete from waiting_items where batch_id = $1', params: [batchId] }
}

function toWaiting(row: Row): Waiting {
  return {
    type: String(row['error_type']),
    message: String(row['message']),
    items: Number(row['items']),
    sinceMs: Number(row['since_ms']),
    nextTryMs: Number(row['next_try_ms']),
  }
}
