import { rememberedSegmentsMax, segmentRetryMaxMs, workerIdleMs } from '../core/limits.ts'
import type { SegmentLease } from './segment-repository.ts'

/** Since when a segment cannot be read or merged (monotonic), and how long it rests before the next try. */
export interface SegmentFailure {
  sinceMs: number
  restMs: number
}

/**
 * What a worker remembers of segments that it gave back unfinished, until it has them again. The oldest are forgotten
 * first: then an item may be tried, or a broken segment read, a few times more often.
 */
export class GivenBack {
  /** Tries of items, by segment, so that giving back does not start them anew. */
  readonly #attempts = new Map<string, ReadonlyMap<number, number>>()
  readonly #failures = new Map<string, SegmentFailure>()

  /**
   * The tries that items of this segment have behind them, by place in it; forgotten with this. Null when this process
   * did not give the segment back.
   */
  takeAttempts(lease: SegmentLease): ReadonlyMap<number, number> | null {
    const attempts = this.#attempts.get(placeOf(lease))
    this.#attempts.delete(placeOf(lease))
    return attempts ?? null
  }

  keepAttempts(lease: SegmentLease, attempts: ReadonlyMap<number, number>): void {
    forgetOldest(this.#attempts)
    this.#attempts.set(placeOf(lease), attempts)
  }

  /** One failure more; the rest doubles with each, up to `segmentRetryMaxMs`. */
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
