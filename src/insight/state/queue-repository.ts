import type { Database } from '../../storage/database.ts'

/** What waits in the database for a process to take it. Times are Unix milliseconds; null when nothing waits. */
export interface Queues {
  nowMs: number
  schemaVersion: number
  batchesOpen: number
  itemsWaiting: number
  oldestWaitingMs: number | null
  deliveriesWaiting: number
  oldestDeliveryMs: number | null
}

/** Reads the queues, aside. Rejects with `storage_unavailable`. */
export interface QueueRepository {
  load(): Promise<Queues>
}

export function createQueueRepository(database: Database): QueueRepository {
  return {
    async load() {
      const [row] = await database.queryAside<QueuesRow>(
        `select now_ms() as now_at, (select max(version) from schema_migrations) as schema_version,
          (select count(*) from batches where status not in ('completed', 'failed', 'expired', 'cancelled')
            and deleted_at_ms is null) as batches_open,
          (select cast(coalesce(sum(items), 0) as bigint) from waiting_items) as items_waiting,
          (select min(since_ms) from waiting_items) as oldest_waiting,
          (select count(*) from deliveries where state = 'waiting') as deliveries_waiting,
          (select min(created_at_ms) from deliveries where state = 'waiting') as oldest_delivery`,
      )
      return {
        nowMs: row?.now_at ?? 0,
        schemaVersion: row?.schema_version ?? 0,
        batchesOpen: row?.batches_open ?? 0,
        itemsWaiting: row?.items_waiting ?? 0,
        oldestWaitingMs: row?.oldest_waiting ?? null,
        deliveriesWaiting: row?.deliveries_waiting ?? 0,
        oldestDeliveryMs: row?.oldest_delivery ?? null,
      }
    },
  }
}

interface QueuesRow {
  now_at: number
  schema_version: number
  batches_open: number
  items_waiting: number
  oldest_waiting: number | null
  deliveries_waiting: number
  oldest_delivery: number | null
}
