/** A reason why items wait that were put back, or that wait for a provider. Times are Unix milliseconds. */
export interface Waiting {
  /** The type of the error that put them back, such as `provider_failed`, `payment_required`, `no_healthy_endpoint`. */
  type: string
  /** For the caller: the latest of these errors. */
  message: string
  items: number
  /** When the first of them began to wait. */
  sinceMs: number
  /** When the first of them is tried again. */
  nextTryMs: number
}

/** Why an item waits. */
export type WaitingReason = Pick<Waiting, 'type' | 'message'>

/** Adds up by type, the most frequent first; each part counts with its `items`. */
export function sumWaiting(parts: Iterable<Waiting>): Waiting[] {
  const sums = new Map<string, Waiting>()
  for (const part of parts) {
    const sum = sums.get(part.type)
    if (sum === undefined) {
      sums.set(part.type, { ...part })
      continue
    }
    sum.items += part.items
    sum.message = part.message
    sum.sinceMs = Math.min(sum.sinceMs, part.sinceMs)
    sum.nextTryMs = Math.min(sum.nextTryMs, part.nextTryMs)
  }
  return [...sums.values()].toSorted((left, right) => right.items - left.items)
}
