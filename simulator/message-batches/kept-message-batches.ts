import { ApiError } from '../errors.ts'
import { storedBatchesMax } from '../limits.ts'
import type { BatchEnd, BatchOutput } from '../openai-batches/kept-batches.ts'

/** A batch of messages; every look brings it on. */
export interface MessageBatch {
  id: string
  createdAtMs: number
  total: number
  end: Exclude<BatchEnd, 'failed'>
  isEndless: boolean
  /** Looks before it ends. */
  looksMax: number
  looks: number
  cancelledAtMs: number | null
  endedAtMs: number | null
  /** Runs the requests, once; `share` is the part of them that is run. */
  run(share: number, reason: 'batch_expired' | 'batch_cancelled' | null): Promise<BatchOutput>
  ran: BatchOutput | null
}

/** The message batches of one mount, the oldest first. */
export interface KeptMessageBatches {
  readonly batches: Map<string, MessageBatch>
  keep(batch: MessageBatch): void
  noteLine(): void
  /** For tests: what was made, what is left and how many requests were run. */
  counts(): Record<string, number>
}

export function createKeptMessageBatches(): KeptMessageBatches {
  const batches = new Map<string, MessageBatch>()
  let made = 0
  let linesRun = 0
  return {
    batches,
    keep(batch) {
      if (batches.size >= storedBatchesMax)
        throw new ApiError({ status: 503, message: 'The simulator has too many batches.' })
      made += 1
      batches.set(batch.id, batch)
    },
    noteLine: () => void (linesRun += 1),
    counts: () => ({
      batches_made: made,
      batches_running: [...batches.values()].filter(({ endedAtMs }) => endedAtMs === null).length,
      batches_left: batches.size,
      lines_run: linesRun,
    }),
  }
}
