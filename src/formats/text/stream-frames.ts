import type { GatewayError } from '../../core/errors.ts'
import { writeMessagesError } from './messages/errors.ts'
import { writeResponsesError } from './responses/errors.ts'

/** What a stream shows before any provider has answered. */
export interface StreamFrames {
  /** Keeps the connection alive; clients pass over it. */
  keepAlive: string
  /** Why nobody answers; ends the stream. */
  writeError(error: GatewayError, answer: UnansweredCall): string
}

/** What is known of an answer that nobody has begun. */
export interface UnansweredCall {
  generationId: string
  model: string
  /** Unix seconds. */
  created: number
}

const comment = ': HEADRACE PROCESSING\n\n'

export const chatFrames: StreamFrames = {
  keepAlive: comment,
  writeError(error, { generationId, model, created }) {
    const frame = {
      id: generationId,
      object: 'chat.completion.chunk',
      created,
      model,
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      error: { code: error.status, message: error.message, metadata: { error_type: error.contractType } },
    }
    return `data: ${JSON.stringify(frame)}\n\n`
  },
}

export const responsesFrames: StreamFrames = {
  keepAlive: comment,
  writeError(error) {
    const { code, message } = writeResponsesError(error)
    const event = { type: 'error', sequence_number: 0, code, message, param: error.param }
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  },
}

export const messagesFrames: StreamFrames = {
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  writeError: (error, { generationId }) => writeMessagesError(error, generationId),
}
