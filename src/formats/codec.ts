import type { TextFormat } from '../canonical/operation.ts'
import { assert } from '../core/assert.ts'
import { decodeChatAnswer } from './chat/chat-answer.ts'
import { encodeChatRequest, isUnknownSchema } from './chat/chat-encode.ts'
import type { ChatQuirks } from './chat/chat-quirks.ts'
import { showDebugFirst } from './chat/chat-debug.ts'
import { readChatConversation } from './chat/chat-conversation.ts'
import { createChatReader, readChatAnswer } from './chat/chat-read.ts'
import { createChatStream } from './chat/chat-stream.ts'
import { writeChatRequest } from './chat/chat-write-request.ts'
import { createChatWriter } from './chat/chat-write-stream.ts'
import { writeChatAnswer } from './chat/chat-write.ts'
import {
  decodeEmbeddingsAnswer,
  encodeEmbeddingsRequest,
  type EmbeddingsQuirks,
} from './embeddings/embeddings-codec.ts'
import type { CallerHalf, UpstreamHalf } from './halves.ts'
import { readMessagesConversation } from './messages/messages-conversation.ts'
import { readMessagesAnswer } from './messages/messages-answer.ts'
import { createMessagesPassage } from './messages/messages-pass-stream.ts'
import { passMessagesAnswer, passMessagesRequest } from './messages/messages-pass.ts'
import type { MessagesQuirks } from './messages/messages-quirks.ts'
import { writeMessagesRequest } from './messages/messages-request.ts'
import { createMessagesReader } from './messages/messages-stream.ts'
import { createMessagesWriter } from './messages/messages-write-stream.ts'
import { writeMessagesAnswer } from './messages/messages-write.ts'
import { readResponsesConversation } from './responses/responses-conversation.ts'
import { createResponsesWriter } from './responses/responses-write-stream.ts'
import { writeResponsesAnswer } from './responses/responses-write.ts'
import type { TextCodec, TextQuirks } from './text-codec.ts'
import { translate } from './translate.ts'

/** As bytes; only what a host must be told in words, and its answer checked, goes through both halves. */
const chatToChat: TextCodec = {
  encodeRequest: (call, endpoint, quirks) =>
    isUnknownSchema(call, asChat(quirks))
      ? chatHalves().encodeRequest(call, endpoint, quirks)
      : encodeChatRequest(call, endpoint, asChat(quirks)),
  decodeAnswer: (bytes, context, quirks, call) =>
    context.promised === undefined
      ? decodeChatAnswer(bytes, context, asChat(quirks))
      : chatHalves().decodeAnswer(bytes, context, quirks, call),
  createStream: (context, quirks, call) =>
    context.promised === undefined
      ? showDebugFirst(createChatStream(context, asChat(quirks)), context)
      : showDebugFirst(chatHalves().createStream(context, quirks, call), context),
}

const chatToMessages = (): TextCodec => {
  const codec = translate(callers.chat, upstreams.messages)
  const createStream: TextCodec['createStream'] = (context, quirks, call) =>
    showDebugFirst(codec.createStream(context, quirks, call), context)
  return { ...codec, createStream }
}

function chatHalves(): TextCodec {
  return translate(callers.chat, upstreams.chat)
}

const messagesToMessages: TextCodec = {
  encodeRequest: (call, endpoint, quirks) => passMessagesRequest(call, endpoint, asMessages(quirks)),
  decodeAnswer: passMessagesAnswer,
  createStream: createMessagesPassage,
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

function asMessages(quirks: TextQuirks): MessagesQuirks {
  assert(quirks.format === 'messages', `messages were given the quirks of ${quirks.format}`)
  return quirks
}

function asEmbeddings(quirks: TextQuirks): EmbeddingsQuirks {
  assert(quirks.format === 'embeddings', `embeddings were given the quirks of ${quirks.format}`)
  return quirks
}

const callers: Readonly<Record<'chat' | 'responses' | 'messages', CallerHalf>> = {
  chat: {
    readConversation: readChatConversation,
    writeAnswer: writeChatAnswer,
    createStream: createChatWriter,
  },
  responses: {
    readConversation: readResponsesConversation,
    writeAnswer: writeResponsesAnswer,
    createStream: createResponsesWriter,
  },
  messages: {
    readConversation: readMessagesConversation,
    writeAnswer: writeMessagesAnswer,
    createStream: createMessagesWriter,
  },
}

const upstreams: Readonly<Record<'chat' | 'messages', UpstreamHalf<TextQuirks>>> = {
  chat: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeChatRequest(conversation, { endpoint, quirks: asChat(quirks) }),
    readAnswer: (bytes, quirks, context) => readChatAnswer(bytes, asChat(quirks), context),
    createStream: (quirks, context) => createChatReader(asChat(quirks), context),
  },
  messages: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeMessagesRequest(conversation, { endpoint, quirks: asMessages(quirks) }),
    readAnswer: (bytes, _quirks, context) => readMessagesAnswer(bytes, context),
    createStream: (_quirks, context) => createMessagesReader(context),
  },
}

/** Caller's format, then upstream's. A pair that is missing cannot be served. */
const codecs: Readonly<Record<TextFormat, Readonly<Partial<Record<TextFormat, TextCodec>>>>> = {
  chat: { chat: chatToChat, messages: chatToMessages() },
  responses: {
    chat: translate(callers.responses, upstreams.chat),
    messages: translate(callers.responses, upstreams.messages),
  },
  messages: {
    chat: translate(callers.messages, upstreams.chat),
    messages: messagesToMessages,
  },
  embeddings: { embeddings: embeddingsToEmbeddings },
}

/** The codec between two formats. A missing pair is a bug: routing offers only endpoints whose format has one. */
export function selectCodec(callerFormat: TextFormat, upstreamFormat: TextFormat): TextCodec {
  const codec = codecs[callerFormat][upstreamFormat]
  assert(codec !== undefined, `no codec from ${callerFormat} to ${upstreamFormat}`)
  return codec
}
