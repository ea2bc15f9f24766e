import type { TextCall } from '../../canonical/call.ts'
import type { AuthScheme, Endpoint } from '../../canonical/endpoint.ts'
import type { OwnFormat, TextFormat } from '../../canonical/operation.ts'
import type { Adapter, CallAt, Step } from '../../canonical/steps.ts'
import type {
  AnswerContext,
  DecodedAnswer,
  PromisedOutput,
  StreamRewriter,
  UpstreamRequest,
} from '../../canonical/upstream.ts'
import type { ChatQuirks } from './chat/quirks.ts'
import type { EncodedRequest } from './encoded-request.ts'
import { encodeInSteps, selectCodec } from './select-codec.ts'
import type { EmbeddingsQuirks } from '../embeddings/codec.ts'
import type { GeminiQuirks } from './gemini/quirks.ts'
import type { MessagesQuirks } from './messages/quirks.ts'
import type { OwnQuirks } from './codec.ts'
import type { ResponsesQuirks } from './responses/quirks.ts'

/** What a path may depend on. */
export interface PathTarget {
  /** The name the upstream knows, not escaped. */
  model: string
  /** Whether the answer is to be streamed. */
  stream: boolean
}

/** Where a request goes, and how, where it is not the usual POST. */
export interface TextAddress {
  method: UpstreamRequest['method']
  /** Below the base URL; begins with a slash. */
  path: string
}

/**
 * Where below the base URL requests go. Most providers have one path, which takes POST; others name the model in it
 * (`/deployments/<model>/chat/completions`) or what is to be done with it (`/models/<model>:streamGenerateContent`).
 * Such a function escapes the model with `encodeURIComponent`, because a caller's text may stand in it,
 * and may name the method together with the path.
 */
export type TextPath = string | ((target: PathTarget) => string | TextAddress)

/** A way in which a provider is asked for text: which format it speaks there, where, and how it departs from it. */
export type TextInterface = (
  | { format: 'chat'; quirks: ChatQuirks }
  | { format: 'responses'; quirks: ResponsesQuirks }
  | { format: 'messages'; quirks: MessagesQuirks }
  | { format: 'embeddings'; quirks: EmbeddingsQuirks }
  | { format: 'gemini'; quirks: GeminiQuirks }
  | { format: OwnFormat; quirks: OwnQuirks }
) & {
  path: TextPath
  /**
   * Other addresses by how a deployment's base URL ends: the first ending that fits gives way to its path, which then
   * begins where the ending began. With `{ '/openai/v1': '/anthropic/v1/messages' }` a base URL of
   * `https://host/openai/v1` is asked at `https://host/anthropic/v1/messages`; any other has `path` behind it.
   */
  elsewhere?: Readonly<Record<string, TextPath>>
  /** Where a key travels here, by the header in which it travels otherwise. */
  auth?: Readonly<Record<string, AuthScheme>>
  /** What every request through it carries besides. */
  headers?: Readonly<Record<string, string>>
  /** Whether it is to answer such a call; absent where it answers all. */
  serves?: (asked: AskedInterface) => boolean
}

/**
 * Which model of a provider's is asked, by its public id and by the provider's name; by a caller of which format, and which
 * of the contract's parameters are set. `interfaces` is the member `endpoints` that the provider's listing has of the model,
 * absent where it has none.
 */
export interface AskedInterface
  extends Pick<TextCall, 'format' | 'parameters'>, Pick<Endpoint, 'model' | 'upstreamModel' | 'interfaces'> {}

/**
 * Of the interfaces that serve the call the one that takes the caller's format as it is, else the first; null when there
 * is none.
 */
export function chooseInterface(
  interfaces: readonly TextInterface[],
  asked: AskedInterface,
): TextInterface | null {
  const serving = interfaces.filter(({ serves }) => serves === undefined || serves(asked))
  return serving.find(({ format }) => format === asked.format) ?? serving[0] ?? null
}

/** Names of what a request says in another way or not at all. What stands inside messages is no parameter. */
export function lostParameters({
  dropped = [],
  approximated = [],
}: {
  dropped?: readonly string[]
  approximated?: readonly string[]
}): string[] {
  return [...dropped, ...approximated].filter((name) => !name.includes('[]'))
}

/** Its state is the form that the answer was promised in, null for nearly all. */
export interface TextAdapter extends Adapter<TextCall, PromisedOutput | null, DecodedAnswer, StreamRewriter> {
  /** `first` in steps, so that others have a turn between them. */
  firstInSteps(asked: CallAt<TextCall>): Generator<void, TextStep>
}

/** What a text adapter wants done next. */
export type TextStep = Step<PromisedOutput | null, DecodedAnswer, StreamRewriter>

/** A text call through one of a provider's interfaces: one request, whose answer comes whole or as a stream. */
export function textAdapter(callerFormat: TextFormat, asked: TextInterface): TextAdapter {
  const { format, quirks, auth } = asked
  const codec = 'codec' in quirks ? quirks.codec : selectCodec(callerFormat, format)
  const stepOf = ({ call, endpoint }: CallAt<TextCall>, encoded: EncodedRequest): TextStep => {
    const { body, dropped, approximated, headers, promised } = encoded
    const usual = call.stream ? streamHeaders : jsonHeaders
    const target = { model: endpoint.upstreamModel, stream: call.stream }
    const request = {
      ...addressAt(endpoint.deployment.baseUrl, asked, target),
      ...(auth === undefined ? {} : { auth }),
      headers: asked.headers || headers ? { ...usual, ...asked.headers, ...headers } : usual,
      body,
    }
    const exchange = { request, dropped, ...(approximated ? { approximated } : {}) }
    return call.stream
      ? {
          type: 'stream',
          exchange,
          open: (context) => codec.createStream(withWishes(context, call, promised ?? null), quirks, call),
        }
      : { type: 'send', exchange, state: promised ?? null }
  }
  return {
    first: (at) => stepOf(at, codec.encodeRequest(at.call, at.endpoint, quirks)),
    *firstInSteps(at) {
      return stepOf(at, yield* encodeInSteps(codec, { ...at, quirks }))
    },
    next: (promised, { bytes }, { call, context }) => ({
      type: 'answer',
      answer: codec.decodeAnswer(bytes, withWishes(context, call, promised), quirks, call),
    }),
    readError: (response) => codec.readError(response),
  }
}

/** Where an interface is asked at a deployment's address. */
export function addressAt(
  baseUrl: string,
  { path, elsewhere = {} }: Pick<TextInterface, 'path' | 'elsewhere'>,
  target: PathTarget,
): TextAddress & Pick<UpstreamRequest, 'inPlaceOf'> {
  const [ending, other] = Object.entries(elsewhere).find(([each]) => baseUrl.endsWith(each)) ?? []
  const address = addressOf(other ?? path, target)
  return ending === undefined ? address : { ...address, inPlaceOf: ending }
}

function addressOf(path: TextPath, target: PathTarget): TextAddress {
  const address = typeof path === 'string' ? path : path(target)
  return typeof address === 'string' ? { method: 'POST', path: address } : address
}

/** What the answer must be, and what it must not show. */
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
