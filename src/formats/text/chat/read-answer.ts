import { type Answer, joinEvents } from '../../../canonical/text/answer.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { AnswerEvents } from '../streams/stream-reader.ts'
import { parseAnswer, unreadable } from '../../upstream-json.ts'
import { messageOf } from './pass-answer.ts'
import { isRecord } from '../../../json/values.ts'
import { readNativeReason } from './choice.ts'
import { wholeDelta } from './pass-stream-chunk.ts'
import type { ChatQuirks } from './quirks.ts'
import { ChatHandler } from './read-stream.ts'

type Wire = Readonly<Record<string, unknown>>

/**
 * Reads a whole chat answer. Throws `provider_failed` when the body is not an answer, and the provider's error when it
 * came with a success status.
 */
export function readChatAnswer(bytes: Uint8Array, quirks: ChatQuirks, context: AnswerContext): Answer {
  const wire = parseAnswer(bytes)
  const { choices } = wire
  if (!isRecord(wire['error']) && (!Array.isArray(choices) || choices.length === 0))
    throw unreadable('it has no choices')
  const events = new AnswerEvents()
  const handler = new ChatHandler({ quirks, context }, events.add)
  // A message is a delta with all members, so the stream's reader reads it.
  const given = Array.isArray(choices) ? choices : []
  handler.read({ ...wire, choices: given.map(withDelta) })
  handler.finishAll()
  return joinEvents(events.list)
}

function withDelta(choice: unknown): Wire {
  if (!isRecord(choice)) throw unreadable('a choice is not an object')
  return isRecord(choice['error'])
    ? choice
    : { ...choice, delta: wholeDelta(messageOf(choice, readNativeReason(choice))) }
}
