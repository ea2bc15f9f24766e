import type { z } from 'zod'
import type { TextCall } from '../../canonical/call.ts'
import { arePlainMessages, decodeChatRequest } from './chat/read-request.ts'
import type { DecodeContext } from './decode-context.ts'
import { chatFrames } from './chat/errors.ts'
import { messagesFrames, writeMessagesErrorBody } from './messages/errors.ts'
import { responsesFrames } from './responses/errors.ts'
import type { StreamFrames } from './halves.ts'
import { type ClientConvention, contractConvention } from '../client-convention.ts'
import { decodeEmbeddingsRequest } from '../embeddings/read-request.ts'
import { arePlainTurns, decodeMessagesRequest } from './messages/read-request.ts'
import { decodeResponsesRequest } from './responses/read-request.ts'

const quote = 0x22

/** The member of a text operation's body that differs from one batch item to the next, and how to do without building it. */
export interface Bulk {
  member: 'messages' | 'input'
  /** Whether such a value, known to be valid JSON, is surely accepted and demands what `estimateTokens` says. */
  isPlain(value: Buffer): boolean
  /** The shortest plain value. */
  sample: Buffer
}

/** A call that counts the tokens of a prompt and asks no model. */
export interface TokenCount {
  /** Below the operation's own path. */
  path: string
  /** Label of the log line and the metrics. */
  name: string
  /** The body of its answer. */
  write(inputTokens: number): Readonly<Record<string, unknown>>
}

/** What execution must know of a text operation's bodies, so that it need not know their members. */
export interface TextOperation {
  /** A body as a call. Throws `invalid_request`. */
  decode(bytes: Uint8Array, context: DecodeContext): TextCall
  /** Null for what batches do not run. */
  bulk: Bulk | null
  /** What its clients expect around an answer: the envelope of an error, names of headers. */
  convention: ClientConvention
  /** What its streams show before any provider has answered; null for what is never streamed. */
  stream: StreamFrames | null
  /** How its callers ask for the size of a prompt without an answer; null where the format has no such call. */
  tokenCount: TokenCount | null
  /** The member by which a caller bounds the output, to name it where a smaller one would be affordable; null for none. */
  outputLimit: string | null
  /** The member by which a caller names what it wants the prompt cache of again; null for none. */
  cacheKey: string | null
  /** Whether endpoints say which of its parameters they honour; else it shows when a request is written. */
  hasToldParameters: boolean
  /** What the API description says of it; absent where `http/api-description.ts` says it. */
  described?: DescribedOperation
}

/** An operation as its callers read of it. */
export interface DescribedOperation {
  /** Of the API description, such as `createRerank`. */
  id: string
  summary: string
  description: string
  request: { schema: z.ZodType; example: unknown }
  answer: { description: string; schema: z.ZodType; example: unknown }
  /** The data of one event; null for what is never streamed. */
  event: { schema: z.ZodType; example: unknown } | null
}

export const chatCompletions: TextOperation = {
  decode: decodeChatRequest,
  stream: chatFrames,
  convention: contractConvention,
  bulk: { member: 'messages', isPlain: arePlainMessages, sample: Buffer.from('[{"role":"user"}]') },
  tokenCount: null,
  outputLimit: 'max_tokens',
  cacheKey: 'prompt_cache_key',
  hasToldParameters: true,
}

export const responses: TextOperation = {
  decode: decodeResponsesRequest,
  stream: responsesFrames,
  convention: contractConvention,
  bulk: { member: 'input', isPlain: isPlainText, sample: Buffer.from('"x"') },
  tokenCount: null,
  outputLimit: 'max_output_tokens',
  cacheKey: 'prompt_cache_key',
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
