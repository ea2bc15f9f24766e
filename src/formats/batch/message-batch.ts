import type { Batch } from '../../canonical/batch.ts'
import { isTerminal } from '../../canonical/batch.ts'
import { findMember } from '../../json/scan.ts'
import { messagesErrorTypeOf } from '../text/messages/errors.ts'
import type { ItemError } from './result-line.ts'

/** Anthropic's message batch, in the order of its members there; times are RFC 3339. */
export interface MessageBatch {
  id: string
  type: 'message_batch'
  processing_status: 'in_progress' | 'canceling' | 'ended'
  request_counts: MessageCounts
  ended_at: string | null
  created_at: string
  expires_at: string
  archived_at: null
  cancel_initiated_at: string | null
  results_url: string | null
}

interface MessageCounts {
  processing: number
  succeeded: number
  errored: number
  canceled: number
  expired: number
}

/** A batch whose endpoint is `/v1/messages`, as Anthropic's clients see it. `resultsUrl` is where its results would be. */
export function toMessageBatch(batch: Batch, resultsUrl: string): MessageBatch {
  const isEnded = isTerminal(batch.status)
  return {
    id: batch.id,
    type: 'message_batch',
    processing_status: isEnded ? 'ended' : runningStatus(batch),
    request_counts: isEnded ? endedCounts(batch) : { ...noCounts, processing: batch.totalItems },
    ended_at: timeOf(batch.finalizedAtMs),
    created_at: new Date(batch.createdAtMs).toISOString(),
    expires_at: new Date(batch.expiresAtMs).toISOString(),
    archived_at: null,
    cancel_initiated_at: timeOf(batch.cancelRequestedAtMs),
    results_url: isEnded ? resultsUrl : null,
  }
}

function runningStatus({ status }: Batch): 'canceling' | 'in_progress' {
  return status === 'cancelling' ? 'canceling' : 'in_progress'
}

const noCounts: MessageCounts = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 }

/** As at Anthropic, an item counts as being processed until its whole batch has ended. */
function endedCounts({ completedItems, failedItems, cancelledItems, expiredItems }: Batch): MessageCounts {
  return {
    processing: 0,
    succeeded: completedItems,
    errored: failedItems - cancelledItems - expiredItems,
    canceled: cancelledItems,
    expired: expiredItems,
  }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

const succeeded = Buffer.from(',"result":{"type":"succeeded","message":')
const end = Buffer.from('}}\n')

/** A stored result line as a line of Anthropic's results, newline included. The message's bytes are unchanged. */
export function messageResultLine(line: Buffer): Buffer {
  const customId = memberOf(line, 'custom_id')
  const response = memberOf(line, 'response')
  const head = Buffer.concat([Buffer.from('{"custom_id":'), customId])
  if (response[0] === openBrace) return Buffer.concat([head, succeeded, memberOf(response, 'body'), end])
  const error = JSON.parse(memberOf(line, 'error').toString('utf8')) as ItemError
  return Buffer.concat([head, Buffer.from(`,"result":${JSON.stringify(failedResult(error))}}\n`)])
}

const openBrace = 0x7b

function failedResult({ type, message, param, error_type: contractType }: ItemError): object {
  if (type === 'batch_cancelled') return { type: 'canceled' }
  if (type === 'batch_expired') return { type: 'expired' }
  const error = {
    type: messagesErrorTypeOf(contractType ?? type),
    message,
    ...(param === null ? {} : { param }),
  }
  return { type: 'errored', error: { type: 'error', error, request_id: null } }
}

/** The bytes of a member of a line that the gateway wrote itself. */
function memberOf(object: Buffer, name: string): Buffer {
  return findMember(object, name).value ?? Buffer.from('null')
}
