import type { Batch } from '../../canonical/batch.ts'
import { hasResults } from '../../canonical/batch.ts'
import { GatewayError } from '../../core/errors.ts'
import { mergedPageMax, partsPageMax } from '../../core/limits/batches.ts'
import { itemErrorOf, readItemLine, resultLine } from '../../formats/batch/result-line.ts'
import type { SegmentLease } from '../running/segment-repository.ts'
import { readOpenItems } from '../running/segment-items.ts'
import { decodePart } from './parts.ts'
import { readPartBytes } from './merge.ts'
import {
  mergedBlocks,
  type ResultPiece,
  type ResultDependencies,
  resultsPieceBytes,
  toStream,
} from './results.ts'

/** Makes a line of another dialect, newline included, from a stored result line; null leaves the result out. */
export type ConvertLine = (line: Buffer) => Uint8Array | null

const newline = 0x0a

/**
 * The results of an ended batch as lines of another dialect, in input order, produced as the reader takes them. A batch
 * that failed has no results of its own: the items that it has not run are shown with the batch's error.
 */
export function streamConverted(
  batch: Batch,
  convert: ConvertLine,
  dependencies: ResultDependencies,
): ReadableStream<Uint8Array> {
  const lines = hasResults(batch.status) ? mergedLines(batch, dependencies) : failedLines(batch, dependencies)
  return toStream(inPieces(lines, convert), dependencies.clock)
}

/** Gathers lines into pieces, because a write for each line would cost more than the line. */
async function* inPieces(blocks: AsyncGenerator<Buffer>, convert: ConvertLine): AsyncGenerator<ResultPiece> {
  let gathered: Uint8Array[] = []
  let bytes = 0
  for await (const block of blocks) {
    for (let start = 0; start < block.length;) {
      const end = block.indexOf(newline, start) + 1
      const line = convert(block.subarray(start, end))
      start = end
      if (line === null) continue
      gathered.push(line)
      bytes += line.length
      if (bytes < resultsPieceBytes) continue
      yield { bytes: Buffer.concat(gathered) }
      gathered = []
      bytes = 0
    }
    // The lines share the memory of their block.
    if (bytes > 0) yield { bytes: Buffer.concat(gathered) }
    gathered = []
    bytes = 0
  }
}

async function* mergedLines(batch: Batch, dependencies: ResultDependencies): AsyncGenerator<Buffer> {
  let count = 0
  for await (const { content, itemCount } of mergedBlocks(batch, dependencies)) {
    count += itemCount
    yield content
  }
  if (count !== batch.totalItems)
    throw new Error(`batch ${batch.id} has ${count} results of ${batch.totalItems}`)
}

async function* failedLines(batch: Batch, dependencies: ResultDependencies): AsyncGenerator<Buffer> {
  const { parts, segments, payloads } = dependencies
  for (let after = 0; ;) {
    const page = await parts.listAfter(batch.id, after, partsPageMax)
    for (const part of page) {
      yield decodePart(await readPartBytes(payloads, part)).lines
      after = part.sequence
    }
    if (page.length < partsPageMax) break
  }
  const message =
    batch.errorJson === null
      ? 'The batch failed.'
      : (JSON.parse(batch.errorJson) as { message: string }).message
  const error = itemErrorOf(new GatewayError('invalid_request', message))
  for (let next = 0; ;) {
    const page = await segments.listStored(batch.id, next, mergedPageMax)
    for (const segment of page) {
      yield await closedLines(segment, error, dependencies)
      next = segment.ordinal + 1
    }
    if (page.length < mergedPageMax) return
  }
}

async function closedLines(
  segment: SegmentLease,
  error: ReturnType<typeof itemErrorOf>,
  { payloads }: ResultDependencies,
): Promise<Buffer> {
  const open = await readOpenItems(payloads, segment)
  return Buffer.concat(
    open.map(({ item, line }) =>
      resultLine(
        { batchId: segment.batchId, item, customId: readItemLine(line).customId },
        { response: null, error },
      ),
    ),
  )
}
