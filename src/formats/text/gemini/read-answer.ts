import { type Answer, joinEvents } from '../../../canonical/text/answer.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { GatewayError } from '../../../core/errors.ts'
import { AnswerEvents } from '../streams/stream-reader.ts'
import { parseAnswer, unreadable } from '../../upstream-json.ts'
import { GeminiHandler } from './read-stream.ts'

/**
 * Reads a whole answer. Throws `provider_failed` when the body is not an answer, and the provider's error when it came
 * with a success status.
 */
export function readGeminiAnswer(bytes: Uint8Array, context: AnswerContext): Answer {
  const events = new AnswerEvents()
  const handler = new GeminiHandler(context, events.add)
  try {
    handler.read(parseAnswer(bytes))
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw unreadable('it is not in its format', thrown)
  }
  if (!handler.hasAnswer) throw unreadable('it has no candidates')
  return joinEvents(events.list)
}
