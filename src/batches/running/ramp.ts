import type { Clock } from '../../core/clock.ts'
import { batchItemsAtOnce } from '../../core/limits/batches.ts'

/** How long results are gathered before they become a durable part. */
export const partGatherMs = 2_000

/**
 * How long a process, or a segment that it took over, has to live before all that counts as proven. Until then results
 * gather for a share of `partGatherMs` as large as the proven share of this time, but not less than `partGatherMinMs`.
 */
export const provenMs = 30_000
export const partGatherMinMs = 25
/**
 * Items of batches that a process which is not proven may lose by its death: so many, and one more for every
 * `durablePerItemAtRisk` that it made durable. Ten lives of a hundred durable items repeat 28 each at most.
 */
export const itemsAtRiskStart = 16
export const durablePerItemAtRisk = 8

/**
 * Bounds how much is lost when this process dies: the running items and the results that are not durable, whose calls the
 * next process repeats and pays again. A process that dies soon after every start would repeat everything and make no
 * progress. Therefore it begins with few items, and may have more the more it has made durable or the longer it has lived.
 */
export class Ramp {
  readonly #clock: Clock
  readonly #parent: Ramp | null
  readonly #startMs: number
  #gathered = 0
  #durable = 0
  #onRoom: () => void = () => undefined

  /** A ramp with a parent is one of several below it; a segment that was taken over has one of its own. */
  constructor(clock: Clock, parent: Ramp | null = null, startMs = clock.monotonicMs()) {
    this.#clock = clock
    this.#parent = parent
    this.#startMs = startMs
  }

  /** For results that can be had again without paying for them: nothing is lost with the process. */
  static withoutRisk(clock: Clock): Ramp {
    return new Ramp(clock, null, Number.NEGATIVE_INFINITY)
  }

  /** Results that are not durable yet. */
  get gathered(): number {
    return this.#gathered
  }

  /** Whether the ramp has ended and limits nothing any more. */
  get isProven(): boolean {
    return this.#upMs >= provenMs && (this.#parent?.isProven ?? true)
  }

  /** The most items that may run or be gathered; infinite once it is proven. */
  get itemsMax(): number {
    const parentMax = this.#parent?.itemsMax ?? Number.POSITIVE_INFINITY
    if (this.#upMs >= provenMs) return parentMax
    // Time counts too: calls that take a minute make nothing durable for that long.
    const byTime = ((batchItemsAtOnce - itemsAtRiskStart) * this.#upMs) / provenMs
    const byWork = this.#durable / durablePerItemAtRisk
    return Math.min(parentMax, itemsAtRiskStart + Math.floor(Math.max(byTime, byWork)))
  }

  /** How long results may gather before they become a part. */
  get gatherMs(): number {
    const ownMs = Math.max(partGatherMinMs, (partGatherMs * Math.min(this.#upMs, provenMs)) / provenMs)
    return Math.min(ownMs, this.#parent?.gatherMs ?? ownMs)
  }

  /** Whether gathered results keep items from starting, so that they should be written at once. */
  get isTight(): boolean {
    return this.#gathered * 2 >= this.itemsMax || (this.#parent?.isTight ?? false)
  }

  /** A result waits to become durable. */
  gather(): void {
    this.#gathered += 1
    this.#parent?.gather()
  }

  /** So many gathered results are durable now, or lost. */
  settle(count: number, isDurable: boolean): void {
    this.#gathered -= count
    if (isDurable) this.#durable += count
    this.#parent?.settle(count, isDurable)
    this.#onRoom()
  }

  /** Calls `onRoom` whenever results were settled. */
  listen(onRoom: () => void): void {
    this.#onRoom = onRoom
  }

  get #upMs(): number {
    return this.#clock.monotonicMs() - this.#startMs
  }
}
