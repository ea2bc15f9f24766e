import type { Faults } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import { namedFrame, type StreamForm } from '../reply.ts'
import { distortUsage } from '../usage.ts'
import type { AnswerBlock } from './answer-blocks.ts'
import { anthropicStyle, errorObject, requestIdOf } from './errors.ts'
import { deltaUsage, type MessagesUsage, wholeUsage } from './usage.ts'

/** Everything that is needed to put an answer on the wire. */
export interface MessagesResult {
  /** The members of the message that do not depend on its content. */
  head: JsonObject
  blocks: AnswerBlock[]
  /** `stop_reason`, `stop_sequence`, and their details. */
  stop: JsonObject
  usage: MessagesUsage
  faults: Faults
  key: string
}

const ping = namedFrame('ping', { type: 'ping' })
const unknownEvent = namedFrame('model_mood', { type: 'model_mood', mood: 'curious' })

function event(type: string, data: JsonObject): string {
  return namedFrame(type, { type, ...data })
}

/** The frames of a streamed answer: blocks one after another, each begun, grown and stopped, between start and stop. */
export function* messageFrames(result: MessagesResult): Generator<string> {
  const { blocks, faults, stop } = result
  yield startFrame(result)
  if (faults.duplicateStart === true) yield startFrame(result)
  for (let count = 0; count < (faults.pings ?? 0); count++) yield ping
  if (faults.unknownEvent === true) yield unknownEvent
  if (blocks.length === 0) yield ping
  for (const [index, block] of blocks.entries()) {
    yield event('content_block_start', { index, content_block: block.start })
    if (index === 0) yield ping
    for (const delta of block.deltas) yield event('content_block_delta', { index, delta })
    yield event('content_block_stop', { index })
  }
  const usage = distortUsage(deltaUsage(result.usage), faults.usage)
  yield event('message_delta', { delta: stop, ...(usage === undefined ? {} : { usage }) })
  yield event('message_stop', {})
}

function startFrame({ head, blocks, usage, faults }: MessagesResult): string {
  // At the first event a model has generated a token, and for a tool call its name.
  const first = wholeUsage(usage, Math.min(usage.output, blocks.length === 0 ? 0 : 1))
  const corrected =
    faults.startInputTokens === undefined ? first : { ...first, input_tokens: faults.startInputTokens }
  const told = distortUsage(corrected, faults.usage === 'output_only' ? undefined : faults.usage)
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null }
  return event('message_start', { message: told === undefined ? message : { ...message, usage: told } })
}

/** How the frames of a Messages stream go wrong. */
export function messageForm(key: string): StreamForm {
  return {
    broken:
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_de\n\n',
    isEnd: (sent) => sent.startsWith('event: message_stop'),
    error(_, { type, message }) {
      const status = type === 'overloaded_error' ? 529 : 500
      const error = anthropicStyle.errorOf({
        status,
        ...(type === undefined ? {} : { type }),
        ...(message === undefined ? {} : { message }),
      })
      return [event('error', { error: errorObject(error), request_id: requestIdOf(key) })]
    },
  }
}
