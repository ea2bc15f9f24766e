import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { Answer } from '../../canonical/text/answer.ts'
import type { Conversation } from '../../canonical/text/conversation.ts'
import type { FinishEvent, TextEvent } from '../../canonical/text/events.ts'
import type {
  AnswerContext,
  PromisedOutput,
  ShownCharge,
  UpstreamErrorResponse,
  UpstreamFailure,
} from '../../canonical/upstream.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { WriteError } from '../client-convention.ts'
import type { BodyPieces } from '../../core/body.ts'

/** What a caller's format is: how its requests are read, and how answers in it are written. Pure. */
export interface CallerHalf {
  /**
   * The whole request, in steps, of which a large one takes several turns. Throws `invalid_request` naming the member that
   * cannot be read.
   */
  readConversation(call: TextCall): Generator<void, Conversation>
  /** The body of a whole answer, as JSON. */
  writeAnswer(answer: Answer, asked: Asked, settled: Settled): string
  /** The counts and what they cost, as the end of an answer shows them; `serviceTier` as its provider calls it. */
  writeUsage(charge: ShownCharge, serviceTier: string | null): ShownUsage
  createStream(asked: Asked): StreamWriter
  /** Whether an answer of the format can say that its provider ended it in an error. If not, the error takes its place. */
  hasErrorEnd: boolean
  /** An error that is the whole answer. */
  writeError: WriteError
}

/** What an answer answers, and what it must say about itself. */
export interface Asked {
  context: AnswerContext
  call: TextCall
}

/** A usage object in the caller's format. */
export type ShownUsage = Readonly<Record<string, unknown>>

/** What the end of an answer tells about itself. */
export interface Settled {
  charge: ShownCharge
  usage: ShownUsage
  /** The service tier that the provider says it used, as it calls it. */
  serviceTier: string | null
}

/** How an answer ended, as a stream's end tells it. */
export interface StreamEnd extends Settled {
  /** One for each choice that has ended, in the order in which they did. */
  finishes: readonly FinishEvent[]
}

/** Writes a stream in the caller's format. Finishes and usage are kept from it until the end; failures are errors. */
export interface StreamWriter {
  /** What the event shows; empty when that is nothing. */
  write(event: TextEvent): string
  /** Everything that makes the answer whole, and the format's terminator. */
  writeEnd(end: StreamEnd): string
  /** An error inside the stream, which ends it. */
  writeError(error: GatewayError): string
}

/** Whom a request is for. */
export interface RequestTarget<Quirks> {
  endpoint: Endpoint
  quirks: Quirks
}

/** What a provider's format is: how requests in it are written, and how its answers are read. Pure. */
export interface UpstreamHalf<Quirks> {
  /** In steps, of which a large request takes several turns. Throws `invalid_request` for what changes the answer and cannot be carried. */
  writeRequest(conversation: Conversation, target: RequestTarget<Quirks>): Generator<void, EncodedRequest>
  /**
   * Throws `provider_failed`, or the error a success status hid. Tool calls that come without an id get one made of the
   * context's, so that it is unique in the conversation.
   */
  readAnswer(bytes: Uint8Array, quirks: Quirks, context: AnswerContext): Answer
  createStream(quirks: Quirks, context: AnswerContext): StreamReader
  /**
   * What a response means that is no success, and what may follow. Never throws. What its words repeat of secrets was
   * taken out of the body before.
   */
  readError(response: UpstreamErrorResponse): UpstreamFailure
}

/**
 * Reads a provider's stream as events, read by read. Never throws for what a provider may send: what is broken is a
 * `failure`, after which nothing more comes.
 */
export interface StreamReader {
  push(chunk: Uint8Array): readonly TextEvent[]
  /** The body ended. A stream that should have gone on fails. */
  end(): readonly TextEvent[]
  /** The format's own terminator was seen. */
  readonly isTerminated: boolean
}

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

/** Keeps a connection alive as every client of server-sent events reads it, which is not at all. */
export const keepAliveComment = ': HEADRACE PROCESSING\n\n'

/** A body for an upstream, and the names of what it could not carry. */
export interface EncodedRequest {
  body: BodyPieces
  /** Headers that this request needs besides those of every request. */
  headers?: Readonly<Record<string, string>>
  dropped: readonly string[]
  /** Names of what it carries in another way. */
  approximated?: readonly string[]
  /** What the answer is to be checked against. */
  promised?: PromisedOutput
}
