import type { Clock } from '../../core/clock.ts'
import { waitingNoteEveryMs } from '../../core/limits/batches.ts'
import type { Committer } from '../committer.ts'
import type { SegmentLease } from './segment-repository.ts'
import type { Waiting } from '../../canonical/waiting.ts'
import { noteWaitingItems } from './waiting-repository.ts'

/** What `WaitingNote` needs. */
export interface WaitingNoteDependencies {
  lease: SegmentLease
  owner: string
  committer: Committer
  clock: Clock
}

/** What a segment's items wait for at this moment, and whether any of them ended under this lease. */
export interface WaitingState {
  waiting: readonly Waiting[]
  hasProgressed: boolean
}

/**
 * Writes what a leased segment's items wait for into the database, where every process can read it. It is written every
 * few seconds at most while something waits, and deleted as soon as nothing does.
 */
export class WaitingNote {
  readonly #dependencies: WaitingNoteDependencies
  /** The written note, as far as this process knows; null when an earlier lease may have left one. */
  #written: string | null
  #writtenMs = Number.NEGATIVE_INFINITY
  #isWriting = false

  constructor(dependencies: WaitingNoteDependencies) {
    this.#dependencies = dependencies
    this.#written = dependencies.lease.epoch > 1 ? null : textOf([])
  }

  /** Whether the segment may have a note. */
  get isThere(): boolean {
    return this.#written !== textOf([])
  }

  /** Writes what has changed, every few seconds at most. Never rejects: a failed write is repeated at the next look. */
  async write(state: WaitingState): Promise<void> {
    const { clock, committer } = this.#dependencies
    const nowMs = clock.monotonicMs()
    const isDue = state.waiting.length === 0 || nowMs - this.#writtenMs >= waitingNoteEveryMs
    // Until an item has ended, an earlier lease's note is the best information.
    const isUnknown = state.waiting.length === 0 && !state.hasProgressed && this.#written === null
    if (this.#isWriting || !isDue || isUnknown) return
    const statements = this.statements(state)
    if (statements.length === 0) return
    this.#isWriting = true
    this.#writtenMs = nowMs
    const text = textOf(state.waiting)
    try {
      await committer.commit('batch.wait', statements)
      this.#written = text
    } catch {
      this.#written = null
    } finally {
      this.#isWriting = false
    }
  }

  /** The statements that bring the note up to date; empty when it is. */
  statements({ waiting, hasProgressed }: WaitingState): ReturnType<typeof noteWaitingItems> {
    const { lease, owner } = this.#dependencies
    if (this.#written === textOf(waiting)) return []
    // The note of an earlier lease, perhaps of another process, knows since when the items have waited.
    return noteWaitingItems(lease, owner, { waiting, keepsEarlier: lease.epoch > 1 && !hasProgressed })
  }
}

function textOf(waiting: readonly Waiting[]): string {
  return JSON.stringify(waiting)
}
