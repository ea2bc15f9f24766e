import type { Batch } from '../../canonical/batch.ts'
import { GatewayError } from '../../core/errors.ts'
import { resultsHoldMs } from '../../core/limits/batches.ts'
import { batchErrorJson, isWaiting } from '../../formats/batch/batch-object.ts'
import { beginFailing, noteWaiting } from '../batch-repository.ts'
import { mergeSegment } from '../results/merge.ts'
import type { GivenBack } from './given-back.ts'
import type { PhaseDependencies } from './phases.ts'
import type { SegmentLease } from './segment-repository.ts'
import { shortageJson, shortages } from './shortage.ts'
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
    const { committer, signals } = this.#dependencies
    const isShort = end.missing !== null && (await this.#noteShortage(batch, end.missing))
    if (!isShort && isWaiting(batch)) await committer.commit('batch.wait', [noteWaiting(batch.id, null)])
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

  /**
   * Records what the batch waits for: in the batch for its owner, and in the log for the operator. False when it does not
   * wait for money. An item may have been short only because its process was told to stop, while the balance has enough.
   */
  async #noteShortage(batch: Batch, missing: bigint): Promise<boolean> {
    const { committer, loadPrincipal, money } = this.#dependencies
    const owner = await loadPrincipal({ organizationId: batch.organizationId, keyId: batch.keyId })
    const shortage = owner === null ? null : await money.shortageOf(batch, owner, missing)
    if (shortage === null) return false
    const message = shortages[shortage]
    // Written even if the lease's row had the same note: a part that was committed since may have cleared it.
    const note = noteWaiting(batch.id, shortageJson(shortage))
    await committer.commit('batch.wait', [note])
    if (!isWaiting(batch)) this.#dependencies.report('batch_waits', { batchId: batch.id, cause: message })
    return true
  }
}
