import type { RollupRepository } from './rollup-repository.ts'
import { systemTiming } from '../timing.ts'
import type { Timing } from '../timing.ts'

/** How often usage is rolled up; until then it is read from the tail, which the roll-up keeps small. */
export const rollupEveryMs = 10_000
/** Rows of the tail in one unit, so that captures never wait long for the writer, and units in one round. */
export const rollupRowsMax = 200
export const rollupPagesMax = 500

/** Rolls usage up in the background, in any number of processes. Sums are right without it too, because they include the tail. */
export interface Rollup {
  start(): void
  /** Resolves when the running unit has ended. */
  stop(): Promise<void>
  /**
   * Rolls up a bounded part of the tail, unless another process just did; the next round goes on. Rejects with
   * `storage_unavailable`; then the next round finds out whether the failed unit was committed.
   */
  round(): Promise<void>
}

/** `report` receives a failure, once per streak. */
export function createRollup(dependencies: {
  repository: RollupRepository
  timing?: Timing
  report?: (cause: unknown) => void
}): Rollup {
  return new TailRollup(
    dependencies.repository,
    dependencies.timing ?? systemTiming,
    dependencies.report ?? (() => undefined),
  )
}

/** If any process made a round within this time, no other makes one. */
const freshMs = rollupEveryMs / 2

class TailRollup implements Rollup {
  readonly #repository: RollupRepository
  readonly #timing: Timing
  readonly #report: (cause: unknown) => void
  #stopTimer: (() => void) | null = null
  #running: Promise<void> | null = null
  #isStopped = false
  #isFailing = false

  constructor(repository: RollupRepository, timing: Timing, report: (cause: unknown) => void) {
    this.#repository = repository
    this.#timing = timing
    this.#report = report
  }

  start(): void {
    this.#stopTimer ??= this.#timing.every(rollupEveryMs, () => {
      this.#running ??= this.#watched().finally(() => {
        this.#running = null
      })
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stopTimer?.()
    await this.#running
  }

  async round(): Promise<void> {
    for (let page = 0; page < rollupPagesMax && !this.#isStopped; page += 1) {
      const { position, idleMs } = await this.#repository.loadCursor()
      if (page === 0 && position > 0 && idleMs >= 0 && idleMs < freshMs) return
      const tailIds = await this.#repository.listTail(rollupRowsMax)
      if (tailIds.length === 0 || !(await this.#repository.rollUp(position, tailIds))) return
      if (tailIds.length < rollupRowsMax) return
    }
  }

  async #watched(): Promise<void> {
    try {
      await this.round()
      this.#isFailing = false
    } catch (cause) {
      if (!this.#isFailing) this.#report(cause)
      this.#isFailing = true
    }
  }
}
