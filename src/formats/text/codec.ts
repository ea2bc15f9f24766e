import type { OwnFormat } from '../../canonical/operation.ts'
import type { AddressSupport } from './address-support.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type {
  AnswerContext,
  DecodedAnswer,
  StreamRewriter,
  UpstreamErrorResponse,
  UpstreamFailure,
} from '../../canonical/upstream.ts'
import type { EncodedRequest } from './encoded-request.ts'
import type { ChatQuirks } from './chat/quirks.ts'
import type { EmbeddingsQuirks } from '../embeddings/codec.ts'
import type { GeminiQuirks } from './gemini/quirks.ts'
import type { MessagesQuirks } from './messages/quirks.ts'
import type { ResponsesQuirks } from './responses/quirks.ts'

/** How one upstream differs from the format it speaks; `format` says which. */
export type TextQuirks =
  | ChatQuirks
  | ResponsesQuirks
  | MessagesQuirks
  | EmbeddingsQuirks
  | GeminiQuirks
  | OwnQuirks

/** A format that is translated into no other: its codec comes with it, and knows how the upstream differs. */
export interface OwnQuirks {
  format: OwnFormat
  addresses: AddressSupport
  codec: TextCodec
}

/** The translation between a caller's format and an upstream's, both ways. Pure. */
export interface TextCodec {
  /** Throws `invalid_request` for what this upstream must not be sent. */
  encodeRequest(call: TextCall, endpoint: Endpoint, quirks: TextQuirks): EncodedRequest
  /** The same in steps, so that others have a turn between them: for a large request that is translated. */
  encodeInSteps?(call: TextCall, endpoint: Endpoint, quirks: TextQuirks): Generator<void, EncodedRequest>
  /** Throws `provider_failed`, or the error a success status hid. */
  decodeAnswer(bytes: Uint8Array, context: AnswerContext, quirks: TextQuirks, call: TextCall): DecodedAnswer
  createStream(context: AnswerContext, quirks: TextQuirks, call: TextCall): StreamRewriter
  /** Why a response is no success, as its upstream half reads it. */
  readError(response: UpstreamErrorResponse): UpstreamFailure
}
