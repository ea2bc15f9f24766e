import type { BatchEndpoint } from '../canonical/batch.ts'
import type { Modality, OperationName } from '../canonical/operation.ts'
import { completions } from '../formats/completions/text-operation.ts'
import { rerank } from '../formats/rerank/text-operation.ts'
import { chatCompletions, embeddings, messages, responses } from '../formats/text/text-operations.ts'
import type { TextOperation } from '../formats/text/text-operation-row.ts'

/** The contract's words for kinds of generations. */
export const apiTypes = ['completions', 'embeddings', 'stt', 'tts', 'rerank'] as const

/** One thing a caller can ask for. HTTP, batches, metering, billing and the API description follow from the row. */
export interface Operation {
  name: OperationName
  /** Below the version segment. */
  path: string
  modality: Modality
  /** How a batch names it, or null when batches cannot run it. */
  batchEndpoint: BatchEndpoint | null
  /** Null for audio operations, whose bodies have readers of their own. */
  text: TextOperation | null
  /** How its generation ids begin when it is called live. */
  generationPrefix: 'gen' | 'gen-stt' | 'gen-tts'
  /** The contract's word for it in the record of a generation; null where it has none. */
  apiType: (typeof apiTypes)[number] | null
  /**
   * Longest time from the request to the end of the answer, in milliseconds. A batch item's wait for a place does not
   * count.
   */
  deadlineMs: number
  /** The setting by which the operator may replace `deadlineMs`; absent where there is none. */
  configuredDeadline?: 'transcriptionMs'
  /**
   * Longest wait for the first byte of one attempt, in milliseconds; null where the whole answer comes at the end of
   * the provider's work.
   */
  firstByteTimeoutMs: number | null
}

const minute = 60_000

export const operations: Readonly<Record<OperationName, Operation>> = {
  chat_completions: {
    name: 'chat_completions',
    path: '/chat/completions',
    modality: 'language',
    batchEndpoint: '/v1/chat/completions',
    text: chatCompletions,
    generationPrefix: 'gen',
    apiType: 'completions',
    deadlineMs: 30 * minute,
    // Reasoning models think for minutes before the first byte when they do not stream.
    firstByteTimeoutMs: 10 * minute,
  },
  responses: {
    name: 'responses',
    path: '/responses',
    modality: 'language',
    batchEndpoint: '/v1/responses',
    text: responses,
    generationPrefix: 'gen',
    apiType: null,
    deadlineMs: 30 * minute,
    firstByteTimeoutMs: 10 * minute,
  },
  messages: {
    name: 'messages',
    path: '/messages',
    modality: 'language',
    batchEndpoint: '/v1/messages',
    text: messages,
    generationPrefix: 'gen',
    apiType: null,
    deadlineMs: 30 * minute,
    firstByteTimeoutMs: 10 * minute,
  },
  embeddings: {
    name: 'embeddings',
    path: '/embeddings',
    modality: 'embedding',
    batchEndpoint: '/v1/embeddings',
    text: embeddings,
    generationPrefix: 'gen',
    apiType: 'embeddings',
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
    apiType: 'stt',
    deadlineMs: 20 * minute,
    configuredDeadline: 'transcriptionMs',
    firstByteTimeoutMs: null,
  },
  speech: {
    name: 'speech',
    path: '/audio/speech',
    modality: 'speech',
    batchEndpoint: null,
    text: null,
    generationPrefix: 'gen-tts',
    apiType: 'tts',
    deadlineMs: 20 * minute,
    firstByteTimeoutMs: 2 * minute,
  },
  completions: {
    name: 'completions',
    path: '/completions',
    modality: 'language',
    batchEndpoint: null,
    text: completions,
    generationPrefix: 'gen',
    apiType: 'completions',
    deadlineMs: 30 * minute,
    firstByteTimeoutMs: 10 * minute,
  },
  rerank: {
    name: 'rerank',
    path: '/rerank',
    modality: 'rerank',
    batchEndpoint: null,
    // `pricedBy` of the modality (`canonical/operation.ts`) says what it is billed by, and
    // `billing/metering/modalities.ts` how that is held, metered and estimated.
    text: rerank,
    generationPrefix: 'gen',
    apiType: 'rerank',
    deadlineMs: 5 * minute,
    firstByteTimeoutMs: 2 * minute,
  },
}

/** The operation with this stored name, or null when this version does not serve it any more. */
export function findOperation(name: string): Operation | null {
  return Object.values(operations).find((operation) => operation.name === name) ?? null
}

/** The operation that a batch's `endpoint` names, or null. */
export function operationOfBatchEndpoint(endpoint: string): Operation | null {
  return Object.values(operations).find((operation) => operation.batchEndpoint === endpoint) ?? null
}
