import { assert } from '../../core/assert.ts'
import type { ChatQuirks } from './chat/quirks.ts'
import { readChatAnswer } from './chat/read-answer.ts'
import { createChatReader } from './chat/read-stream.ts'
import { writeChatRequest } from './chat/write-request.ts'
import type { GeminiQuirks } from './gemini/quirks.ts'
import { readGeminiAnswer } from './gemini/read-answer.ts'
import { createGeminiReader } from './gemini/read-stream.ts'
import { writeGeminiRequest } from './gemini/write-request.ts'
import type { UpstreamHalf } from './halves.ts'
import { readMessagesAnswer } from './messages/read-answer.ts'
import type { MessagesQuirks } from './messages/quirks.ts'
import { writeMessagesRequest } from './messages/write-request.ts'
import { createMessagesReader } from './messages/read-stream.ts'
import { readResponsesAnswer } from './responses/read-answer.ts'
import type { ResponsesQuirks } from './responses/quirks.ts'
import { writeResponsesRequest } from './responses/write-request.ts'
import { createResponsesReader } from './responses/read-stream.ts'
import type { TextQuirks } from './codec.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'

/** By the formats that providers speak. */
export const upstreams: Readonly<
  Record<'chat' | 'responses' | 'messages' | 'gemini', UpstreamHalf<TextQuirks>>
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
}

/** The quirks of a provider that speaks chat completions. */
export function asChat(quirks: TextQuirks): ChatQuirks {
  assert(quirks.format === 'chat', `chat was given the quirks of ${quirks.format}`)
  return quirks
}

/** The quirks of a provider that speaks responses. */
export function asResponses(quirks: TextQuirks): ResponsesQuirks {
  assert(quirks.format === 'responses', `responses were given the quirks of ${quirks.format}`)
  return quirks
}

/** The quirks of a provider that speaks messages. */
export function asMessages(quirks: TextQuirks): MessagesQuirks {
  assert(quirks.format === 'messages', `messages were given the quirks of ${quirks.format}`)
  return quirks
}

/** The quirks of a provider that speaks Gemini's format. */
export function asGemini(quirks: TextQuirks): GeminiQuirks {
  assert(quirks.format === 'gemini', `gemini was given the quirks of ${quirks.format}`)
  return quirks
}
