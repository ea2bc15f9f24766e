import type { Batch } from '../../canonical/batch.ts'
import type { Clock } from '../../core/clock.ts'
import { compareWork, urgentBeforeMs } from '../../core/fair-queue.ts'

/** Segments one process works on at once; with their inputs and gathered results this bounds the worker's memory. */
export const segmentsAtOnce = 8
/** After this long a segment gives its place up to an organization or batch that has only one fewer. */
export const segmentTurnMs = 60_000
/** A segment that was asked for its place and still has it after this long is not counted on: its items may take minutes. */
const yieldCountedMs = 15_000
/** Organizations whose last turn a process remembers. */
const turnsMax = 10_000

/** A batch as far as its turn depends on it. */
export type Contender = Pick<Batch, 'id' | 'organizationId' | 'expiresAtMs'>

/** A segment that this process works on. */
export interface HeldSegment {
  batch: Contender
  /** Monotonic. */
  sinceMs: number
  /** Monotonic time at which it was asked to give its place up; null when it was not. */
  yieldedMs: number | null
}

/**
 * Whose segment a process works on next, and which one gives its place up. The order is that of `FairQueue`: the
 * organization with the fewest segments, then of its batches the urgent one, the one with the fewest, the nearest deadline.
 * Among organizations with equally many comes first which has an urgent batch, else which had its last turn the longest ago.
 */
export class SegmentTurns {
  readonly #clock: Clock
  readonly #lastTurns = new Map<string, number>()
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The batches in the order in which they get places, while these segments are held. */
  order<T extends Contender>(open: readonly T[], held: readonly HeldSegment[]): T[] {
    const counts = new Counts(held)
    const nowMs = this.#clock.nowMs()
    const urgency = ({ expiresAtMs }: Contender): number =>
      expiresAtMs - nowMs < urgentBeforeMs ? expiresAtMs : Number.POSITIVE_INFINITY
    return open.toSorted((left, right) => {
      const byOwner = counts.ofOrganization(left) - counts.ofOrganization(right)
      if (byOwner !== 0) return byOwner
      if (left.organizationId === right.organizationId)
        return compareWork(toWork(left, counts), toWork(right, counts), nowMs)
      const [leftUrgency, rightUrgency] = [urgency(left), urgency(right)]
      if (leftUrgency !== rightUrgency) return leftUrgency - rightUrgency
      return this.#lastTurn(left) - this.#lastTurn(right) || left.expiresAtMs - right.expiresAtMs
    })
  }

  /** Records that a segment of this batch got a place. */
  note({ organizationId }: Contender): void {
    this.#turn += 1
    this.#lastTurns.delete(organizationId)
    this.#lastTurns.set(organizationId, this.#turn)
    const [oldest] = this.#lastTurns.keys()
    if (this.#lastTurns.size > turnsMax && oldest !== undefined) this.#lastTurns.delete(oldest)
  }

  /** Segments that have been asked for their places and will give them up soon. */
  promised<H extends HeldSegment>(held: readonly H[]): H[] {
    const nowMs = this.#clock.monotonicMs()
    return held.filter(({ yieldedMs }) => yieldedMs !== null && nowMs - yieldedMs < yieldCountedMs)
  }

  /**
   * The segment that is to give its place up to this batch; null when the batch waits its turn. It is one of the
   * organization that has the most, and there of the batch that has the most, and the oldest of those.
   */
  giver<H extends HeldSegment>(claimant: Contender, held: readonly H[]): H | null {
    const staying = held.filter(({ yieldedMs }) => yieldedMs === null)
    const counts = new Counts(staying)
    const [most] = staying.toSorted(
      (left, right) =>
        counts.ofOrganization(right.batch) - counts.ofOrganization(left.batch) ||
        counts.ofBatch(right.batch) - counts.ofBatch(left.batch) ||
        left.sinceMs - right.sinceMs,
    )
    if (most === undefined) return null
    const isOwn = most.batch.organizationId === claimant.organizationId
    const more = isOwn
      ? counts.ofBatch(most.batch) - counts.ofBatch(claimant)
      : counts.ofOrganization(most.batch) - counts.ofOrganization(claimant)
    const isOver = this.#clock.monotonicMs() - most.sinceMs >= segmentTurnMs
    return more >= (isOver ? 1 : 2) ? most : null
  }

  #lastTurn({ organizationId }: Contender): number {
    return this.#lastTurns.get(organizationId) ?? 0
  }
}

/** How many segments each organization and each batch has. */
class Counts {
  readonly #counts = new Map<string, number>()

  constructor(held: readonly Pick<HeldSegment, 'batch'>[]) {
    for (const { batch } of held)
      for (const id of [batch.id, batch.organizationId]) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  ofOrganization({ organizationId }: Contender): number {
    return this.#counts.get(organizationId) ?? 0
  }

  ofBatch({ id }: Contender): number {
    return this.#counts.get(id) ?? 0
  }
}

function toWork(batch: Contender, counts: Counts): { deadlineMs: number; held: number } {
  return { deadlineMs: batch.expiresAtMs, held: counts.ofBatch(batch) }
}
