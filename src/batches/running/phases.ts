import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { waitingNoteEveryMs, workerIdleMs } from '../../core/limits/batches.ts'
import { announceEnd } from '../../delivery/delivery-repository.ts'
import { type Batch, type LaneName, modelsOf, type StoredStatus } from '../../canonical/batch.ts'
import { batchErrorJson } from '../../formats/batch/batch-object.ts'
import { endFailing, failBatch, moveBatch, startBatch } from '../batch-repository.ts'
import type { Committer } from '../committer.ts'
import { finalizeAs, sumPartUsage } from './finalize.ts'
import type { LoadPrincipal, ResolveBatch } from '../item-contract.ts'
import { laneOfAll } from '../lanes/mixed-lanes.ts'
import type { BatchMoney } from './batch-money.ts'
import type { PartRepository } from '../results/part-repository.ts'
import type { Payloads } from '../results/payloads.ts'
import type { SegmentRepository } from './segment-repository.ts'
import type { WorkerSignals } from '../batch-stores.ts'
import { forgetBatchWaiting, noteBatchWaiting, type WaitingRepository } from './waiting-repository.ts'

/** What phases need. */
export interface PhaseDependencies {
  committer: Committer
  segments: SegmentRepository
  parts: PartRepository
  payloads: Payloads
  signals: WorkerSignals
  money: BatchMoney
  clock: Clock
  resolveBatch: ResolveBatch
  loadPrincipal: LoadPrincipal
  waits: WaitingRepository
}

/**
 * One bounded step of a batch's life, repeated until its status has no phase. Several processes may take a step at once,
 * and after any crash: a statement that changes a status names the status it expects.
 */
type Phase = (batch: Batch, dependencies: PhaseDependencies) => Promise<void>

const phases: Partial<Record<StoredStatus, Phase>> = {
  validating: validate,
  in_progress: endWhenDone,
  finalizing: (batch, dependencies) => finalizeAs('completed', batch, dependencies),
  cancelling: (batch, dependencies) => finalizeWhenDone('cancelled', batch, dependencies),
  expiring: (batch, dependencies) => finalizeWhenDone('expired', batch, dependencies),
  failing: failWhenSettled,
}

/** Takes the batch's next step, if it has one. */
export async function advance(batch: Batch, dependencies: PhaseDependencies): Promise<void> {
  await phases[batch.status]?.(batch, dependencies)
}

/**
 * Repeats the checks of the acceptance: policy, models and keys may have changed since, and nothing has run yet. For a
 * passing obstacle the batch waits; a lasting one fails the batch and returns its money.
 */
async function validate(batch: Batch, dependencies: PhaseDependencies): Promise<void> {
  const { lane, refusal } = await resolveAgain(batch, dependencies)
  if (refusal === null) {
    await dependencies.committer.commit('batch.start', [
      startBatch(batch.id, lane),
      forgetBatchWaiting(batch.id),
    ])
    Object.assign(batch, { status: 'in_progress', lane })
    dependencies.signals.wakeWorkers()
    return
  }
  if (refusal.status >= 500) return noteValidationWait(batch, refusal, dependencies)
  if (!(await dependencies.money.settle(batch))) return
  await dependencies.committer.commit('batch.fail', [
    failBatch(batch.id, batchErrorJson(refusal)),
    announceEnd(batch.id),
    forgetBatchWaiting(batch.id),
    ...dependencies.money.close(batch),
  ])
}

/** The batch is checked at every look; what it waits for is recorded every few seconds at most. */
async function noteValidationWait(
  batch: Batch,
  { type, message }: GatewayError,
  { waits, clock, committer }: PhaseDependencies,
): Promise<void> {
  const nowMs = clock.nowMs()
  const [noted] = (await waits.listOf([batch.id])).get(batch.id) ?? []
  if (noted?.type === type && nowMs - noted.nextTryMs < waitingNoteEveryMs) return
  const nextTryMs = nowMs + workerIdleMs
  const waiting = { type, message, items: batch.totalItems, sinceMs: nowMs, nextTryMs }
  const isOther = noted !== undefined && noted.type !== type
  const statements = [...(isOther ? [forgetBatchWaiting(batch.id)] : []), noteBatchWaiting(batch.id, waiting)]
  await committer.commit('batch.wait', statements)
}

/** Ends a failing batch once no item holds from its budget any more; the rest of the budget is returned. */
async function failWhenSettled(batch: Batch, dependencies: PhaseDependencies): Promise<void> {
  if (!(await dependencies.money.settle(batch))) return
  // When results could not be written, they may be unreadable too; the ledger has the charges in any case.
  const usage = await sumPartUsage(batch, dependencies).catch(() => null)
  await dependencies.committer.commit('batch.fail', [
    endFailing(batch.id, usage && JSON.stringify(usage)),
    announceEnd(batch.id),
    forgetBatchWaiting(batch.id),
    ...dependencies.money.close(batch),
  ])
}

/** The lane that the batch has by what is served now, or why it cannot run. */
async function resolveAgain(
  batch: Batch,
  dependencies: PhaseDependencies,
): Promise<{ lane: LaneName; refusal: GatewayError | null }> {
  const { organizationId, keyId, endpoint, providerOnly, laneChoice } = batch
  const principal = await dependencies.loadPrincipal({ organizationId, keyId })
  if (principal === null) {
    const message = 'The API key that created this batch may no longer be used.'
    return { lane: batch.lane, refusal: new GatewayError('permission_denied', message) }
  }
  try {
    const lanes: LaneName[] = []
    for (const { model, items } of modelsOf(batch)) {
      const question = { principal, endpoint, model, providerOnly, lane: laneChoice, items }
      lanes.push((await dependencies.resolveBatch(question)).lane)
    }
    const lane = laneOfAll(lanes)
    // The caller was told the lane: what was accepted for one lane is never put into another, except back to the live price, which is set aside.
    return { lane: lane === batch.lane ? lane : 'emulated', refusal: null }
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { lane: batch.lane, refusal: thrown }
    throw thrown
  }
}

async function endWhenDone(batch: Batch, dependencies: PhaseDependencies): Promise<void> {
  if (await dependencies.segments.hasOpen(batch.id)) return
  const moved = await dependencies.committer.commit('batch.finalizing', [
    moveBatch(batch.id, 'in_progress', 'finalizing'),
  ])
  if (moved.type === 'committed')
    await finalizeAs('completed', { ...batch, status: 'finalizing' }, dependencies)
}

async function finalizeWhenDone(
  status: 'cancelled' | 'expired',
  batch: Batch,
  dependencies: PhaseDependencies,
): Promise<void> {
  if (!(await dependencies.segments.hasOpen(batch.id))) await finalizeAs(status, batch, dependencies)
}
