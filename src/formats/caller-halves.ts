import { readChatConversation } from './chat/chat-conversation.ts'
import { showChatUsage } from './chat/chat-usage.ts'
import { createChatWriter } from './chat/chat-write-stream.ts'
import { writeChatAnswer } from './chat/chat-write.ts'
import { writeContractError } from './client-convention.ts'
import type { CallerHalf } from './halves.ts'
import { readMessagesConversation } from './messages/messages-conversation.ts'
import { writeMessagesErrorBody } from './messages/messages-error.ts'
import { createMessagesWriter } from './messages/messages-write-stream.ts'
import { writeMessagesAnswer, writeMessagesUsage } from './messages/messages-write.ts'
import { readResponsesConversation } from './responses/responses-conversation.ts'
import { createResponsesWriter } from './responses/responses-write-stream.ts'
import { writeResponsesAnswer, writeResponsesUsage } from './responses/responses-write.ts'

/** By the formats that conversations are asked in. */
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
