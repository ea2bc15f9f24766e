import type { Database, Row, Statement } from '../storage/database.ts'
import { type DeliveryCommitPoint, deliveryCommitPoints } from './delivery-commit-points.ts'
import type { Delivery, DeliveryState, DeliveryTry } from './delivery.ts'

/** Tries that the log keeps of one delivery; its first tries go first. */
const keptTriesMax = 50

/** The outcome of a try, to be noted. */
export interface TryOutcome {
  durationMs: number
  status: number | null
  problem: string | null
  /** The state after the try. */
  state: DeliveryState
  /** Until the next try; of no meaning unless the state is `waiting`. */
  waitMs: number
}

/** Reads and units of the tables `deliveries` and `delivery_tries`. */
export interface DeliveryRepository {
  /** Leases deliveries that are due, a few of each organization, the oldest first. */
  claim(wish: { limit: number; perOrganization: number; leaseMs: number }): Promise<Delivery[]>
  /** Notes a try; without effect when another process has leased the delivery since. */
  record(delivery: Delivery, outcome: TryOutcome): Promise<void>
  /** The deliveries of a batch, the oldest first. */
  listOf(batchId: string): Promise<Delivery[]>
  /** The last tries of a delivery, the oldest first. */
  listTries(deliveryId: string): Promise<DeliveryTry[]>
  /** Makes the events of a batch due now, with a day of tries before them; true when there are any. */
  redeliver(batchId: string): Promise<boolean>
}

/**
 * Leaves the event of a batch that has just ended, when its caller named an address. It belongs into the unit that ends
 * the batch, after the statement that sets the status.
 */
export function announceEnd(batchId: string): Statement {
  return {
    sql: `insert into deliveries
        (delivery_id, organization_id, batch_id, event, state, created_at_ms, since_ms, due_at_ms)
      select batch_id || '-' || status, organization_id, batch_id, 'batch.' || status, 'waiting',
        now_ms(), now_ms(), now_ms()
      from batches where batch_id = $1 and callback_url is not null`,
    params: [batchId],
  }
}

/** Removes the events of a batch whose row goes. */
export function purgeDeliveries(batchId: string): Statement[] {
  return [
    {
      sql: `delete from delivery_tries where delivery_id in (select delivery_id from deliveries where batch_id = $1)`,
      params: [batchId],
    },
    { sql: `delete from deliveries where batch_id = $1`, params: [batchId] },
  ]
}

type Commit = (name: DeliveryCommitPoint, statements: readonly Statement[]) => Promise<Row[][]>

export function createDeliveryRepository(database: Database): DeliveryRepository {
  const commit: Commit = (name, statements) => database.commit({ name, statements })
  return { ...forCouriers(database, commit), ...forOwners(database, commit) }
}

function forCouriers(database: Database, commit: Commit): Pick<DeliveryRepository, 'claim' | 'record'> {
  return {
    async claim({ limit, perOrganization, leaseMs }) {
      const [rows = []] = await commit(deliveryCommitPoints.claim, [
        {
          sql: `update deliveries set owner_id = $1, lease_until_ms = now_ms() + cast($2 as bigint)
            where delivery_id in (
              select delivery_id from deliveries
              where state = 'waiting' and due_at_ms <= now_ms() and lease_until_ms <= now_ms() and delivery_id in (
                select delivery_id from (
                  select delivery_id, lease_until_ms, row_number() over (
                    partition by organization_id order by lease_until_ms desc, due_at_ms, delivery_id) as place
                  from deliveries where state = 'waiting' and due_at_ms <= now_ms()
                ) ranked where place <= cast($3 as bigint))
              order by due_at_ms, delivery_id limit $4 {{for_update_skip_locked}})
            returning *`,
          params: [database.ownerId, leaseMs, perOrganization, limit],
        },
      ])
      return rows.map(toDelivery)
    },
    async record(delivery, { durationMs, status, problem, state, waitMs }) {
      const number = delivery.tries + 1
      await commit(deliveryCommitPoints.record, [
        {
          sql: `insert into delivery_tries (delivery_id, try, tried_at_ms, duration_ms, status, problem)
            select delivery_id, cast($1 as bigint), now_ms(), cast($2 as bigint), cast($3 as bigint), cast($4 as text)
            from deliveries where delivery_id = $5 and owner_id = $6 and tries = $7`,
          params: [number, durationMs, status, problem, delivery.id, database.ownerId, delivery.tries],
        },
        {
          sql: `delete from delivery_tries where delivery_id = $1 and try <= cast($2 as bigint)`,
          params: [delivery.id, number - keptTriesMax],
        },
        {
          sql: `update deliveries set state = $1, tries = cast($2 as bigint), owner_id = null, lease_until_ms = 0,
              due_at_ms = now_ms() + cast($3 as bigint),
              ended_at_ms = case when $1 = 'waiting' then null else now_ms() end
            where delivery_id = $4 and owner_id = $5 and tries = $6`,
          params: [state, number, waitMs, delivery.id, database.ownerId, delivery.tries],
        },
      ])
    },
  }
}

function forOwners(
  database: Database,
  commit: Commit,
): Pick<DeliveryRepository, 'listOf' | 'listTries' | 'redeliver'> {
  return {
    async listOf(batchId) {
      const rows = await database.query(
        `select * from deliveries where batch_id = $1 order by created_at_ms, delivery_id`,
        [batchId],
      )
      return rows.map(toDelivery)
    },
    async listTries(deliveryId) {
      const rows = await database.query(`select * from delivery_tries where delivery_id = $1 order by try`, [
        deliveryId,
      ])
      return rows.map((row) => ({
        number: Number(row['try']),
        triedAtMs: Number(row['tried_at_ms']),
        durationMs: Number(row['duration_ms']),
        status: row['status'] === null ? null : Number(row['status']),
        problem: row['problem'] as string | null,
      }))
    },
    async redeliver(batchId) {
      const [rows = []] = await commit(deliveryCommitPoints.again, [
        {
          sql: `update deliveries set state = 'waiting', since_ms = now_ms(), due_at_ms = now_ms(), ended_at_ms = null
            where batch_id = $1 returning delivery_id`,
          params: [batchId],
        },
      ])
      return rows.length > 0
    },
  }
}

function toDelivery(row: Row): Delivery {
  return {
    id: String(row['delivery_id']),
    organizationId: String(row['organization_id']),
    batchId: String(row['batch_id']),
    event: String(row['event']),
    state: row['state'] as DeliveryState,
    tries: Number(row['tries']),
    createdAtMs: Number(row['created_at_ms']),
    sinceMs: Number(row['since_ms']),
    dueAtMs: Number(row['due_at_ms']),
    endedAtMs: row['ended_at_ms'] as number | null,
  }
}
