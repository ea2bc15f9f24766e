import type { Clock } from '../../core/clock.ts'
import { waitingNoteEveryMs } from '../../core/limits/batches.ts'
import type { Committer } from '../committer.ts'
import type { SegmentLease } from './segment-repository.ts'
import type { Waiting } from '../../canonical/waiting.ts'
import { noteWaitingItems } from './waiting-repository.ts'

/** What a note needs. */
export interface WaitingNoteDependencies {
  lease: SegmentLease
  owner: string
  committer: Committer
  clock: Clock
  /** This process does not know what waited under an earlier lease, so it keeps what was noted then. */
  isTakenOver: boolean
}

/** What the items of one segment wait for at this moment, and whether any of them ended under this lease. */
export interface WaitingState {
  waiting: readonly Waiting[]
  hasProgressed: boolean
}

/**
 * Keeps what a leased segment's items wait for where every process reads it: written while something waits, every few
 * seconds at most, and taken back as soon as nothing does.
 */
export class WaitingNote {
  readonly #dependencies: WaitingNoteDependencies
  /** What is written, as far as this process knows; null when an earlier lease may have left something. */
  #written: string | null
  #writtenMs = Number.NEGATIVE_INFINITY
  #isWriting = false

  constructor(dependencies: WaitingNoteDependencies) {
    this.#dependencies = dependencies
    this.#written = dependencies.lease.epoch > 1 ? null : textOf([])
  }

  /** Whether something may be written of this segment. */
  get isThere(): boolean {
    return this.#written !== textOf([])
  }

  /** Writes what changed, if it is time for that. Never rejects: the next look does it again. */
  async write(state: WaitingState): Promise<void> {
    const { clock, committer } = this.#dependencies
    const nowMs = clock.monotonicMs()
    const isDue = state.waiting.length === 0 || nowMs - this.#writtenMs >= waitingNoteEveryMs
    // Until an item has ended, what an earlier lease noted is the best that is known.
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

  /** What brings the note up to date; empty when it is. */
  statements({ waiting, hasProgressed }: WaitingState): ReturnType<typeof noteWaitingItems> {
    const { lease, owner, isTakenOver } = this.#dependencies
    if (this.#written === textOf(waiting)) return []
    return noteWaitingItems(lease, owner, { waiting, keepsEarlier: isTakenOver && !hasProgressed })
  }
}

function textOf(waiting: readonly Waiting[]): string {
  return JSON.stringify(waiting)
}
