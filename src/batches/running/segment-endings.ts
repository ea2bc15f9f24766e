import type { Batch } from '../../canonical/batch.ts'
import { GatewayError } from '../../core/errors.ts'
import { resultsHoldMs } from '../../core/limits/batches.ts'
import { batchErrorJson, isWaiting } from '../../formats/batch/batch-object.ts'
import { beginFailing, noteWaiting } from '../batch-repository.ts'
import { mergeSegment } from '../results/merge.ts'
import type { GivenBack } from './given-back.ts'
import type { Shortage } from './batch-money.ts'
import type { PhaseDependencies } from './phases.ts'
import type { SegmentLease } from './segment-repository.ts'
import { finishSegment, returnSegment } from './segment-repository.ts'
import type { RunEnd } from './segment-run.ts'
import type { WaitingNote } from './waiting-note.ts'
import { forgetSegmentWaiting } from './waiting-repository.ts'

/** What ending the work on a segment needs. */
export interface SegmentEndingsDependencies extends PhaseDependencies {
  givenBack: GivenBack
  report(event: string, details: { batchId?: string; cause: unknown }): void
  /** Work is there for the workers. */
  wake(): void
}

const shortages: Record<Shortage, string> = {
  credits: 'This batch waits for credits. It goes on when credits are added.',
  key_limit:
    "This batch waits because the limit of its API key is used up. It goes on when the key's limit is raised.",
  max_cost:
    'This batch has reached its headrace.max_cost. Its other requests end unpaid at the deadline, or now when it is cancelled.',
}

const resultsRefused =
  'The gateway could not store all results of this batch. Those that were stored can be read at /batches/{id}/results; ' +
  'only they were charged. Send the other requests again.'

/** What becomes of a leased segment after its run: merged, given back with what it waits for, or the end of its batch. */
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
    // Taken over while merging: the new owner merges again.
    if (type === 'refused') await payloads.delete(merged.blob)
  }

  /** Some items are left: the segment's next owner runs them. */
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

  /** A segment that cannot be read or merged is tried again, but it does not keep its batch from ending. */
  async putOff(batch: Batch, lease: SegmentLease, cause: unknown): Promise<void> {
    const nowMs = this.#dependencies.clock.monotonicMs()
    const { sinceMs, restMs } = this.#dependencies.givenBack.noteFailure(lease, nowMs)
    const isClosing = batch.status === 'cancelling' || batch.status === 'expiring'
    if (isClosing && nowMs - sinceMs >= resultsHoldMs) return this.giveUp(batch, cause)
    await this.giveBack(batch, lease, { isDone: false, restMs, missing: null, tries: new Map() })
  }

  /** The batch fails: what is stored of it stays, nothing more is begun. */
  async giveUp(batch: Batch, cause: unknown): Promise<void> {
    const error = new GatewayError('batch_unavailable', resultsRefused)
    await this.#dependencies.committer.commit('batch.fail', [beginFailing(batch.id, batchErrorJson(error))])
    this.#dependencies.report('batch_given_up', { batchId: batch.id, cause })
    this.#dependencies.wake()
  }

  /**
   * Says what the batch waits for: to its owner in the batch, to the operator in the log. False when it waits for no money:
   * an item that was short when its process was told to stop is not what the balance is short of.
   */
  async #noteShortage(batch: Batch, missing: bigint): Promise<boolean> {
    const { committer, loadPrincipal, money } = this.#dependencies
    const owner = await loadPrincipal({ organizationId: batch.organizationId, keyId: batch.keyId })
    const shortage = owner === null ? null : await money.shortageOf(batch, owner, missing)
    if (shortage === null) return false
    const message = shortages[shortage]
    // Also when the row said so at the lease: a part may have taken it back since.
    const note = noteWaiting(batch.id, batchErrorJson({ type: 'payment_required', message }))
    await committer.commit('batch.wait', [note])
    if (!isWaiting(batch)) this.#dependencies.report('batch_waits', { batchId: batch.id, cause: message })
    return true
  }
}
