import type { Answer } from '../../../canonical/text/answer.ts'
import type { Finish } from '../../../canonical/text/events.ts'
import { answerPartsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, parseExactly } from '../../../json/values.ts'
import { parseAnswer, unreadable } from '../../upstream-json.ts'
import { toFinishReason } from '../finish-reason.ts'
import { readBlock } from './read-blocks.ts'
import { readConverseUsage } from './usage.ts'

/** Reads a whole answer. Throws `provider_failed` when the body is none. It names neither itself nor its model. */
export function readConverseAnswer(bytes: Uint8Array): Answer {
  const wire = parseAnswer(bytes, parseExactly)
  const output = isRecord(wire['output']) ? wire['output'] : {}
  const message = isRecord(output['message']) ? output['message'] : {}
  const { content } = message
  if (!Array.isArray(content)) throw unreadable('it has no content')
  if (content.length > answerPartsMax) throw unreadable(`it has more than ${answerPartsMax} parts`)
  const parts = content.filter(isRecord).map(readBlock)
  const sawToolCalls = parts.some(({ head }) => head.type === 'tool_call')
  return {
    upstreamId: null,
    upstreamModel: null,
    choices: [{ parts, finish: readStop(wire, sawToolCalls) }],
    usage: readConverseUsage(wire),
  }
}

/** Why the model stopped; null while it goes on. The text that ended it is told where it was asked for. */
export function readStop(wire: Readonly<Record<string, unknown>>, sawToolCalls: boolean): Finish | null {
  const native = filledTextOrNull(wire['stopReason'])
  if (native === null) return null
  const own = wire['additionalModelResponseFields']
  return {
    reason: toFinishReason(native, sawToolCalls),
    native,
    stopSequence: isRecord(own) ? filledTextOrNull(own['stop_sequence']) : null,
    refusal: null,
  }
}
