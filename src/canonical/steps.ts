import type { Endpoint } from './endpoint.ts'
import type { ResourceIntent, ResourceKind } from './resource-notes.ts'
import type {
  AnswerContext,
  UpstreamErrorResponse,
  UpstreamFailure,
  UpstreamReply,
  UpstreamRequest,
} from './upstream.ts'

/** A call at one endpoint: what an adapter is asked for. */
export interface CallAt<Call> {
  call: Call
  endpoint: Endpoint
  /** What the answer must say about itself. */
  context: AnswerContext
}

/** A request that is to be sent next. */
export interface Exchange {
  request: UpstreamRequest
  /** How long to wait before it is sent, in milliseconds: a job is asked for its state now and then. */
  waitMs?: number
  /** Names of what the call asks for and this request leaves out. */
  dropped?: readonly string[]
  /** Names of what it carries in another way than it was asked for. */
  approximated?: readonly string[]
  /** What its success leaves at the provider, of a kind that the adapter has in `resources`. */
  makes?: ResourceIntent
}

/**
 * What an adapter wants done next. `send`: the whole response is read and given to `next` with the state, which is plain
 * data, so that it can be stored until then. `stream`: the response's body is the answer and goes through the reader, which
 * may ask the response's headers what they say of it.
 * `answer`: nothing is left to do.
 */
export type Step<State, Answer, Reader> =
  | { type: 'send'; exchange: Exchange; state: State }
  | { type: 'stream'; exchange: Exchange; open(context: AnswerContext, headers: Headers): Reader }
  | { type: 'answer'; answer: Answer }

/**
 * One way to get an answer from an upstream, as pure steps: one request, an upload and a request, a job that is asked
 * for until it is done. The executor sends, waits, bounds and cancels.
 */
export interface Adapter<Call, State, Answer, Reader = never> {
  /** Throws `invalid_request` for what this upstream must not be sent. */
  first(asked: CallAt<Call>): Step<State, Answer, Reader>
  /** What a successful response means. Throws `provider_failed`, or the error that a success status hid. */
  next(state: State, reply: UpstreamReply, asked: CallAt<Call>): Step<State, Answer, Reader>
  /** What a response means that is no success. Never throws. */
  readError(response: UpstreamErrorResponse): UpstreamFailure
  /** What its requests leave at the provider, by kind; absent where they leave nothing. */
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
