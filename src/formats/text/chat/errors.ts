import { keepAliveComment, type StreamFrames } from '../halves.ts'

/** The frames that a stream shows before any provider has answered. */
export const chatFrames: StreamFrames = {
  keepAlive: keepAliveComment,
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
