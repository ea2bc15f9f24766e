import { completionsCaller } from '../completions/write-answer.ts'
import { readChatConversation } from './chat/read-conversation.ts'
import { showChatUsage } from './chat/usage.ts'
import { createChatWriter } from './chat/write-stream.ts'
import { writeChatAnswer } from './chat/write-answer.ts'
import { writeContractError } from '../client-convention.ts'
import type { CallerHalf, EncodedRequest, UpstreamHalf } from './halves.ts'
import { readMessagesConversation } from './messages/read-conversation.ts'
import { writeMessagesErrorBody } from './messages/errors.ts'
import { createMessagesWriter } from './messages/write-stream.ts'
import { writeMessagesAnswer, writeMessagesUsage } from './messages/write-answer.ts'
import { readResponsesConversation } from './responses/read-conversation.ts'
import { createResponsesWriter } from './responses/write-stream.ts'
import { writeResponsesAnswer, writeResponsesUsage } from './responses/write-answer.ts'
import { asChat } from './chat/quirks.ts'
import { readChatAnswer } from './chat/read-answer.ts'
import { createChatReader } from './chat/read-stream.ts'
import { writeChatRequest } from './chat/write-request.ts'
import { asCohere } from './cohere/quirks.ts'
import { readCohereAnswer } from './cohere/read-answer.ts'
import { createCohereReader } from './cohere/read-stream.ts'
import { writeCohereRequest } from './cohere/write-request.ts'
import { readConverseFailure } from './converse/errors.ts'
import { asConverse } from './converse/quirks.ts'
import { readConverseAnswer } from './converse/read-answer.ts'
import { createConverseReader } from './converse/read-stream.ts'
import { writeConverseRequest } from './converse/write-request.ts'
import { asGemini } from './gemini/quirks.ts'
import { readGeminiAnswer } from './gemini/read-answer.ts'
import { createGeminiReader } from './gemini/read-stream.ts'
import { writeGeminiRequest } from './gemini/write-request.ts'
import { readMessagesAnswer } from './messages/read-answer.ts'
import { asMessages } from './messages/quirks.ts'
import { writeMessagesRequest } from './messages/write-request.ts'
import { createMessagesReader } from './messages/read-stream.ts'
import { readResponsesAnswer } from './responses/read-answer.ts'
import { asResponses } from './responses/quirks.ts'
import { writeResponsesRequest } from './responses/write-request.ts'
import { createResponsesReader } from './responses/read-stream.ts'
import type { TextCodec, TextQuirks } from './codec.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { TextFormat } from '../../canonical/operation.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { assert } from '../../core/assert.ts'
import { decodeChatAnswer } from './chat/pass-answer.ts'
import { encodeChatInSteps, encodeChatRequest, isUnknownSchema } from './chat/pass-request.ts'
import { showDebugFirst } from './chat/pass-stream-debug.ts'
import { createChatStream } from './chat/pass-stream.ts'
import { decodeEmbeddingsAnswer, encodeEmbeddingsRequest } from '../embeddings/embeddings-codec.ts'
import { hidesThoughts } from './thoughts/hidden-thoughts.ts'
import { decodeCohereEmbeddings, encodeCohereEmbeddings } from '../embeddings/cohere.ts'
import { decodeGeminiEmbeddings, encodeGeminiEmbeddings } from '../embeddings/gemini.ts'
import { createMessagesPassage } from './messages/pass-stream.ts'
import { passMessagesRequest } from './messages/pass-request.ts'
import { passMessagesAnswer } from './messages/pass-answer.ts'
import { createResponsesPassage } from './responses/pass-stream.ts'
import { passResponsesRequest } from './responses/pass-request.ts'
import { passResponsesAnswer } from './responses/pass-answer.ts'
import { asEmbeddings } from '../embeddings/quirks.ts'
import { translate } from './translate.ts'

/** The formats of callers that conversations come in. */
export const callers: Readonly<Record<'chat' | 'responses' | 'messages', CallerHalf>> = {
  chat: {
    readConversation: readChatConversation,
    writeAnswer: writeChatAnswer,
    writeUsage: (charge) => showChatUsage(null, charge),
    createStream: createChatWriter,
    hasErrorEnd: true,
    writeError: writeContractError,
  },
  responses: {
    readConversation: readResponsesConversation,
    writeAnswer: writeResponsesAnswer,
    writeUsage: writeResponsesUsage,
    createStream: createResponsesWriter,
    hasErrorEnd: true,
    writeError: writeContractError,
  },
  messages: {
    readConversation: readMessagesConversation,
    writeAnswer: writeMessagesAnswer,
    writeUsage: writeMessagesUsage,
    createStream: createMessagesWriter,
    hasErrorEnd: false,
    writeError: writeMessagesErrorBody,
  },
}

/** The formats of providers. */
export const upstreams: Readonly<
  Record<'chat' | 'responses' | 'messages' | 'gemini' | 'converse' | 'cohere', UpstreamHalf<TextQuirks>>
> = {
  chat: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeChatRequest(conversation, { endpoint, quirks: asChat(quirks) }),
    readAnswer: (bytes, quirks, context) => readChatAnswer(bytes, asChat(quirks), context),
    createStream: (quirks, context) => createChatReader(asChat(quirks), context),
    readError: readUpstreamFailure,
  },
  responses: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeResponsesRequest(conversation, { endpoint, quirks: asResponses(quirks) }),
    readAnswer: (bytes, quirks, context) => readResponsesAnswer(bytes, asResponses(quirks), context),
    createStream: (quirks, context) => createResponsesReader(asResponses(quirks), context),
    readError: readUpstreamFailure,
  },
  messages: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeMessagesRequest(conversation, { endpoint, quirks: asMessages(quirks) }),
    readAnswer: (bytes, _quirks, context) => readMessagesAnswer(bytes, context),
    createStream: (_quirks, context) => createMessagesReader(context),
    readError: readUpstreamFailure,
  },
  gemini: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeGeminiRequest(conversation, { endpoint, quirks: asGemini(quirks) }),
    readAnswer: (bytes, _quirks, context) => readGeminiAnswer(bytes, context),
    createStream: (_quirks, context) => createGeminiReader(context),
    readError: readUpstreamFailure,
  },
  converse: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeConverseRequest(conversation, { endpoint, quirks: asConverse(quirks) }),
    readAnswer: (bytes) => readConverseAnswer(bytes),
    createStream: (_quirks, context) => createConverseReader(context),
    readError: readConverseFailure,
  },
  cohere: {
    writeRequest: (conversation, { endpoint, quirks }) =>
      writeCohereRequest(conversation, { endpoint, quirks: asCohere(quirks) }),
    readAnswer: (bytes) => readCohereAnswer(bytes),
    createStream: (_quirks, context) => createCohereReader(context),
    readError: readUpstreamFailure,
  },
}

/** Whether an answer may pass unchanged: it is not checked against a form, and no thoughts are hidden. */
function isPassed(context: AnswerContext, quirks: TextQuirks): boolean {
  return context.promised === undefined && !hidesThoughts(context, quirks)
}

/** Bytes pass through. A request or answer goes through both halves only when it cannot pass unchanged. */
const chatToChat: TextCodec = {
  encodeRequest: (call, endpoint, quirks) =>
    isUnknownSchema(call, asChat(quirks))
      ? chatHalves().encodeRequest(call, endpoint, quirks)
      : encodeChatRequest(call, endpoint, asChat(quirks)),
  *encodeInSteps(call, endpoint, quirks) {
    return isUnknownSchema(call, asChat(quirks))
      ? yield* encodeInSteps(chatHalves(), { call, endpoint, quirks })
      : yield* encodeChatInSteps(call, endpoint, asChat(quirks))
  },
  decodeAnswer: (bytes, context, quirks, call) =>
    isPassed(context, quirks)
      ? decodeChatAnswer(bytes, context, asChat(quirks))
      : chatHalves().decodeAnswer(bytes, context, quirks, call),
  createStream: (context, quirks, call) =>
    isPassed(context, quirks)
      ? showDebugFirst(createChatStream(context, asChat(quirks)), context)
      : showDebugFirst(chatHalves().createStream(context, quirks, call), context),
  readError: upstreams.chat.readError,
}

/** A chat completions caller, which may ask for `debug`, with a provider of another format. */
const chatTo = (upstream: 'responses' | 'messages' | 'gemini' | 'converse' | 'cohere'): TextCodec => {
  const codec = translate(callers.chat, upstreams[upstream])
  const createStream: TextCodec['createStream'] = (context, quirks, call) =>
    showDebugFirst(codec.createStream(context, quirks, call), context)
  return { ...codec, createStream }
}

function chatHalves(): TextCodec {
  return translate(callers.chat, upstreams.chat)
}

/** Bytes pass through. For a host that takes only a part of the format, the request goes through both halves. */
const messagesToMessages: TextCodec = {
  encodeRequest: (call, endpoint, quirks) =>
    asMessages(quirks).isWhole
      ? passMessagesRequest(call, endpoint, asMessages(quirks))
      : messagesHalves().encodeRequest(call, endpoint, quirks),
  *encodeInSteps(call, endpoint, quirks) {
    return asMessages(quirks).isWhole
      ? passMessagesRequest(call, endpoint, asMessages(quirks))
      : yield* encodeInSteps(messagesHalves(), { call, endpoint, quirks })
  },
  decodeAnswer: (bytes, context, quirks, call) =>
    isPassed(context, quirks)
      ? passMessagesAnswer(bytes, context, asMessages(quirks))
      : messagesHalves().decodeAnswer(bytes, context, quirks, call),
  createStream: (context, quirks, call) =>
    isPassed(context, quirks)
      ? createMessagesPassage(context, asMessages(quirks))
      : messagesHalves().createStream(context, quirks, call),
  readError: upstreams.messages.readError,
}

function messagesHalves(): TextCodec {
  return translate(callers.messages, upstreams.messages)
}

const responsesToResponses = (): TextCodec => {
  const halves = translate(callers.responses, upstreams.responses)
  return {
    encodeRequest: (call, endpoint, quirks) => passResponsesRequest(call, endpoint, asResponses(quirks)),
    decodeAnswer: (bytes, context, quirks, call) =>
      hidesThoughts(context, quirks)
        ? halves.decodeAnswer(bytes, context, quirks, call)
        : passResponsesAnswer(bytes, context, asResponses(quirks), call),
    createStream: (context, quirks, call) =>
      hidesThoughts(context, quirks)
        ? halves.createStream(context, quirks, call)
        : createResponsesPassage({ context, quirks: asResponses(quirks), call }, () =>
            halves.createStream(context, quirks, call),
          ),
    readError: halves.readError,
  }
}

const embeddingsToEmbeddings: TextCodec = {
  encodeRequest: (call, endpoint, quirks) => encodeEmbeddingsRequest(call, endpoint, asEmbeddings(quirks)),
  decodeAnswer: (bytes, context, quirks, call) =>
    decodeEmbeddingsAnswer(bytes, context, call, asEmbeddings(quirks)),
  createStream: () => {
    throw new Error('embeddings are never streamed')
  },
  readError: readUpstreamFailure,
}

const embeddingsToGemini: TextCodec = {
  ...embeddingsToEmbeddings,
  encodeRequest: (call, endpoint, quirks) => encodeGeminiEmbeddings(call, endpoint, asGemini(quirks)),
  decodeAnswer: (bytes, context, _quirks, call) => decodeGeminiEmbeddings(bytes, context, call),
}

const embeddingsToCohere: TextCodec = {
  ...embeddingsToEmbeddings,
  encodeRequest: (call, endpoint) => encodeCohereEmbeddings(call, endpoint),
  decodeAnswer: (bytes, context, _quirks, call) => decodeCohereEmbeddings(bytes, context, call),
}

/** By the caller's format, then by the provider's. A missing pair cannot be served. */
const codecs: Readonly<Partial<Record<TextFormat, Readonly<Partial<Record<TextFormat, TextCodec>>>>>> = {
  chat: {
    chat: chatToChat,
    responses: chatTo('responses'),
    messages: chatTo('messages'),
    gemini: chatTo('gemini'),
    converse: chatTo('converse'),
    cohere: chatTo('cohere'),
  },
  responses: {
    chat: translate(callers.responses, upstreams.chat),
    responses: responsesToResponses(),
    messages: translate(callers.responses, upstreams.messages),
    gemini: translate(callers.responses, upstreams.gemini),
    converse: translate(callers.responses, upstreams.converse),
    cohere: translate(callers.responses, upstreams.cohere),
  },
  messages: {
    chat: translate(callers.messages, upstreams.chat),
    responses: translate(callers.messages, upstreams.responses),
    messages: messagesToMessages,
    gemini: translate(callers.messages, upstreams.gemini),
    converse: translate(callers.messages, upstreams.converse),
    cohere: translate(callers.messages, upstreams.cohere),
  },
  completions: {
    chat: translate(completionsCaller, upstreams.chat),
    responses: translate(completionsCaller, upstreams.responses),
    messages: translate(completionsCaller, upstreams.messages),
    gemini: translate(completionsCaller, upstreams.gemini),
    converse: translate(completionsCaller, upstreams.converse),
    cohere: translate(completionsCaller, upstreams.cohere),
  },
  embeddings: {
    embeddings: embeddingsToEmbeddings,
    gemini: embeddingsToGemini,
    cohere: embeddingsToCohere,
  },
  gemini: {},
  converse: {},
  cohere: {},
}

/** Encodes a request in the codec's steps, or in one step. */
export function* encodeInSteps(
  codec: TextCodec,
  { call, endpoint, quirks }: { call: TextCall; endpoint: Endpoint; quirks: TextQuirks },
): Generator<void, EncodedRequest> {
  const steps = codec.encodeInSteps?.(call, endpoint, quirks)
  return steps === undefined ? codec.encodeRequest(call, endpoint, quirks) : yield* steps
}

/** The codec between two formats. A missing pair is a bug: routing offers only endpoints whose format has one. */
export function selectCodec(callerFormat: TextFormat, upstreamFormat: TextFormat): TextCodec {
  const codec = codecs[callerFormat]?.[upstreamFormat]
  assert(codec !== undefined, `no codec from ${callerFormat} to ${upstreamFormat}`)
  return codec
}
