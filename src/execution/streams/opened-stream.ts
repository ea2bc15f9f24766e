import { joinPieces, type BodyPiece } from '../../core/body.ts'
import type { StreamRewriter } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import type { UpstreamResponse } from '../../transport/exchange.ts'
import { StreamReads } from './stream-reads.ts'

/**
 * Waiting reads of the provider's body that are taken in before the stream to the caller begins; later ones are
 * streamed.
 */
const readsAtOnceMax = 8
/** Bytes of the reads that are taken in before a stream begins; the last read may go beyond. */
const bytesAtOnceMax = 262_144

/** A stream that has shown that it works: its rewriter, and the first bytes for the caller. */
export interface OpenedStream {
  rewriter: StreamRewriter
  response: UpstreamResponse
  first: BodyPiece | null
  reads: StreamReads
  isEnded: boolean
}

/** Reads until there is something to show, or the stream has ended; an error before that lets another endpoint try. */
export async function openStream(
  response: UpstreamResponse,
  rewriter: StreamRewriter,
  choices: number,
): Promise<OpenedStream> {
  const reads = new StreamReads({ body: response.body, rewriter, choices })
  for (;;) {
    const { done, value } = await reads.next()
    if (done) rewriter.end()
    const first = done ? null : rewriter.push(value)
    if (rewriter.failure && first === null) {
      response.body.cancel()
      throw rewriter.failure
    }
    const isOver = done || rewriter.stage === 'terminated'
    if (isOver && first === null && rewriter.choicesFinished === 0) {
      response.body.cancel()
      throw new GatewayError('provider_failed', 'The provider ended the stream before an answer.')
    }
    if (isOver || first !== null) return { rewriter, response, first, reads, isEnded: done }
  }
}

/**
 * Takes in what has already come with the first bytes. A short or cached answer may then be whole and go out in one
 * piece, at a third of the cost of a stream of many. Throws when the stream broke by now: nothing of it was shown, so
 * another endpoint may still try.
 */
export async function takeInWhatIsHere(opened: OpenedStream): Promise<void> {
  const { rewriter, response, reads } = opened
  for (let taken = 0; taken < readsAtOnceMax && !opened.isEnded && isSmall(opened.first); taken += 1) {
    if (rewriter.stage === 'terminated') endAtTerminator(opened)
    if (rewriter.failure || opened.isEnded) break
    const read = await reads.nextIfHere()
    if (read === null) return
    if (read.done) {
      rewriter.end()
      opened.isEnded = true
    } else opened.first = joined(opened.first, rewriter.push(read.value))
  }
  if (!rewriter.failure) return
  response.body.cancel()
  throw rewriter.failure
}

/** Whether the provider's whole answer is here. */
export function isWhole({ isEnded, rewriter }: OpenedStream): boolean {
  return isEnded && rewriter.choicesFinished > 0 && rewriter.failure === null
}

/** A large answer is not kept until its end arrives, because its caller may not be reading at all. */
function isSmall(first: BodyPiece | null): boolean {
  return first === null || first.length <= bytesAtOnceMax
}

/**
 * After the terminator nothing that matters follows; the body is read to its end all the same, so that its connection
 * can serve again.
 */
export function endAtTerminator(opened: OpenedStream): void {
  opened.rewriter.end()
  opened.isEnded = true
  void opened.reads.finish()
}

function joined(left: BodyPiece | null, right: BodyPiece | null): BodyPiece | null {
  if (left === null || right === null) return left ?? right
  return typeof left === 'string' && typeof right === 'string' ? left + right : joinPieces([left, right])
}
