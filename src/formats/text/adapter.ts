import type { TextCall } from '../../canonical/call.ts'
import type { TextFormat } from '../../canonical/operation.ts'
import type { Adapter, CallAt, Exchange, Step } from '../../canonical/steps.ts'
import type {
  AnswerContext,
  DecodedAnswer,
  PromisedOutput,
  StreamRewriter,
  UpstreamReply,
  UpstreamRequest,
} from '../../canonical/upstream.ts'
import { hasOwnCodec } from './codec.ts'
import { ChunkStream } from './streams/chunk-stream.ts'
import { addressAt, type TextInterface } from './text-interface.ts'
import type { EncodedRequest } from './halves.ts'
import { encodeInSteps, selectCodec } from './formats.ts'

/**
 * The names of parameters that the request to the provider leaves out or says differently. Parts of messages are not
 * parameters.
 */
export function lostParameters({
  dropped = [],
  approximated = [],
}: {
  dropped?: readonly string[]
  approximated?: readonly string[]
}): string[] {
  return [...dropped, ...approximated].filter((name) => !name.includes('[]'))
}

/** The output form that was promised to the caller, or the replies to the requests before the last; null for nearly all calls. */
type TextState = PromisedOutput | readonly UpstreamReply[] | null

/** A text call through an interface as steps. */
export interface TextAdapter extends Adapter<TextCall, TextState, DecodedAnswer, StreamRewriter> {
  /** Like `first`, in steps, so that other calls get their turn. */
  firstInSteps(asked: CallAt<TextCall>): Generator<void, TextStep>
}

/** The next step that a text adapter asks for. */
export type TextStep = Step<TextState, DecodedAnswer, StreamRewriter>

const adapters = new WeakMap<TextInterface, Map<TextFormat, TextAdapter>>()

/**
 * A text call through one of a provider's interfaces: one request, whose answer is whole or a stream. It is made once
 * for each interface and caller's format, because nothing in it belongs to one call.
 */
export function textAdapter(callerFormat: TextFormat, asked: TextInterface): TextAdapter {
  const known = adapters.get(asked) ?? new Map<TextFormat, TextAdapter>()
  const found = known.get(callerFormat)
  if (found !== undefined) return found
  const adapter = createTextAdapter(callerFormat, asked)
  adapters.set(asked, known.set(callerFormat, adapter))
  return adapter
}

function createTextAdapter(callerFormat: TextFormat, asked: TextInterface): TextAdapter {
  const { quirks, auth, framing } = asked
  const codec = hasOwnCodec(quirks) ? quirks.codec : selectCodec(callerFormat, quirks.format)
  const exchangeOf = ({ call, endpoint }: CallAt<TextCall>, encoded: EncodedRequest): Exchange => {
    const { body, dropped, approximated, headers } = encoded
    const usual = call.stream ? streamHeaders : jsonHeaders
    const target = { model: endpoint.upstreamModel, stream: call.stream }
    const request: UpstreamRequest = {
      ...addressAt(endpoint.deployment.baseUrl, asked, target),
      headers: asked.headers || headers ? { ...usual, ...asked.headers, ...headers } : usual,
      body,
    }
    if (auth !== undefined) request.auth = auth
    const exchange: Exchange = { request, dropped }
    if (approximated) exchange.approximated = approximated
    return exchange
  }
  const stepOf = (at: CallAt<TextCall>, encoded: EncodedRequest): TextStep => {
    const { call } = at
    const exchange = exchangeOf(at, encoded)
    const promised = encoded.promised ?? null
    if (!call.stream) return { type: 'send', exchange, state: promised }
    return {
      type: 'stream',
      exchange,
      open(context) {
        const stream = codec.createStream(withWishes(context, call, promised), quirks, call)
        return framing === undefined ? stream : new ChunkStream(stream)
      },
    }
  }
  return {
    first: (at) => stepOf(at, codec.encodeRequest(at.call, at.endpoint, quirks)),
    *firstInSteps(at) {
      return stepOf(at, yield* encodeInSteps(codec, { ...at, quirks }))
    },
    next(state, reply, at) {
      const { call, context, endpoint } = at
      if (codec.encodeNext && codec.decodeAnswers) {
        const replies = [...(isReplies(state) ? state : []), reply]
        const encoded = codec.encodeNext(call, endpoint, replies.length)
        if (encoded === null) return { type: 'answer', answer: codec.decodeAnswers(replies, context, call) }
        return { type: 'send', exchange: exchangeOf(at, encoded), state: replies }
      }
      const wishes = withWishes(context, call, isReplies(state) ? null : state)
      return { type: 'answer', answer: codec.decodeAnswer(reply.bytes, wishes, quirks, call) }
    },
    readError: (response) => codec.readError(response),
  }
}

function isReplies(state: TextState): state is readonly UpstreamReply[] {
  return Array.isArray(state)
}

/** The context with the form that the answer must have, and whether thoughts are hidden. */
function withWishes(
  context: AnswerContext,
  { hiddenThoughts }: TextCall,
  promised: PromisedOutput | null,
): AnswerContext {
  if (promised === null && hiddenThoughts === undefined) return context
  return {
    ...context,
    ...(promised === null ? {} : { promised }),
    ...(hiddenThoughts === undefined ? {} : { hiddenThoughts }),
  }
}

const jsonHeaders = { 'content-type': 'application/json', accept: 'application/json' }
const streamHeaders = { 'content-type': 'application/json', accept: 'text/event-stream' }
