import type { OwnFormat, TextFormat } from '../../canonical/operation.ts'
import type { AddressSupport } from './media/address-support.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type {
  AnswerContext,
  DecodedAnswer,
  StreamRewriter,
  UpstreamErrorResponse,
  UpstreamFailure,
} from '../../canonical/upstream.ts'
import { assert } from '../../core/assert.ts'
import type { EncodedRequest } from './halves.ts'

/** How one upstream differs from the format it speaks, as far as it matters to every format; `format` says which. */
export interface TextQuirks {
  readonly format: TextFormat
  /** Whether it is the maker of the format, whose seals of thoughts need no mark. */
  readonly isMaker?: boolean
  readonly addresses: AddressSupport
  /** What a model of this name takes of the format; absent where nothing depends on the model. */
  readonly modelOf?: (upstreamModel: string) => unknown
}

/** A format that is translated into no other: its codec comes with it, and knows how the upstream differs. */
export interface OwnQuirks extends TextQuirks {
  format: OwnFormat
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

/** Quirks as those of the format that they are for. A format with others is a bug: an interface has both. */
export function quirksOf<Quirks extends TextQuirks>(quirks: TextQuirks, format: Quirks['format']): Quirks {
  assert(quirks.format === format, `${format} was given the quirks of ${quirks.format}`)
  return quirks as Quirks
}

/** Whether a codec comes with quirks, as that of a format which is translated into no other does. */
export function hasOwnCodec(quirks: TextQuirks): quirks is OwnQuirks {
  return 'codec' in quirks
}
