import { readChatConversation } from './chat/read-conversation.ts'
import { showChatUsage } from './chat/usage.ts'
import { createChatWriter } from './chat/write-stream.ts'
import { writeChatAnswer } from './chat/write-answer.ts'
import { writeContractError } from '../client-convention.ts'
import type { CallerHalf } from './halves.ts'
import { readMessagesConversation } from './messages/read-conversation.ts'
import { writeMessagesErrorBody } from './messages/errors.ts'
import { createMessagesWriter } from './messages/write-stream.ts'
import { writeMessagesAnswer, writeMessagesUsage } from './messages/write-answer.ts'
import { readResponsesConversation } from './responses/read-conversation.ts'
import { createResponsesWriter } from './responses/write-stream.ts'
import { writeResponsesAnswer, writeResponsesUsage } from './responses/write-answer.ts'

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
