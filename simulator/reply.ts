import { type ApiError, errorBody } from './errors.ts'

/**
 * One answer before faults are applied. A string or bytes are sent with their length, an iterable piece by piece:
 * frames of an event stream, or audio as it is produced.
 */
export interface Reply {
  status: number
  contentType: string
  headers?: Record<string, string>
  body: string | Uint8Array | Iterable<string> | AsyncIterable<Uint8Array>
  /** Ends what produces the body. Called once the answer is over, also when no piece of it was ever asked for. */
  dispose?: () => Promise<unknown>
}

/** A JSON answer from text that is JSON already. */
export function jsonReply(body: string, status = 200): Reply {
  return { status, contentType: 'application/json', body }
}

/** An event stream of whole frames, each `data: …` with its blank line. */
export function eventReply(frames: Iterable<string>): Reply {
  return { status: 200, contentType: 'text/event-stream; charset=utf-8', body: frames }
}

/** The answer for a refusal. */
export function errorReply(error: ApiError): Reply {
  return jsonReply(errorBody(error), error.status)
}

/** One event of a stream. */
export function frame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

/** The frame with which OpenAI ends a chat stream. */
export const doneFrame = 'data: [DONE]\n\n'
