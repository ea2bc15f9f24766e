import { arePlainMessages, decodeChatRequest } from './chat/read-request.ts'
import { chatFrames } from './chat/errors.ts'
import { messagesFrames, writeMessagesErrorBody } from './messages/errors.ts'
import { responsesFrames } from './responses/errors.ts'
import type { TextOperation } from './text-operation-row.ts'
import { contractConvention } from '../client-convention.ts'
import { decodeEmbeddingsRequest } from '../embeddings/read-request.ts'
import { arePlainTurns, decodeMessagesRequest } from './messages/read-request.ts'
import { responsesCompaction } from './responses/compaction.ts'
import { decodeResponsesRequest } from './responses/read-request.ts'
import { responsesTurns } from './responses/socket-turns.ts'

const quote = 0x22

export const chatCompletions: TextOperation = {
  decode: decodeChatRequest,
  stream: chatFrames,
  convention: contractConvention,
  bulk: { member: 'messages', isPlain: arePlainMessages, sample: Buffer.from('[{"role":"user"}]') },
  tokenCount: null,
  outputLimit: 'max_tokens',
  cacheKey: 'prompt_cache_key',
  opening: ['tools'],
  hasToldParameters: true,
}

export const responses: TextOperation = {
  decode: decodeResponsesRequest,
  stream: responsesFrames,
  turns: responsesTurns,
  compaction: responsesCompaction,
  convention: contractConvention,
  bulk: { member: 'input', isPlain: isPlainText, sample: Buffer.from('"x"') },
  tokenCount: null,
  outputLimit: 'max_output_tokens',
  cacheKey: 'prompt_cache_key',
  opening: ['tools', 'instructions'],
  hasToldParameters: false,
}

export const messages: TextOperation = {
  decode: decodeMessagesRequest,
  stream: messagesFrames,
  convention: {
    writeError: writeMessagesErrorBody,
    requestIdHeader: 'request-id',
    acceptsApiKeyHeader: true,
  },
  bulk: {
    member: 'messages',
    isPlain: arePlainTurns,
    sample: Buffer.from('[{"role":"user","content":"x"}]'),
  },
  tokenCount: {
    path: '/count_tokens',
    name: 'count_tokens',
    write: (inputTokens) => ({ input_tokens: inputTokens }),
  },
  outputLimit: 'max_tokens',
  cacheKey: null,
  opening: ['tools', 'system'],
  hasToldParameters: false,
}

export const embeddings: TextOperation = {
  decode: decodeEmbeddingsRequest,
  stream: null,
  convention: contractConvention,
  bulk: { member: 'input', isPlain: isPlainText, sample: Buffer.from('"x"') },
  tokenCount: null,
  outputLimit: null,
  cacheKey: null,
  hasToldParameters: true,
}

/** One text that is not empty. */
function isPlainText(value: Buffer): boolean {
  return value[0] === quote && value.length > 2
}
