import { mergedPageMax, partsPageMax } from '../../core/limits/batches.ts'
import { announceEnd } from '../../delivery/delivery-repository.ts'
import type { Batch } from '../../canonical/batch.ts'
import { insertResultFiles } from '../../files/file-repository.ts'
import { finalizeBatch } from '../batch-repository.ts'
import type { UsageSum } from '../../formats/batch/batch-usage.ts'
import type { BatchUsage } from '../../formats/batch/batch-usage.ts'
import { addUsage, emptyUsageSum, shownUsage } from '../../formats/batch/batch-usage.ts'
import type { Committer } from '../committer.ts'
import type { MergedIndex } from '../results/merge.ts'
import { readPartBytes } from '../results/merge.ts'
import type { BatchMoney } from './batch-money.ts'
import type { PartRepository } from '../results/part-repository.ts'
import { decodePart } from '../results/parts.ts'
import type { Payloads } from '../results/payloads.ts'
import type { SegmentRepository } from './segment-repository.ts'
import { forgetBatchWaiting } from './waiting-repository.ts'

/** What finalizing needs. */
export interface FinalizeDependencies {
  committer: Committer
  segments: SegmentRepository
  money: BatchMoney
}

const errors = {
  completed: null,
  cancelled: null,
  expired: JSON.stringify({
    message: 'The batch expired before all of its requests were finished.',
    type: 'batch_expired',
  }),
}

/**
 * Ends a batch whose segments are all done. It sums the usage; the unit that sets the status also returns the rest of the
 * budget, and only one process's unit can succeed.
 */
export async function finalizeAs(
  status: 'completed' | 'cancelled' | 'expired',
  batch: Batch,
  { committer, segments, money }: FinalizeDependencies,
): Promise<void> {
  // A hold that still runs on the budget must end first; the next look tries again.
  if (!(await money.settle(batch))) return
  const usageJson = JSON.stringify(shownUsage(await sumUsage(batch, segments)))
  const end = { from: batch.status, to: status, usageJson, errorJson: errors[status] }
  const statements = [
    finalizeBatch(batch.id, end),
    ...insertResultFiles(batch.id),
    announceEnd(batch.id),
    forgetBatchWaiting(batch.id),
    ...money.close(batch),
  ]
  await committer.commit('batch.finalize', statements)
}

/** The usage of the durable parts, for a batch whose segments were not all merged. */
export async function sumPartUsage(
  batch: Batch,
  { parts, payloads }: { parts: PartRepository; payloads: Payloads },
): Promise<BatchUsage> {
  let sum = emptyUsageSum()
  for (let after = 0; ;) {
    const page = await parts.listAfter(batch.id, after, partsPageMax)
    for (const part of page) {
      sum = addUsage(sum, decodePart(await readPartBytes(payloads, part)).usage)
      after = part.sequence
    }
    if (page.length < partsPageMax) return shownUsage(sum)
  }
}

async function sumUsage(batch: Batch, segments: SegmentRepository): Promise<UsageSum> {
  let sum = emptyUsageSum()
  for (let next = 0; ;) {
    const page = await segments.listMerged(batch.id, next, mergedPageMax)
    for (const { indexJson, ordinal } of page) {
      sum = addUsage(sum, (JSON.parse(indexJson) as MergedIndex).usage)
      next = ordinal + 1
    }
    if (page.length < mergedPageMax) return sum
  }
}
