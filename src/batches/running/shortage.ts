import type { Batch } from '../../canonical/batch.ts'
import type { Principal } from '../../canonical/principal.ts'
import { batchErrorJson, isWaiting } from '../../formats/batch/batch-object.ts'
import { noteWaiting } from '../batch-repository.ts'
import type { Committer } from '../committer.ts'
import type { BatchMoney, Shortage } from './batch-money.ts'

/** What a batch waits for, in words for its owner. */
const shortages: Record<Shortage, string> = {
  credits: 'This batch waits for credits. It goes on when credits are added.',
  key_limit:
    "This batch waits because the limit of its API key is used up. It goes on when the key's limit is raised.",
  max_cost:
    'This batch has reached its headrace.max_cost. Its other requests end unpaid at the deadline, or now when it is cancelled.',
}

/**
 * Records that the batch waits for money: in the batch for its owner, and in the log for the operator. False when the
 * budgets have what is missing by now.
 */
export async function noteShortage(
  batch: Batch,
  owner: Principal,
  missing: bigint,
  {
    committer,
    money,
    report,
  }: {
    committer: Committer
    money: Pick<BatchMoney, 'shortageOf'>
    report(event: string, details: { batchId?: string; cause: unknown }): void
  },
): Promise<boolean> {
  const shortage = await money.shortageOf(batch, owner, missing)
  if (shortage === null) return false
  const message = shortages[shortage]
  // Written even if the batch's row had the same note: a part that was committed since may have cleared it.
  const note = noteWaiting(batch.id, batchErrorJson({ type: 'payment_required', message }))
  await committer.commit('batch.wait', [note])
  if (!isWaiting(batch)) report('batch_waits', { batchId: batch.id, cause: message })
  return true
}

/** The batch goes on, if it waited for money. */
export async function forgetShortage(batch: Batch, committer: Committer): Promise<void> {
  if (isWaiting(batch)) await committer.commit('batch.wait', [noteWaiting(batch.id, null)])
}
