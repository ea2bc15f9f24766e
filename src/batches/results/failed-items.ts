import { type Batch, hasResults } from '../../canonical/batch.ts'
import { GatewayError } from '../../core/errors.ts'
import { mergedPageMax } from '../../core/limits/batches.ts'
import { writeHead } from '../../formats/batch/request-head.ts'
import { readItemLine } from '../../formats/batch/result-line.ts'
import { mergedBlocks, type ResultDependencies, type ResultPiece, toStream } from './results.ts'

const newline = 0x0a
const comma = Buffer.from(',')
/** The end of every line of results that has an answer. */
const answeredEnd = Buffer.from('"error":null}\n')

/**
 * The items of an ended batch whose result is an error, as the body of a request that creates a batch of them: what the
 * caller asked for, and the items as they were sent, in input order. Produced as the reader takes it; one segment and one
 * block of results are in memory. Throws `conflict` when the batch has not ended, or no item can be run again.
 */
export function retryBody(batch: Batch, dependencies: ResultDependencies): ReadableStream<Uint8Array> {
  if (!hasResults(batch.status)) {
    const message =
      batch.status === 'failed'
        ? 'The batch failed as a whole, so it has no items that failed. Create it again.'
        : 'The batch has not ended. Retry what failed of it when it has.'
    throw new GatewayError('conflict', message)
  }
  if (batch.failedItems === 0)
    throw new GatewayError('conflict', 'No item of the batch failed, so there is nothing to retry.')
  return toStream(bodyOf(batch, dependencies), dependencies.clock)
}

async function* bodyOf(batch: Batch, dependencies: ResultDependencies): AsyncGenerator<ResultPiece> {
  const head = JSON.stringify(writeHead(batch))
  yield { bytes: Buffer.from(`${head.slice(0, -1)},"requests":[`) }
  let isFirst = true
  for await (const item of failedItems(batch, dependencies)) {
    yield { bytes: isFirst ? item : Buffer.concat([comma, item]) }
    isFirst = false
  }
  yield { bytes: Buffer.from(']}') }
}

/** The lines of failed items as they were stored. An item whose request was too large to be kept is left out. */
async function* failedItems(batch: Batch, dependencies: ResultDependencies): AsyncGenerator<Buffer> {
  const failed = failures(batch, dependencies)
  for await (const content of storedSegments(batch, dependencies)) {
    for (let start = 0; start < content.length;) {
      const end = content.indexOf(newline, start)
      const line = content.subarray(start, end)
      const { value } = await failed.next()
      if (value === true && readItemLine(line).body !== null) yield line
      start = end + 1
    }
  }
}

/** The items of each segment in input order, a line each. */
async function* storedSegments(
  batch: Batch,
  { segments, payloads }: ResultDependencies,
): AsyncGenerator<Buffer> {
  for (let next = 0; ;) {
    const page = await segments.listStored(batch.id, next, mergedPageMax)
    for (const { ordinal, blob } of page) {
      yield await payloads.read(blob)
      next = ordinal + 1
    }
    if (page.length < mergedPageMax) return
  }
}

/** For each item in input order, whether its result is an error. */
async function* failures(batch: Batch, dependencies: ResultDependencies): AsyncGenerator<boolean> {
  for await (const { content } of mergedBlocks(batch, dependencies)) {
    for (let start = 0; start < content.length;) {
      const end = content.indexOf(newline, start) + 1
      yield !content.subarray(Math.max(start, end - answeredEnd.length), end).equals(answeredEnd)
      start = end
    }
  }
}
