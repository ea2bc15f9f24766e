import { workerIdleMs } from '../../core/limits/batches.ts'
import type { SegmentLease } from './segment-repository.ts'
import type { MoveReason } from '../lanes/item-moves.ts'
import type { WaitingReason } from '../../canonical/waiting.ts'

/** Longest wait before a segment that could not be read or merged is tried again; it doubles from `workerIdleMs`. */
const segmentRetryMaxMs = 60_000
/** Segments given back unfinished whose items' tries a worker remembers. */
const rememberedSegmentsMax = 1_000

/** Since when a segment cannot be read or merged (monotonic), and how long it rests before the next try. */
export interface SegmentFailure {
  sinceMs: number
  restMs: number
}

/** The earlier tries of an item that was put back. */
export interface Tries {
  attempts: number
  /** Wall clock, Unix milliseconds, of the first time it was put back. */
  sinceMs: number
  /** What it waits for; null when that is no longer of interest. */
  error: WaitingReason | null
  /** Why it left the lane of its batch; null when it has not. */
  moved: MoveReason | null
}

/**
 * What a worker remembers of segments that it gave back unfinished, until it leases them again. The oldest are forgotten
 * first; then an item may be tried, or a broken segment read, a few times more often than its bound.
 */
export class GivenBack {
  /** Tries of items, by segment: giving a segment back must not reset them. */
  readonly #tries = new Map<string, ReadonlyMap<number, Tries>>()
  readonly #failures = new Map<string, SegmentFailure>()

  /**
   * The earlier tries of this segment's items, by place in it; removes them from this memory. Null when this process did
   * not give the segment back.
   */
  takeTries(lease: SegmentLease): ReadonlyMap<number, Tries> | null {
    const tries = this.#tries.get(placeOf(lease))
    this.#tries.delete(placeOf(lease))
    return tries ?? null
  }

  keepTries(lease: SegmentLease, tries: ReadonlyMap<number, Tries>): void {
    forgetOldest(this.#tries)
    this.#tries.set(placeOf(lease), tries)
  }

  /** Counts another failure; the rest before the next try doubles with each, up to `segmentRetryMaxMs`. */
  noteFailure(lease: SegmentLease, nowMs: number): SegmentFailure {
    const failure = this.#failures.get(placeOf(lease)) ?? { sinceMs: nowMs, restMs: workerIdleMs }
    forgetOldest(this.#failures)
    const restMs = Math.min(failure.restMs * 2, segmentRetryMaxMs)
    this.#failures.set(placeOf(lease), { sinceMs: failure.sinceMs, restMs })
    return failure
  }

  forgetFailures(lease: SegmentLease): void {
    this.#failures.delete(placeOf(lease))
  }
}

function forgetOldest(remembered: Map<string, unknown>): void {
  const [oldest] = remembered.keys()
  if (remembered.size >= rememberedSegmentsMax && oldest !== undefined) remembered.delete(oldest)
}

function placeOf({ batchId, ordinal }: SegmentLease): string {
  return `${batchId}/${ordinal}`
}
