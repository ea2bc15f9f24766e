import type { TextCall } from '../canonical/call.ts'
import type { Modality, OperationName } from '../canonical/operation.ts'
import { decodeChatRequest, type DecodeContext } from '../formats/chat/chat-request.ts'
import { decodeEmbeddingsRequest } from '../formats/embeddings/embeddings-request.ts'
import { decodeMessagesRequest } from '../formats/messages/messages-decode.ts'
import { decodeResponsesRequest } from '../formats/responses/responses-decode.ts'
import { arePlainMessages, arePlainTurns } from '../formats/plain-messages.ts'
import { chatFrames, messagesFrames, responsesFrames, type StreamFrames } from '../formats/stream-frames.ts'

/** The inference endpoints a batch can run against, as its `endpoint` field spells them. */
export type BatchEndpoint = '/v1/chat/completions' | '/v1/responses' | '/v1/messages' | '/v1/embeddings'

/** The member of a text operation's body that differs from one batch item to the next, and how to do without building it. */
export interface Bulk {
  member: 'messages' | 'input'
  /** Whether such a value, known to be valid JSON, is surely accepted and demands what `estimateTokens` says. */
  isPlain(value: Buffer): boolean
  /** The shortest plain value. */
  sample: Buffer
}

/** How a text operation's bodies are read. */
export interface TextOperation {
  /** A body as a call. Throws `invalid_request`. */
  decode(bytes: Uint8Array, context: DecodeContext): TextCall
  bulk: Bulk
  /** What its streams show before any provider has answered; null for what is never streamed. */
  stream: StreamFrames | null
}

/** One thing a caller can ask for. HTTP, batches, metering, billing and the API description follow from the row. */
export interface Operation {
  name: OperationName
  /** Below the version segment. */
  path: string
  modality: Modality
  /** How a batch names it, or null when batches cannot run it. */
  batchEndpoint: BatchEndpoint | null
  /** Null for audio, whose bodies are read otherwise. */
  text: TextOperation | null
  /** How its generation ids begin when it is called live. */
  generationPrefix: 'gen' | 'gen-stt' | 'gen-tts'
  /** Longest time from the request to the end of the answer, in milliseconds; a batch item's wait for a place is not in it. */
  deadlineMs: number
  /** Longest wait for the first byte of one attempt, in milliseconds. */
  firstByteTimeoutMs: number
}

const minute = 60_000

export const operations: Readonly<Record<OperationName, Operation>> = {
  chat_completions: {
    name: 'chat_completions',
    path: '/chat/completions',
    modality: 'language',
    batchEndpoint: '/v1/chat/completions',
    text: {
      decode: decodeChatRequest,
      stream: chatFrames,
      bulk: { member: 'messages', isPlain: arePlainMessages, sample: Buffer.from('[{"role":"user"}]') },
    },
    generationPrefix: 'gen',
    deadlineMs: 30 * minute,
    // Reasoning models think for minutes before the first byte when they do not stream.
    firstByteTimeoutMs: 10 * minute,
  },
  responses: {
    name: 'responses',
    path: '/responses',
    modality: 'language',
    batchEndpoint: '/v1/responses',
    text: {
      decode: decodeResponsesRequest,
      stream: responsesFrames,
      bulk: { member: 'input', isPlain: isPlainText, sample: Buffer.from('"x"') },
    },
    generationPrefix: 'gen',
    deadlineMs: 30 * minute,
    firstByteTimeoutMs: 10 * minute,
  },
  messages: {
    name: 'messages',
    path: '/messages',
    modality: 'language',
    batchEndpoint: '/v1/messages',
    text: {
      decode: decodeMessagesRequest,
      stream: messagesFrames,
      bulk: {
        member: 'messages',
        isPlain: arePlainTurns,
        sample: Buffer.from('[{"role":"user","content":"x"}]'),
      },
    },
    generationPrefix: 'gen',
    deadlineMs: 30 * minute,
    firstByteTimeoutMs: 10 * minute,
  },
  embeddings: {
    name: 'embeddings',
    path: '/embeddings',
    modality: 'embedding',
    batchEndpoint: '/v1/embeddings',
    text: {
      decode: decodeEmbeddingsRequest,
      stream: null,
      bulk: { member: 'input', isPlain: isPlainText, sample: Buffer.from('"x"') },
    },
    generationPrefix: 'gen',
    deadlineMs: 5 * minute,
    firstByteTimeoutMs: 2 * minute,
  },
  transcription: {
    name: 'transcription',
    path: '/audio/transcriptions',
    modality: 'transcription',
    batchEndpoint: null,
    text: null,
    generationPrefix: 'gen-stt',
    deadlineMs: 20 * minute,
    firstByteTimeoutMs: 10 * minute,
  },
  speech: {
    name: 'speech',
    path: '/audio/speech',
    modality: 'speech',
    batchEndpoint: null,
    text: null,
    generationPrefix: 'gen-tts',
    deadlineMs: 20 * minute,
    firstByteTimeoutMs: 2 * minute,
  },
}

/** The operation that a batch's `endpoint` names, or null. */
export function operationOfBatchEndpoint(endpoint: string): Operation | null {
  return Object.values(operations).find((operation) => operation.batchEndpoint === endpoint) ?? null
}

/** One text that is not empty. */
function isPlainText(value: Buffer): boolean {
  return value[0] === 0x22 && value.length > 2
}
