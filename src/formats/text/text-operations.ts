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

/**
 * The large member of a text operation's body, which differs between batch items, and how to check it without building
 * its values.
 */
export interface Bulk {
  member: 'messages' | 'input'
  /** Whether such a value (valid JSON) surely passes the decoder and needs exactly the tokens of `estimateTokens`. */
  isPlain(value: Buffer): boolean
  /** The shortest plain value. */
  sample: Buffer
}

/** A call that counts the tokens of a prompt and asks no model. */
export interface TokenCount {
  /** The path below the operation's own. */
  path: string
  /** Label of the log line and the metrics. */
  name: string
  /** The body of its answer. */
  write(inputTokens: number): Readonly<Record<string, unknown>>
}

/** What execution needs to know of a text operation, so that it need not know the members of bodies. */
export interface TextOperation {
  /** Reads a body as a call. Throws `invalid_request`. */
  decode(bytes: Uint8Array, context: DecodeContext): TextCall
  /** Null for an operation that batches do not run. */
  bulk: Bulk | null
  /** The conventions of its clients: the envelope of an error, and names of headers. */
  convention: ClientConvention
  /** The frames that its streams show before any provider has answered; null when it never streams. */
  stream: StreamFrames | null
  /** How its callers count the tokens of a prompt without an answer; null when the format has no such call. */
  tokenCount: TokenCount | null
  /** The member that limits the output; an error names it when a smaller limit would be affordable. Null for none. */
  outputLimit: string | null
  /** The member with which a caller names the prompt cache to reuse; null for none. */
  cacheKey: string | null
  /**
   * Whether endpoints declare which of its parameters they honour; otherwise it turns out when a request is written.
   */
  hasToldParameters: boolean
  /** Its entry in the API description; absent when `http/api-description.ts` has it. */
  described?: DescribedOperation
}

/** An operation in the API description. */
export interface DescribedOperation {
  /** Its id there, such as `createRerank`. */
  id: string
  summary: string
  description: string
  request: { schema: z.ZodType; example: unknown }
  answer: { description: string; schema: z.ZodType; example: unknown }
  /** The data of one event; null when it never streams. */
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
