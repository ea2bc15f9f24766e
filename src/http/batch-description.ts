import { z } from 'zod'
import * as examples from './api-examples.ts'
import { json, type Described } from './described.ts'
import {
  batchDeletionSchema,
  batchEstimateSchema,
  batchListQuerySchema,
  batchListSchema,
  batchRequestSchema,
  batchResultSchema,
  batchSchema,
  deliveryListSchema,
} from './schemas/batch.ts'

const replayedHeader = {
  name: 'Idempotent-Replayed',
  description: '"true" when the batch was created by an earlier request with the same key.',
}
const batchCreationErrors = [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502]
const batchErrors = [401, 403, 404, 429, 500, 502]
/** The answers of what creates a batch. */
const batchCreated = {
  answer: {
    status: 202,
    description: 'The batch, stored and queued',
    headers: [replayedHeader],
    content: json(batchSchema, examples.batchExample),
  },
  others: [
    {
      status: 200,
      description: 'The estimate, with `?dry_run=true`; nothing is stored',
      content: json(batchEstimateSchema, examples.batchEstimateExample),
    },
  ],
}

/** The contract's batches, and the gateway's own operations on them, in the API description. */
export const batchDescription: Readonly<Record<string, Described>> = {
  'POST /batches': {
    id: 'createBatch',
    tag: 'Batches',
    summary: 'Create a batch of requests that runs asynchronously',
    description:
      'Up to 200,000,000 bytes after decompression, members in any order. `?dry_run=true` makes the same checks: it answers 200 with the estimate when the batch would be accepted, else the same refusal, and stores nothing.',
    access: 'inference',
    query: z.object({ dry_run: z.boolean().optional() }),
    headers: [
      {
        name: 'Idempotency-Key',
        description: 'The same key with the same body answers with the same batch for 30 days.',
      },
      { name: 'Content-Encoding', description: 'gzip, zstd, br or deflate.' },
    ],
    body: json(batchRequestSchema, {
      endpoint: '/v1/chat/completions',
      model: 'openai/gpt-4o-mini',
      requests: [{ custom_id: 'first', body: { messages: [{ role: 'user', content: 'Say hello' }] } }],
    }),
    ...batchCreated,
    errors: batchCreationErrors,
  },
  'GET /batches': {
    id: 'listBatches',
    tag: 'Batches',
    summary: 'List batches, newest first',
    access: 'inference',
    query: batchListQuerySchema,
    answer: {
      status: 200,
      description: 'A page of batches without results',
      content: json(batchListSchema, examples.batchListExample),
    },
    errors: [400, 401, 403, 429, 500, 502],
  },
  'GET /batches/:id': {
    id: 'getBatch',
    tag: 'Batches',
    summary: 'Read a batch; with its results once it has ended',
    access: 'inference',
    answer: { status: 200, description: 'The batch', content: json(batchSchema, examples.endedBatchExample) },
    others: [
      {
        status: 402,
        description: 'The batch without its results, while what it cost is owed',
        content: json(batchSchema, examples.unpaidBatchExample),
      },
    ],
    errors: batchErrors,
  },
  'GET /batches/:id/results': {
    id: 'getBatchResults',
    tag: 'Batches',
    summary: 'Read results as lines, also while the batch runs',
    description:
      'NDJSON in the order in which results became durable; continue with the `cursor` of the last line.',
    access: 'inference',
    query: z.object({ cursor: z.string().optional().describe('`cursor` of the last line that was read.') }),
    answer: {
      status: 200,
      description: 'One result a line',
      content: {
        'application/x-ndjson': { schema: batchResultSchema, example: examples.batchResultExample },
      },
    },
    errors: [...batchErrors, 400],
  },
  'GET /batches/:id/events': {
    id: 'watchBatch',
    tag: 'Batches',
    summary: 'Watch a batch: its progress as server-sent events',
    description:
      'Events `status`, `progress` and `end`, each with the whole batch (without results) as its data; the stream closes after `end`. States that come and go between two events are left out. While nothing changes, a comment comes every 10 s. A stream lasts an hour at most.',
    access: 'inference',
    headers: [
      {
        name: 'Last-Event-ID',
        description:
          'The `id` of the last event that was read. The batch as it is now follows, unless it is still in that state.',
      },
    ],
    answer: {
      status: 200,
      description: 'The events. The schema is that of their data.',
      content: { 'text/event-stream': { schema: batchSchema, example: examples.batchEventExample } },
    },
    others: [{ status: 204, description: '`Last-Event-ID` names the end: nothing follows', content: {} }],
    errors: batchErrors,
  },
  'POST /batches/:id/cancel': {
    id: 'cancelBatch',
    tag: 'Batches',
    summary: 'Cancel a batch; finished items keep their results',
    access: 'inference',
    answer: {
      status: 200,
      description: 'The batch',
      content: json(batchSchema, examples.cancelledBatchExample),
    },
    errors: [...batchErrors, 409],
  },
  'GET /batches/:id/deliveries': {
    id: 'listBatchDeliveries',
    tag: 'Batches',
    summary: 'How the end of a batch was told to its `callback_url`',
    access: 'inference',
    answer: {
      status: 200,
      description: 'The event with its tries; empty before the end, and for a batch without `callback_url`',
      content: json(deliveryListSchema, examples.deliveryListExample),
    },
    errors: batchErrors,
  },
  'POST /batches/:id/redeliver': {
    id: 'redeliverBatch',
    tag: 'Batches',
    summary: 'Tell the end of a batch again',
    description: 'With the same id and the same bytes, and a day of tries before it is given up.',
    access: 'inference',
    answer: {
      status: 202,
      description: 'The event, to be told now',
      content: json(deliveryListSchema, examples.deliveryListExample),
    },
    errors: [...batchErrors, 409],
  },
  'POST /batches/:id/retry': {
    id: 'retryBatch',
    tag: 'Batches',
    summary: 'Create a batch of the items that failed',
    description:
      'Of an ended batch: the items whose result is an error, with their `custom_id`s, and endpoint, model, provider, lane, `max_cost` and `callback_url` of the first batch. Without a body. `?dry_run=true` answers 200 with the estimate and stores nothing.',
    access: 'inference',
    query: z.object({ dry_run: z.boolean().optional() }),
    headers: [
      {
        name: 'Idempotency-Key',
        description: 'The same key for the same batch answers with the same new batch for 30 days.',
      },
    ],
    ...batchCreated,
    errors: batchCreationErrors,
  },
  'DELETE /batches/:id': {
    id: 'deleteBatch',
    tag: 'Batches',
    summary: 'Delete a batch that has ended',
    access: 'inference',
    answer: {
      status: 200,
      description: 'What was deleted',
      content: json(batchDeletionSchema, examples.batchDeletionExample),
    },
    errors: [...batchErrors, 409],
  },
}
