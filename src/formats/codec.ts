import type { TextCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import type { TextFormat } from '../canonical/operation.ts'
import type { AnswerContext, DecodedAnswer, StreamRewriter } from '../canonical/upstream.ts'
import { assert } from '../core/assert.ts'
import { decodeChatAnswer } from './chat/chat-answer.ts'
import { encodeChatRequest, type EncodedRequest } from './chat/chat-encode.ts'
import type { ChatQuirks } from './chat/chat-quirks.ts'
import { createChatStream } from './chat/chat-stream.ts'
import {
  decodeEmbeddingsAnswer,
  encodeEmbeddingsRequest,
  type EmbeddingsQuirks,
} from './embeddings/embeddings-codec.ts'

/** How one upstream differs from the format it speaks; `format` says which. */
export type TextQuirks = ChatQuirks | EmbeddingsQuirks

/** The translation between a caller's format and an upstream's, both ways. Pure. */
export interface TextCodec {
  /** Throws `invalid_request` for what this upstream must not be sent. */
  encodeRequest(call: TextCall, endpoint: Endpoint, quirks: TextQuirks): EncodedRequest
  /** Throws `provider_failed`, or the error a success status hid. */
  decodeAnswer(bytes: Uint8Array, context: AnswerContext, quirks: TextQuirks, call: TextCall): DecodedAnswer
  createStream(context: AnswerContext, quirks: TextQuirks): StreamRewriter
}

const chatToChat: TextCodec = {
  encodeRequest: (call, endpoint, quirks) => encodeChatRequest(call, endpoint, asChat(quirks)),
  decodeAnswer: (bytes, context, quirks) => decodeChatAnswer(bytes, context, asChat(quirks)),
  createStream: (context, quirks) => createChatStream(context, asChat(quirks)),
}

const embeddingsToEmbeddings: TextCodec = {
  encodeRequest: (call, endpoint, quirks) => encodeEmbeddingsRequest(call, endpoint, asEmbeddings(quirks)),
  decodeAnswer: (bytes, context, _quirks, call) => decodeEmbeddingsAnswer(bytes, context, call),
  createStream: () => {
    throw new Error('embeddings are never streamed')
  },
}

function asChat(quirks: TextQuirks): ChatQuirks {
  assert(quirks.format === 'chat', `chat was given the quirks of ${quirks.format}`)
  return quirks
}

function asEmbeddings(quirks: TextQuirks): EmbeddingsQuirks {
  assert(quirks.format === 'embeddings', `embeddings were given the quirks of ${quirks.format}`)
  return quirks
}

/** Caller's format, then upstream's. A pair that is missing cannot be served. */
const codecs: Readonly<Record<TextFormat, Partial<Record<TextFormat, TextCodec>>>> = {
  chat: { chat: chatToChat },
  embeddings: { embeddings: embeddingsToEmbeddings },
}

/** The codec between two formats. A missing pair is a bug: routing offers only endpoints whose format has one. */
export function selectCodec(callerFormat: TextFormat, upstreamFormat: TextFormat): TextCodec {
  const codec = codecs[callerFormat][upstreamFormat]
  assert(codec !== undefined, `no codec from ${callerFormat} to ${upstreamFormat}`)
  return codec
}
