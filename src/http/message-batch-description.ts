import { json, type Described } from './described.ts'
import {
  messageBatchDeletionSchema,
  messageBatchListQuerySchema,
  messageBatchListSchema,
  messageBatchRequestSchema,
  messageBatchResultSchema,
  messageBatchSchema,
} from './schemas/message-batch.ts'

const common = { tag: 'Batches', access: 'inference' } as const
const errors = [401, 403, 404, 429, 500, 502]

const created = {
  id: 'batch_0mvxk3l9q7f2a4c6e8g0i2k4',
  type: 'message_batch',
  processing_status: 'in_progress',
  request_counts: { processing: 1, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  ended_at: null,
  created_at: '2026-11-23T09:00:00.000Z',
  expires_at: '2026-11-24T09:00:00.000Z',
  archived_at: null,
  cancel_initiated_at: null,
  results_url: null,
} as const
const ended = {
  ...created,
  processing_status: 'ended',
  request_counts: { ...created.request_counts, processing: 0, succeeded: 1 },
  ended_at: '2026-11-23T09:04:00.000Z',
  results_url: `https://gateway.example/v1/messages/batches/${created.id}/results`,
} as const
const result = {
  custom_id: 'first',
  result: {
    type: 'succeeded',
    message: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
  },
}

/** Anthropic's message batches in the API description. */
export const messageBatchDescription: Readonly<Record<string, Described>> = {
  'POST /messages/batches': {
    ...common,
    id: 'createMessageBatch',
    summary: "Create a batch in Anthropic's form",
    description:
      'An ordinary batch whose endpoint is `/v1/messages`: it is read at `/batches` too. Its requests may name up to 16 models, each of which is run in a lane and in jobs of its own; `headrace` and `provider` may stand beside `requests`.',
    headers: [
      {
        name: 'Idempotency-Key',
        description: 'The same key with the same body answers with the same batch for 30 days.',
      },
      { name: 'anthropic-beta', description: 'Holds for every request of the batch.' },
    ],
    body: json(messageBatchRequestSchema, {
      requests: [
        {
          custom_id: 'first',
          params: {
            model: 'anthropic/claude-sonnet-4-5',
            max_tokens: 100,
            messages: [{ role: 'user', content: 'Say hello' }],
          },
        },
      ],
    }),
    answer: {
      status: 200,
      description: 'The batch, stored and queued',
      content: json(messageBatchSchema, created),
    },
    errors: [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502],
  },
  'GET /messages/batches': {
    ...common,
    id: 'listMessageBatches',
    summary: "List the batches of messages in Anthropic's words, newest first",
    query: messageBatchListQuerySchema,
    answer: {
      status: 200,
      description: 'A page of batches',
      content: json(messageBatchListSchema, {
        data: [ended],
        has_more: false,
        first_id: ended.id,
        last_id: ended.id,
      }),
    },
    errors: [400, 401, 403, 429, 500, 502],
  },
  'GET /messages/batches/:id': {
    ...common,
    id: 'getMessageBatch',
    summary: "Read a batch of messages in Anthropic's words",
    answer: { status: 200, description: 'The batch', content: json(messageBatchSchema, ended) },
    errors,
  },
  'GET /messages/batches/:id/results': {
    ...common,
    id: 'getMessageBatchResults',
    summary: "Read the results in Anthropic's form, once the batch has ended",
    answer: {
      status: 200,
      description: 'One result a line, model by model, in the order of the requests of each',
      content: { 'application/x-jsonl': { schema: messageBatchResultSchema, example: result } },
    },
    errors: [...errors, 402, 409].toSorted((a, b) => a - b),
  },
  'POST /messages/batches/:id/cancel': {
    ...common,
    id: 'cancelMessageBatch',
    summary: 'Cancel a batch of messages; finished requests keep their results',
    answer: { status: 200, description: 'The batch', content: json(messageBatchSchema, created) },
    errors: [...errors, 409],
  },
  'DELETE /messages/batches/:id': {
    ...common,
    id: 'deleteMessageBatch',
    summary: 'Delete a batch of messages that has ended',
    answer: {
      status: 200,
      description: 'What was deleted',
      content: json(messageBatchDeletionSchema, { id: created.id, type: 'message_batch_deleted' }),
    },
    errors: [...errors, 409],
  },
}
