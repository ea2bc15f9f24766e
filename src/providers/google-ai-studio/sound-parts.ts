import type { AnswerContext } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { isRecord } from '../../json/values.ts'
import { readReportedError } from '../../formats/upstream-errors.ts'
import { readBlock, readFinish } from '../../formats/text/gemini/read-finish.ts'

type Wire = Readonly<Record<string, unknown>>

/** The parts of the only candidate in an answer, or in one frame of a stream. */
export interface CandidatePieces {
  /** In order, without thoughts. */
  parts: readonly Wire[]
  /** True once the candidate has ended well. */
  hasEnded: boolean
}

/**
 * Reads the answer to a call with sound as input or output. Such a call has no refusals of its own, so every end except
 * the ordinary one is an error: `content_policy_violation` when Google blocks it (with status 200 too),
 * `max_tokens_exceeded` when one answer is too short for it, and `provider_failed` for a candidate that ended without a
 * reason.
 */
export function readCandidate(wire: Wire, context: AnswerContext): CandidatePieces {
  if (isRecord(wire['error'])) throw readReportedError(wire['error'], context)
  const { candidates, promptFeedback } = wire
  const block = isRecord(promptFeedback) ? readBlock(promptFeedback, context) : null
  if (block !== null) throw blocked(block.native)
  const candidate = Array.isArray(candidates) ? candidates.find(isRecord) : undefined
  if (candidate === undefined) return { parts: [], hasEnded: false }
  const finish = readFinish(candidate, { sawToolCalls: false, context })
  if (finish !== null) refuseBadEnding(finish)
  const { content } = candidate
  const parts = isRecord(content) && Array.isArray(content['parts']) ? content['parts'].filter(isRecord) : []
  return { parts: parts.filter((part) => part['thought'] !== true), hasEnded: finish !== null }
}

function refuseBadEnding({ reason, native }: { reason: string; native: string | null }): void {
  if (reason === 'content_filter') throw blocked(native)
  if (reason === 'length')
    throw new GatewayError(
      'max_tokens_exceeded',
      'The answer would be longer than the model may write at once. Send less audio or text in one call.',
    )
  if (native === 'LANGUAGE')
    throw new GatewayError('invalid_request', 'The model does not know the language. Choose another model.')
  if (reason === 'error')
    throw new GatewayError('provider_failed', 'The provider ended its answer without a reason.', {
      cause: new Error(`finishReason ${String(native)}`),
    })
}

function blocked(native: string | null): GatewayError {
  const word = native !== null && /^[A-Z_]{1,40}$/.test(native) ? ` (${native})` : ''
  return new GatewayError(
    'content_policy_violation',
    `The provider refused the request under its content policy${word}. Change the input.`,
  )
}
