import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { TextFormat } from '../../canonical/operation.ts'
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

/** The caller's half of a format: it reads requests and writes answers. Pure. */
export interface CallerHalf {
  /**
   * Reads the whole request, in steps; a large one takes several turns. What only the caller's own format has is kept
   * for a provider of that format; for any other it is noted and left out. Throws `invalid_request`, which names the
   * unreadable member.
   */
  readConversation(call: TextCall, upstreamFormat: TextFormat): Generator<void, Conversation>
  /** The body of a whole answer, as JSON. */
  writeAnswer(answer: Answer, asked: Asked, settled: Settled): string
  /** The counts and their cost, as the end of an answer shows them; `serviceTier` by its provider's name. */
  writeUsage(charge: ShownCharge, serviceTier: string | null): ShownUsage
  createStream(asked: Asked): StreamWriter
  /**
   * Whether an answer of the format can say that its provider ended it in an error. If not, an error is sent instead.
   */
  hasErrorEnd: boolean
  /** An error that is the whole answer. */
  writeError: WriteError
}

/** The call that an answer belongs to, and its context. */
export interface Asked {
  context: AnswerContext
  call: TextCall
}

/** A usage object in the caller's format. */
export type ShownUsage = Readonly<Record<string, unknown>>

/** The charge, usage and service tier that the end of an answer shows. */
export interface Settled {
  charge: ShownCharge
  usage: ShownUsage
  /** The service tier that the provider reports, by its own name. */
  serviceTier: string | null
}

/** How an answer ended, as the end of a stream shows it. */
export interface StreamEnd extends Settled {
  /** One for each choice that has ended, in that order. */
  finishes: readonly FinishEvent[]
}

/** Writes a stream in the caller's format. Finish events and usage reach it only at the end; failures are errors. */
export interface StreamWriter {
  /** The text for an event; empty when the event shows nothing. */
  write(event: TextEvent): string
  /** The rest of the answer, and the format's terminator. */
  writeEnd(end: StreamEnd): string
  /** An error inside the stream, which ends it. */
  writeError(error: GatewayError): string
}

/** The recipient of a request. */
export interface RequestTarget<Quirks> {
  endpoint: Endpoint
  quirks: Quirks
}

/** The provider's half of a format: it writes requests and reads answers. Pure. */
export interface UpstreamHalf<Quirks> {
  /**
   * Written in steps; a large request takes several turns. Throws `invalid_request` for a part that changes the answer
   * and cannot be expressed.
   */
  writeRequest(conversation: Conversation, target: RequestTarget<Quirks>): Generator<void, EncodedRequest>
  /**
   * Throws `provider_failed`, or the provider's error when it came with a success status. A tool call without an id
   * gets one made from the context's id, so that it is unique in the conversation.
   */
  readAnswer(bytes: Uint8Array, quirks: Quirks, context: AnswerContext): Answer
  createStream(quirks: Quirks, context: AnswerContext): StreamReader
  /**
   * The meaning of an unsuccessful response, and whether another attempt may follow. Never throws. Secrets are already
   * removed from the body.
   */
  readError(response: UpstreamErrorResponse): UpstreamFailure
}

/**
 * Reads a provider's stream as events, chunk by chunk. Never throws for the provider's data: broken data becomes a
 * `failure`, and nothing follows it.
 */
export interface StreamReader {
  push(chunk: Uint8Array): readonly TextEvent[]
  /** The body ended. An unfinished stream becomes a failure. */
  end(): readonly TextEvent[]
  /** Whether the format's own terminator came. */
  readonly isTerminated: boolean
}

/** The frames that a stream shows before any provider has answered. */
export interface StreamFrames {
  /** Keeps the connection alive; clients ignore it. */
  keepAlive: string
  /** Why no provider answers; ends the stream. */
  writeError(error: GatewayError, answer: UnansweredCall): string
}

/** The identity of an answer that no provider has begun. */
export interface UnansweredCall {
  generationId: string
  model: string
  /** Unix seconds. */
  created: number
}

/** Keeps a connection alive. Every client of server-sent events ignores comments. */
export const keepAliveComment = ': HEADRACE PROCESSING\n\n'

/** A body for a provider, and the names of members that it could not express. */
export interface EncodedRequest {
  body: BodyPieces
  /** Headers that only this request needs. */
  headers?: Readonly<Record<string, string>>
  dropped: readonly string[]
  /** Names of members that the body expresses differently. */
  approximated?: readonly string[]
  /** The form that the answer is checked against. */
  promised?: PromisedOutput
}
