import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { waitingNoteEveryMs, workerIdleMs } from '../../core/limits/batches.ts'
import type { Batch, StoredStatus } from '../../canonical/batch.ts'
import { batchErrorJson } from '../../formats/batch/batch-object.ts'
import { endFailing, failBatch, moveBatch } from '../batch-repository.ts'
import type { Committer } from '../commit-repository.ts'
import { finalizeAs, sumPartUsage } from './finalize.ts'
import type { LoadPrincipal, ResolveBatch } from '../item-contract.ts'
import type { BatchMoney } from './money.ts'
import type { PartRepository } from '../results/part-repository.ts'
import type { Payloads } from '../results/payload-repository.ts'
import type { SegmentRepository } from './segment-repository.ts'
import type { Signals } from '../signal-repository.ts'
import type { WaitingRepository } from './waiting-repository.ts'
import { forgetBatchWaiting, noteBatchWaiting } from './waiting-repository.ts'

/** What phases need. */
export interface PhaseParts {
  committer: Committer
  segments: SegmentRepository
  parts: PartRepository
  payloads: Payloads
  signals: Signals
  money: BatchMoney
  clock: Clock
  resolveBatch: ResolveBatch
  loadPrincipal: LoadPrincipal
  waits: WaitingRepository
}

/**
 * One bounded step of a batch's life, to be repeated until its status has no phase. Every step may be taken by several
 * processes at once and after any crash: what changes a status names the status it changes.
 */
type Phase = (batch: Batch, parts: PhaseParts) => Promise<void>

const phases: Partial<Record<StoredStatus, Phase>> = {
  validating: validate,
  in_progress: endWhenDone,
  finalizing: (batch, parts) => finalizeAs('completed', batch, parts),
  cancelling: (batch, parts) => finalizeWhenDone('cancelled', batch, parts),
  expiring: (batch, parts) => finalizeWhenDone('expired', batch, parts),
  failing: failWhenSettled,
}

/** Takes the batch's next step, if it has one. */
export async function advance(batch: Batch, parts: PhaseParts): Promise<void> {
  await phases[batch.status]?.(batch, parts)
}

/**
 * Asks again what was asked at acceptance: policy, models and keys may have changed since, and nothing has run yet. What
 * may pass is waited for; what will not fails the batch and returns its money.
 */
async function validate(batch: Batch, parts: PhaseParts): Promise<void> {
  const refusal = await findRefusal(batch, parts)
  if (refusal === null) {
    await parts.committer.commit('batch.start', [
      moveBatch(batch.id, 'validating', 'in_progress'),
      forgetBatchWaiting(batch.id),
    ])
    batch.status = 'in_progress'
    parts.signals.wakeWorkers()
    return
  }
  if (refusal.status >= 500) return noteValidationWait(batch, refusal, parts)
  if (!(await parts.money.settle(batch))) return
  await parts.committer.commit('batch.fail', [
    failBatch(batch.id, batchErrorJson(refusal)),
    forgetBatchWaiting(batch.id),
    ...parts.money.close(batch),
  ])
}

/** It is asked again with every look; what it waits for is noted every few seconds. */
async function noteValidationWait(
  batch: Batch,
  { type, message }: GatewayError,
  { waits, clock, committer }: PhaseParts,
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

/** Items that still run hold from the batch's budget; they are being given up, and then the rest of it goes back. */
async function failWhenSettled(batch: Batch, parts: PhaseParts): Promise<void> {
  if (!(await parts.money.settle(batch))) return
  // Where results could not be written they may not be readable either; the ledger has the charges in any case.
  const usage = await sumPartUsage(batch, parts).catch(() => null)
  await parts.committer.commit('batch.fail', [
    endFailing(batch.id, usage && JSON.stringify(usage)),
    forgetBatchWaiting(batch.id),
    ...parts.money.close(batch),
  ])
}

async function findRefusal(batch: Batch, parts: PhaseParts): Promise<GatewayError | null> {
  const { organizationId, keyId, endpoint, model, providerOnly } = batch
  const principal = await parts.loadPrincipal({ organizationId, keyId })
  if (principal === null) {
    return new GatewayError('permission_denied', 'The API key that created this batch may no longer be used.')
  }
  try {
    await parts.resolveBatch({ principal, endpoint, model, providerOnly })
    return null
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
}

async function endWhenDone(batch: Batch, parts: PhaseParts): Promise<void> {
  if (await parts.segments.hasOpen(batch.id)) return
  const moved = await parts.committer.commit('batch.finalizing', [
    moveBatch(batch.id, 'in_progress', 'finalizing'),
  ])
  if (moved.type === 'committed') await finalizeAs('completed', { ...batch, status: 'finalizing' }, parts)
}

async function finalizeWhenDone(
  status: 'cancelled' | 'expired',
  batch: Batch,
  parts: PhaseParts,
): Promise<void> {
  if (!(await parts.segments.hasOpen(batch.id))) await finalizeAs(status, batch, parts)
}
