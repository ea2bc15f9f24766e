import { GatewayError } from '../../core/errors.ts'
import { batchItemBytesMax, batchItemValuesBytesMax } from '../../core/limits/batches.ts'
import { isJson, itemErrorOf } from '../../formats/batch/result-line.ts'
import type { ItemOutcome } from '../item-contract.ts'

/** Why the remaining items of a batch are ended without running. */
export type CloseReason = 'batch_cancelled' | 'batch_expired'

const closeMessages = {
  batch_cancelled: 'The batch was cancelled before this request was finished.',
  batch_expired: 'The batch expired before this request was finished.',
  payment_required: 'The batch expired while this request waited for credits.',
}

/** The ending of an item that did not run. `isUnpaid`: it did not run because money was short. */
export function closedEnding(reason: CloseReason, isUnpaid: boolean): ItemOutcome {
  const type = reason === 'batch_expired' && isUnpaid ? 'payment_required' : reason
  return failedEnding(new GatewayError(type, closeMessages[type]))
}

/** The ending of an item that is larger than one item may be. */
export function tooLargeEnding(): ItemOutcome {
  const message = `The item is larger than ${batchItemBytesMax} bytes, or has more than ${batchItemValuesBytesMax} besides its long texts. Send less in it.`
  return failedEnding(new GatewayError('payload_too_large', message, { param: 'body' }))
}

/** The ending of an item when the batch's key may no longer be used. */
export function ownerGoneEnding(): ItemOutcome {
  const message = 'The API key that created this batch may no longer be used.'
  return failedEnding(new GatewayError('permission_denied', message))
}

/** The outcome to be stored: an answer that is not JSON becomes an error. */
export function keptEnding(outcome: ItemOutcome): ItemOutcome {
  if (outcome.response === null || isJson(outcome.response.body)) return outcome
  const message = 'The provider answered with something that is not JSON.'
  return failedEnding(new GatewayError('provider_failed', message))
}

/** An item that ends with an error, and is not charged. */
export function failedEnding(error: GatewayError): ItemOutcome {
  return {
    response: null,
    error: itemErrorOf(error),
    usage: null,
    capture: null,
    retryLaterMs: null,
    missingNanocredits: 0n,
  }
}
