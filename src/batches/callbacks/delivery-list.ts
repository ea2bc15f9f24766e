import type { BatchId } from '../../core/ids.ts'
import type { Callbacks } from '../../delivery/callbacks.ts'
import type { Delivery, DeliveryTry } from '../../delivery/delivery.ts'

/** One event with its tries, as callers see it. Times are Unix seconds. */
interface ShownDelivery {
  id: string
  event: string
  state: Delivery['state']
  created_at: number
  /** When it is told next; null once it has ended. */
  next_try_at: number | null
  ended_at: number | null
  tries: number
  /** The last tries, the oldest first. */
  log: { try: number; at: number; duration_ms: number; status: number | null; problem: string | null }[]
}

/** The events of a batch. */
export interface DeliveryList {
  object: 'list'
  data: ShownDelivery[]
}

/** The events of a batch as its owner sees them: none before its end, and none without an address. */
export async function listDeliveries(id: BatchId, callbacks: Callbacks): Promise<DeliveryList> {
  const deliveries = await callbacks.listOf(id)
  const data = deliveries.map(async (one) => show(one, await callbacks.listTries(one.id)))
  return { object: 'list', data: await Promise.all(data) }
}

function show(delivery: Delivery, tries: readonly DeliveryTry[]): ShownDelivery {
  const { id, event, state, createdAtMs, dueAtMs, endedAtMs } = delivery
  return {
    id,
    event,
    state,
    created_at: seconds(createdAtMs),
    next_try_at: state === 'waiting' ? seconds(dueAtMs) : null,
    ended_at: endedAtMs === null ? null : seconds(endedAtMs),
    tries: delivery.tries,
    log: tries.map(({ number, triedAtMs, durationMs, status, problem }) => ({
      try: number,
      at: seconds(triedAtMs),
      duration_ms: durationMs,
      status,
      problem,
    })),
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
