import type { Answer } from '../../../canonical/text/answer.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { answerPartsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, parseExactly } from '../../../json/values.ts'
import { readReportedError } from '../../upstream-errors.ts'
import { parseAnswer, unreadable } from '../../upstream-json.ts'
import { readBlock } from './read-blocks.ts'
import { readStop } from './read-stop.ts'
import { readMessagesUsage } from './usage.ts'

/**
 * Reads a whole message. Throws `provider_failed` when the body is not a message, and the provider's error when it came
 * with a success status.
 */
export function readMessagesAnswer(bytes: Uint8Array, context: AnswerContext): Answer {
  return readMessage(parseAnswer(bytes, parseExactly), context)
}

/** The same for a parsed body. */
export function readMessage(wire: Readonly<Record<string, unknown>>, context: AnswerContext): Answer {
  if (wire['type'] === 'error') throw readReportedError(wire['error'], context)
  const { content } = wire
  if (!Array.isArray(content)) throw unreadable('it has no content')
  if (content.length > answerPartsMax) throw unreadable(`it has more than ${answerPartsMax} parts`)
  const parts = content.filter(isRecord).map(readBlock)
  const sawToolCalls = parts.some(({ head }) => head.type === 'tool_call')
  return {
    upstreamId: filledTextOrNull(wire['id']),
    upstreamModel: filledTextOrNull(wire['model']),
    choices: [{ parts, finish: readStop(wire, sawToolCalls) }],
    usage: readMessagesUsage(wire['usage']),
  }
}
