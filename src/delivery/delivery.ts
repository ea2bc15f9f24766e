/** What became of an event: it is to be told, a receiver has taken it, or none did within the day. */
export type DeliveryState = 'waiting' | 'delivered' | 'failed'

/** One event on its way to the address that a caller named. Times are Unix milliseconds by the database's clock. */
export interface Delivery {
  /** `<batch id>-<status>`: a receiver sees it as the idempotency key, the same at every try. */
  id: string
  organizationId: string
  batchId: string
  /** Such as `batch.completed`. */
  event: string
  state: DeliveryState
  tries: number
  /** When the batch ended. */
  createdAtMs: number
  /** When the tries began: the end of the batch, or the last demand to tell it again. */
  sinceMs: number
  /** When the next try is due; of no meaning once it has ended. */
  dueAtMs: number
  endedAtMs: number | null
}

/** One try of a delivery. */
export interface DeliveryTry {
  number: number
  triedAtMs: number
  durationMs: number
  /** The receiver's status; null when it gave none. */
  status: number | null
  /** Why the try counts as failed; null when the receiver took the event. */
  problem: string | null
}

/** What is sent: the address and the exact bytes, which are the same at every try. */
export interface Message {
  url: string
  body: string
}
