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
  UpstreamReply,
} from '../../canonical/upstream.ts'
import { assert } from '../../core/assert.ts'
import type { EncodedRequest } from './halves.ts'

/** How a provider differs from its format, as far as every format needs to know it; `format` names the format. */
export interface TextQuirks {
  readonly format: TextFormat
  /** Whether the provider is the maker of the format; its seals of thoughts need no mark. */
  readonly isMaker?: boolean
  readonly addresses: AddressSupport
  /** What a model of this name takes of the format; absent when nothing depends on the model. */
  readonly modelOf?: (upstreamModel: string) => unknown
}

/** The quirks of a format that is never translated: its codec comes with them, and knows the provider's differences. */
export interface OwnQuirks extends TextQuirks {
  format: OwnFormat
  codec: TextCodec
}

/** The translation between a caller's format and a provider's, both ways. Pure. */
export interface TextCodec {
  /** Throws `invalid_request` for what this provider must not be sent. */
  encodeRequest(call: TextCall, endpoint: Endpoint, quirks: TextQuirks): EncodedRequest
  /** The same in steps, so that other calls get their turn: for a large request that is translated. */
  encodeInSteps?(call: TextCall, endpoint: Endpoint, quirks: TextQuirks): Generator<void, EncodedRequest>
  /** Throws `provider_failed`, or the provider's error when it came with a success status. */
  decodeAnswer(bytes: Uint8Array, context: AnswerContext, quirks: TextQuirks, call: TextCall): DecodedAnswer
  /** For a provider that takes a part of the call in each request: the one after so many answers, or null after the last. */
  encodeNext?(call: TextCall, endpoint: Endpoint, answered: number): EncodedRequest | null
  /** The answer from all replies, where there is `encodeNext`. */
  decodeAnswers?(replies: readonly UpstreamReply[], context: AnswerContext, call: TextCall): DecodedAnswer
  createStream(context: AnswerContext, quirks: TextQuirks, call: TextCall): StreamRewriter
  /** The reason of an unsuccessful response, as the provider's half of the format reads it. */
  readError(response: UpstreamErrorResponse): UpstreamFailure
}

/** Narrows quirks to those of their format. Another format is a bug, because an interface has both. */
export function quirksOf<Quirks extends TextQuirks>(quirks: TextQuirks, format: Quirks['format']): Quirks {
  assert(quirks.format === format, 'a format is given its own quirks')
  return quirks as Quirks
}

/** Whether the quirks bring their own codec, as those of a format that is never translated do. */
export function hasOwnCodec(quirks: TextQuirks): quirks is OwnQuirks {
  return 'codec' in quirks
}
