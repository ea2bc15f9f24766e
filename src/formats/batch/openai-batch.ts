import type { Batch, LineFault } from '../../canonical/batch.ts'
import { hasResults, isTerminal } from '../../canonical/batch.ts'
import { resultFileId } from '../../canonical/file.ts'
import { type BatchObject, toBatchObject } from './batch-object.ts'

/** OpenAI's batch: its members beside the contract's. Times are Unix seconds. */
export interface OpenAiBatch extends BatchObject {
  input_file_id: string | null
  output_file_id: string | null
  error_file_id: string | null
  errors: { object: 'list'; data: readonly LineFault[] } | null
  metadata: Readonly<Record<string, string>> | null
  in_progress_at: number | null
  finalizing_at: number | null
  completed_at: number | null
  failed_at: number | null
  expired_at: number | null
  cancelling_at: number | null
  cancelled_at: number | null
}

/** A batch as OpenAI's clients see it, wherever it was made. */
export function toOpenAiBatch(batch: Batch): OpenAiBatch {
  const { id, status, outputBytes, errorBytes, lineFaults } = batch
  const endedAt = seconds(batch.finalizedAtMs)
  const endedAs = (one: Batch['status']) => (status === one ? endedAt : null)
  const isReadable = hasResults(status)
  const object = toBatchObject(batch)
  return {
    ...object,
    usage: object.usage === null ? null : { ...object.usage, ...tokensOf(object.usage) },
    input_file_id: batch.inputFileId,
    output_file_id: isReadable && outputBytes > 0 ? resultFileId(id, 'out') : null,
    error_file_id: isReadable && errorBytes > 0 ? resultFileId(id, 'err') : null,
    errors: lineFaults.length === 0 ? null : { object: 'list', data: lineFaults },
    metadata: batch.callerMetadata,
    in_progress_at: seconds(batch.startedAtMs),
    finalizing_at: isTerminal(status) && status !== 'failed' ? endedAt : null,
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: endedAs('expired'),
    cancelling_at: seconds(batch.cancelRequestedAtMs),
    cancelled_at: endedAs('cancelled'),
  }
}

/** The counts under the names that OpenAI's batches have. */
function tokensOf(usage: Record<string, unknown>): Record<string, unknown> {
  const details = (name: string) => (usage[name] ?? {}) as Record<string, unknown>
  return {
    input_tokens: usage['prompt_tokens'],
    output_tokens: usage['completion_tokens'],
    input_tokens_details: { cached_tokens: details('prompt_tokens_details')['cached_tokens'] ?? 0 },
    output_tokens_details: {
      reasoning_tokens: details('completion_tokens_details')['reasoning_tokens'] ?? 0,
    },
  }
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000)
}
