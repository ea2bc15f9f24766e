import { assert } from '../../core/assert.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { mergedPageMax, partsPageMax } from '../../core/limits/batches.ts'
import { giveBack } from '../../core/memory.ts'
import type { Batch } from '../../canonical/batch.ts'
import { type BatchFacts, toBatchObject } from '../../formats/batch/batch-object.ts'
import type { MergedIndex } from './merge.ts'
import { readPartBytes } from './merge.ts'
import type { PartRepository } from './part-repository.ts'
import type { ResultPart } from './part-repository.ts'
import type { Payloads } from './payloads.ts'
import type { SegmentRepository } from '../running/segment-repository.ts'

/** Bytes of results written to a reader at a time. */
export const resultsPieceBytes = 256 * 1024
/** How long one response may read results; blobs of deleted batches outlive it. */
const resultsReadMsMax = 12 * 3_600_000

/** What reading results needs. */
export interface ResultDependencies {
  segments: SegmentRepository
  parts: PartRepository
  payloads: Payloads
  clock: Clock
}

/** Where a reader of `/results` continues: after this item of this part. */
export interface Cursor {
  sequence: number
  /** Place of the last item read within its part; -1 for none. */
  index: number
}

const newline = 0x0a
const comma = 0x2c
/** `,"cursor":"…"` with the longest cursor that `parseCursor` reads. */
const cursorBytesMax = 34

/** Parses a caller's cursor; null starts at the beginning. Throws `invalid_request`. */
export function parseCursor(text: string | null): Cursor {
  if (text === null || text === '') return { sequence: 0, index: Number.MAX_SAFE_INTEGER }
  const match = /^(\d{1,12})-(\d{1,9})$/.exec(text)
  if (!match) {
    throw new GatewayError(
      'invalid_request',
      'cursor must be the "cursor" member of a line of these results.',
      {
        param: 'cursor',
      },
    )
  }
  return { sequence: Number(match[1]), index: Number(match[2]) }
}

/**
 * The batch with all its results in input order, `{…,"results":[…]}`, produced as the reader takes it. Memory is one
 * block whatever the size. A failure breaks the stream; the array is closed only after the last item.
 */
export function streamBatch(
  batch: Batch,
  facts: Pick<BatchFacts, 'moves' | 'jobs'>,
  dependencies: ResultDependencies,
): ReadableStream<Uint8Array> {
  const { results: _none, ...shown } = toBatchObject(batch, facts)
  const head = JSON.stringify(shown)
  return toStream(inlineResults(`${head.slice(0, -1)},"results":[`, batch, dependencies), dependencies.clock)
}

async function* inlineResults(
  head: string,
  batch: Batch,
  dependencies: ResultDependencies,
): AsyncGenerator<ResultPiece> {
  yield { bytes: Buffer.from(head) }
  let count = 0
  for await (const { content, itemCount } of mergedBlocks(batch, dependencies)) {
    if (count > 0) yield { bytes: Buffer.from(',') }
    count += itemCount
    const lines = separated(content)
    for (let start = 0; start < lines.length; start += resultsPieceBytes) {
      const end = start + resultsPieceBytes
      yield { bytes: lines.subarray(start, end), ...(end >= lines.length ? { spent: content } : {}) }
    }
  }
  if (count !== batch.totalItems)
    throw new Error(`batch ${batch.id} has ${count} results of ${batch.totalItems}`)
  yield { bytes: Buffer.from(']}') }
}

/** Lines as array elements: every newline but the last becomes a comma. */
function separated(lines: Buffer): Buffer {
  const last = lines.length - 1
  for (let at = lines.indexOf(newline); at >= 0 && at < last; at = lines.indexOf(newline, at + 1))
    lines[at] = comma
  return lines.subarray(0, last)
}

/** The results of an ended batch in input order, one block after the other; each line ends in a newline. */
export async function* mergedBlocks(
  batch: Batch,
  { segments, payloads }: ResultDependencies,
): AsyncGenerator<{ content: Buffer; itemCount: number }> {
  for (let next = 0; ;) {
    const page = await segments.listMerged(batch.id, next, mergedPageMax)
    for (const { blob, indexJson, ordinal } of page) {
      for (const { offset, bytes, itemCount } of (JSON.parse(indexJson) as MergedIndex).blocks) {
        yield { content: await payloads.readBlock(blob, offset, bytes), itemCount }
      }
      next = ordinal + 1
    }
    if (page.length < mergedPageMax) return
  }
}

/**
 * The results so far, one per line, in the order in which they became durable; also while the batch runs. Each line has
 * a `cursor`, after which a later request continues. The stream ends with the last result that is durable now.
 */
export function streamResults(
  batch: Batch,
  cursor: Cursor,
  dependencies: ResultDependencies,
): ReadableStream<Uint8Array> {
  return toStream(resultLines(batch, cursor, dependencies), dependencies.clock)
}

async function* resultLines(
  batch: Batch,
  from: Cursor,
  dependencies: ResultDependencies,
): AsyncGenerator<ResultPiece> {
  let after = from.index === Number.MAX_SAFE_INTEGER ? from.sequence : from.sequence - 1
  for (;;) {
    const page = await dependencies.parts.listAfter(batch.id, after, partsPageMax)
    for (const part of page) {
      const bytes = await readPartBytes(dependencies.payloads, part)
      if (part.inlineBody !== null) giveBack(part.inlineBody)
      const skipped = part.sequence === from.sequence ? from.index + 1 : 0
      yield* withCursors(bytes, part, skipped)
      giveBack(bytes)
      after = part.sequence
    }
    if (page.length < partsPageMax) return
  }
}

/**
 * The lines of a part after the first `skipped`, in pieces. Every line ends in `}` and a newline; the cursor is added as
 * the last member of the line's object. No object is allocated per line: a part has many thousands, and they would pile
 * up to tens of megabytes faster than the garbage collector runs.
 */
function* withCursors(
  bytes: Buffer,
  { sequence, itemCount }: ResultPart,
  skipped: number,
): Generator<ResultPiece> {
  const head = Buffer.from(`,"cursor":"${sequence}-`)
  const pieceBytes = Math.min(resultsPieceBytes, bytes.length + itemCount * cursorBytesMax)
  let piece = Buffer.allocUnsafeSlow(pieceBytes)
  let filled = 0
  let place = 0
  for (let at = bytes.indexOf(newline) + 1; at < bytes.length; place += 1) {
    const next = bytes.indexOf(newline, at) + 1
    assert(next > at, 'a part ends with a newline')
    if (place < skipped) {
      at = next
      continue
    }
    for (const end = next - 2; at < end;) {
      const copied = bytes.copy(piece, filled, at, Math.min(end, at + piece.length - filled))
      at += copied
      filled += copied
      if (filled + cursorBytesMax <= piece.length) continue
      yield { bytes: piece.subarray(0, filled), spent: piece }
      piece = Buffer.allocUnsafeSlow(pieceBytes)
      filled = 0
    }
    filled += head.copy(piece, filled)
    filled += piece.write(`${place}"}\n`, filled, 'latin1')
    at = next
  }
  assert(place === itemCount, 'a part has as many lines as items')
  if (filled > 0) yield { bytes: piece.subarray(0, filled), spent: piece }
}

/** Bytes for the reader. `spent` is memory that can be freed once the bytes are written. */
export interface ResultPiece {
  bytes: Uint8Array
  spent?: Uint8Array
}

/**
 * Writes straight to the socket as the reader takes the bytes, because a queue in between would keep memory that is
 * collected late. A reader that stalls costs one block; a reader that leaves closes the source.
 */
export function toStream(pieces: AsyncGenerator<ResultPiece>, clock: Clock): ReadableStream<Uint8Array> {
  const untilMs = clock.monotonicMs() + resultsReadMsMax
  return new ReadableStream<Uint8Array>({
    type: 'direct',
    async pull(writer) {
      const copies = isSocket(writer)
      for await (const { bytes, spent } of pieces) {
        if (clock.monotonicMs() > untilMs) throw new Error('a response was read for too long')
        await writer.write(bytes)
        // The writer keeps small pieces back, and would lose them if the source broke; flushing shows the reader all there was.
        if (bytes.length < resultsPieceBytes) await writer.flush()
        // Freed at once: pieces are written faster than they are collected, and tens of megabytes would pile up.
        if (copies && spent) giveBack(spent)
      }
      writer.close()
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}

/** A socket's writer copies or sends the bytes before `write` ends; a reader in this process gets the same memory, which must stay. */
function isSocket(writer: ReadableStreamDirectController): boolean {
  return /HTTPS?ResponseSink/.test(Object.prototype.toString.call(writer))
}
