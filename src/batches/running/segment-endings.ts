import type { Batch } from '../../canonical/batch.ts'
import { GatewayError } from '../../core/errors.ts'
import { resultsHoldMs } from '../../core/limits/batches.ts'
import { batchErrorJson } from '../../formats/batch/batch-object.ts'
import { beginFailing } from '../batch-repository.ts'
import { mergeSegment } from '../results/merge.ts'
import type { GivenBack } from './given-back.ts'
import type { PhaseDependencies } from './phases.ts'
import type { SegmentLease } from './segment-repository.ts'
import { forgetShortage, noteShortage } from './shortage.ts'
import { finishSegment, returnSegment } from './segment-repository.ts'
import type { RunEnd } from './segment-run.ts'
import type { WaitingNote } from './waiting-note.ts'
import { forgetSegmentWaiting } from './waiting-repository.ts'

/** What `SegmentEndings` needs. */
export interface SegmentEndingsDependencies extends PhaseDependencies {
  givenBack: GivenBack
  report(event: string, details: { batchId?: string; cause: unknown }): void
  /** Tells the workers that there is work. */
  wake(): void
}

const resultsRefused =
  'The gateway could not store all results of this batch. Those that were stored can be read at /batches/{id}/results; ' +
  'only they were charged. Send the other requests again.'

/** Handles a leased segment after its run: merges it, or gives it back with a note of what it waits for, or fails its batch. */
export class SegmentEndings {
  readonly #dependencies: SegmentEndingsDependencies

  constructor(dependencies: SegmentEndingsDependencies) {
    this.#dependencies = dependencies
  }

  /** Every item has its result: the segment's parts become one blob. */
  async finish(lease: SegmentLease, note: WaitingNote): Promise<void> {
    const { payloads, committer, signals, segments } = this.#dependencies
    const parts = await this.#dependencies.parts.listOfSegment(lease.batchId, lease.ordinal)
    const merged = await mergeSegment(payloads, lease, parts)
    const forgotten = note.isThere ? [forgetSegmentWaiting(lease.batchId, lease.ordinal)] : []
    const swap = finishSegment(lease, signals.ownerId, merged)
    const { type } = await committer.commit('segment.merge', [swap, ...forgotten], () =>
      segments.isReferenced(merged.blob),
    )
    // Another owner took the segment over during the merge, and will merge it again.
    if (type === 'refused') await payloads.delete(merged.blob)
  }

  /** Items are left: the segment's next owner runs them. */
  async giveBack(
    batch: Batch,
    lease: SegmentLease,
    end: RunEnd & { isDone: false },
    noted: ReturnType<WaitingNote['statements']> = [],
  ): Promise<void> {
    const { committer, signals, loadPrincipal } = this.#dependencies
    // An item may have been short only because its process was told to stop, while the balance has enough.
    const owner = end.missing === null ? null : await loadPrincipal(batch)
    const isShort =
      end.missing !== null &&
      owner !== null &&
      (await noteShortage(batch, owner, end.missing, this.#dependencies))
    if (!isShort) await forgetShortage(batch, committer)
    const returned = returnSegment(lease, signals.ownerId, Math.ceil(end.restMs))
    await committer.commit('segment.return', [...noted, returned])
  }

  /** Gives back a segment that could not be read or merged, to be tried again; its batch can still end. */
  async putOff(batch: Batch, lease: SegmentLease, cause: unknown): Promise<void> {
    const nowMs = this.#dependencies.clock.monotonicMs()
    const { sinceMs, restMs } = this.#dependencies.givenBack.noteFailure(lease, nowMs)
    const isClosing = batch.status === 'cancelling' || batch.status === 'expiring'
    if (isClosing && nowMs - sinceMs >= resultsHoldMs) return this.giveUp(batch, cause)
    await this.giveBack(batch, lease, { isDone: false, restMs, missing: null, tries: new Map() })
  }

  /** Fails the batch: stored results stay, and nothing more is started. */
  async giveUp(batch: Batch, cause: unknown): Promise<void> {
    const error = new GatewayError('batch_unavailable', resultsRefused)
    await this.#dependencies.committer.commit('batch.fail', [beginFailing(batch.id, batchErrorJson(error))])
    this.#dependencies.report('batch_given_up', { batchId: batch.id, cause })
    this.#dependencies.wake()
  }
}
