import type { Endpoint } from './endpoint.ts'
import type { ResourceIntent, ResourceKind } from './resource-notes.ts'
import type {
  AnswerContext,
  ResponseHeaders,
  UpstreamErrorResponse,
  UpstreamFailure,
  UpstreamReply,
  UpstreamRequest,
} from './upstream.ts'

/** A call at one endpoint: the input of an adapter. */
export interface CallAt<Call> {
  call: Call
  endpoint: Endpoint
  /** The identity and settings of the answer. */
  context: AnswerContext
}

/** The next request to send. */
export interface Exchange {
  request: UpstreamRequest
  /** How long to wait before sending it, in milliseconds, for polling a job. */
  waitMs?: number
  /** Names of requested things that this request leaves out. */
  dropped?: readonly string[]
  /** Names of requested things that this request carries in a different way. */
  approximated?: readonly string[]
  /** The resource that its success leaves at the provider; its kind is in the adapter's `resources`. */
  makes?: ResourceIntent
}

/**
 * An adapter's next step. `send`: the whole response is read and passed to `next` with the state. The state is plain data
 * and lives as long as its call. `stream`: the response's body is the answer and goes through the reader; the reader
 * may look at the response's headers. `answer`: the call is complete.
 */
export type Step<State, Answer, Reader> =
  | { type: 'send'; exchange: Exchange; state: State }
  | { type: 'stream'; exchange: Exchange; open(context: AnswerContext, headers: ResponseHeaders): Reader }
  | { type: 'answer'; answer: Answer }

/**
 * One way to get an answer from an upstream, as pure steps: one request, an upload and a request, or a job that is
 * polled until it is done. The executor sends, waits, bounds and cancels.
 */
export interface Adapter<Call, State, Answer, Reader = never> {
  /** Throws `invalid_request` for what this upstream must not be sent. */
  first(asked: CallAt<Call>): Step<State, Answer, Reader>
  /** The step after a successful response. Throws `provider_failed`, or the error inside a response with a success status. */
  next(state: State, reply: UpstreamReply, asked: CallAt<Call>): Step<State, Answer, Reader>
  /** The failure that an unsuccessful response means. Never throws. */
  readError(response: UpstreamErrorResponse): UpstreamFailure
  /** The kinds of things that its requests leave at the provider; absent when they leave none. */
  resources?: Readonly<Record<string, ResourceKind>>
}

/** An adapter for which one request and its whole response are enough. */
export function oneExchange<Call, Answer>(row: {
  encode(asked: CallAt<Call>): Exchange
  decode(reply: UpstreamReply, asked: CallAt<Call>): Answer
  readError(response: UpstreamErrorResponse): UpstreamFailure
}): Adapter<Call, null, Answer> {
  return {
    first: (asked) => ({ type: 'send', exchange: row.encode(asked), state: null }),
    next: (_, reply, asked) => ({ type: 'answer', answer: row.decode(reply, asked) }),
    readError: row.readError,
  }
}
