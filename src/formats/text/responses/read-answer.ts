import { type Answer, joinEvents } from '../../../canonical/text/answer.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { isRecord } from '../../../json/values.ts'
import { parseAnswer, unreadable } from '../../upstream-json.ts'
import { AnswerEvents } from '../streams/stream-reader.ts'
import { readResponsesError } from './read-items.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { ResponsesHandler } from './read-stream.ts'

/**
 * Reads a whole response. Throws `provider_failed` when the body is not a response, and the provider's error when it
 * came with a success status.
 */
export function readResponsesAnswer(
  bytes: Uint8Array,
  quirks: ResponsesQuirks,
  context: AnswerContext,
): Answer {
  return answerOf(parseAnswer(bytes), quirks, context)
}

/** The same for a parsed body. */
export function answerOf(
  wire: Readonly<Record<string, unknown>>,
  quirks: ResponsesQuirks,
  context: AnswerContext,
): Answer {
  if (!Array.isArray(wire['output'])) {
    const { error } = wire
    if (isRecord(error) || typeof error === 'string') throw readResponsesError(error, context)
    throw unreadable('it has no output')
  }
  const events = new AnswerEvents()
  // A whole response is read as the last event of a stream without earlier events.
  new ResponsesHandler({ quirks, context }, events.add).readWhole(wire)
  return joinEvents(events.list)
}
