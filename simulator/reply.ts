import type { StreamErrorFault } from './faults.ts'

/** How the frames of one format of stream go wrong. */
export interface StreamForm {
  /** A frame whose JSON breaks off. */
  broken: string
  /** True for the frame that ends a stream. */
  isEnd(frame: string): boolean
  /** Replaces the frame with this number when an error ends the stream. */
  error(index: number, fault: StreamErrorFault): string[]
}

/**
 * One answer before faults are applied. A string or bytes are sent with their length, an iterable in pieces: frames of
 * an event stream, or audio while it is produced.
 */
export interface Reply {
  status: number
  contentType: string
  headers?: Record<string, string>
  body: string | Uint8Array | Iterable<string> | AsyncIterable<Uint8Array>
  /** Of an event stream: how its frames go wrong. */
  form?: StreamForm
  /** Ends the producer of the body. Called once the answer is over, even when no piece was requested. */
  dispose?: () => Promise<unknown>
}

/** A JSON answer from text that is JSON already. */
export function jsonReply(body: string, status = 200): Reply {
  return { status, contentType: 'application/json', body }
}

/** An event stream of whole frames, each `data: …` with its blank line. */
export function eventReply(frames: Iterable<string>, form?: StreamForm): Reply {
  const reply: Reply = { status: 200, contentType: 'text/event-stream; charset=utf-8', body: frames }
  return form === undefined ? reply : { ...reply, form }
}

/** One event of a stream. */
export function frame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

/** One event of a stream whose events have names. */
export function namedFrame(name: string, data: unknown): string {
  return `event: ${name}\n${frame(data)}`
}

/** The frame with which OpenAI ends a chat stream. */
export const doneFrame = 'data: [DONE]\n\n'

/** The streams of chat completions and of everything else that OpenAI streams without event names. */
export const chatForm: StreamForm = {
  broken:
    'data: {"id":"chatcmpl-broken","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"con\n\n',
  isEnd: (sent) => sent === doneFrame,
  error: (_, fault) => {
    const message = fault.message ?? 'The server had an error while processing the request.'
    const { type = 'server_error', param = null, code = null } = fault
    return [frame({ error: { message, type, param, code } })]
  },
}

/** The streams of legacy completions. */
export const completionsForm: StreamForm = {
  ...chatForm,
  broken: 'data: {"id":"cmpl-broken","object":"text_completion","choices":[{"index":0,"text":"con\n\n',
}
