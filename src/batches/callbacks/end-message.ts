import { type Batch, isTerminal } from '../../canonical/batch.ts'
import type { Delivery, Message } from '../../delivery/delivery.ts'
import { type BatchFacts, toBatchObject } from '../../formats/batch/batch-object.ts'
import type { BatchRepository } from '../batch-repository.ts'
import type { MoveRepository } from '../lanes/move-repository.ts'

/**
 * What the event of a batch's end says, after the contract's webhooks: `type`, `created_at`, and as `data` the batch
 * without results. A batch that has ended does not change, so the bytes are the same at every try; a batch that was
 * deleted since is told all the same, until its row goes. Null when that is gone.
 */
export function createEndMessages({
  batches,
  moves,
}: {
  batches: Pick<BatchRepository, 'loadEvenDeleted'>
  moves: MoveRepository
}): (delivery: Delivery) => Promise<Message | null> {
  return async ({ batchId, event }) => {
    const batch = await batches.loadEvenDeleted(batchId)
    if (batch === null || batch.callbackUrl === null || !isTerminal(batch.status)) return null
    const moved = (await moves.listOf([batchId])).get(batchId)
    return { url: batch.callbackUrl, body: bodyOf(batch, event, moved) }
  }
}

function bodyOf(batch: Batch, event: string, moves: BatchFacts['moves']): string {
  return JSON.stringify({
    type: event,
    created_at: new Date(batch.finalizedAtMs ?? batch.createdAtMs).toISOString(),
    data: toBatchObject(batch, { moves }),
  })
}
