import { z } from 'zod'
import { customIdLengthMax } from '../../core/limits/batches.ts'

const count = z.int().min(0)
const time = z.string().describe('RFC 3339.')

/** Body of `POST /messages/batches`; read as a stream, so this schema describes it and does not validate it. */
export const messageBatchRequestSchema = z
  .object({
    requests: z
      .array(
        z.object({
          custom_id: z.string().min(1).max(customIdLengthMax).describe('Yours, unique in the batch.'),
          params: z.looseObject({ model: z.string() }).describe('A body of `POST /messages`.'),
        }),
      )
      .min(1)
      .describe('Of at most 16 models.'),
  })
  .meta({ id: 'CreateMessageBatch' })

/** A batch in Anthropic's words. */
export const messageBatchSchema = z
  .object({
    id: z.string(),
    type: z.literal('message_batch'),
    processing_status: z.enum(['in_progress', 'canceling', 'ended']),
    request_counts: z
      .object({ processing: count, succeeded: count, errored: count, canceled: count, expired: count })
      .describe('All are `processing` until the whole batch has ended.'),
    ended_at: time.nullable(),
    created_at: time,
    expires_at: time,
    archived_at: z.null(),
    cancel_initiated_at: time.nullable(),
    results_url: z.string().nullable().describe('Null until the batch has ended.'),
  })
  .meta({ id: 'MessageBatch' })

/** Query of `GET /messages/batches`. */
export const messageBatchListQuerySchema = z.object({
  limit: z.int().min(1).max(1_000).default(20).optional(),
  after_id: z.string().optional().describe('`last_id` of the page before.'),
  before_id: z.string().optional().describe('`first_id` of the page behind.'),
})

/** A page of message batches. */
export const messageBatchListSchema = z.object({
  data: z.array(messageBatchSchema),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
})

/** One line of a message batch's results. */
export const messageBatchResultSchema = z
  .object({
    custom_id: z.string(),
    result: z.looseObject({ type: z.enum(['succeeded', 'errored', 'canceled', 'expired']) }),
  })
  .meta({ id: 'MessageBatchResult' })

/** Answer of `DELETE /messages/batches/{id}`. */
export const messageBatchDeletionSchema = z.object({
  id: z.string(),
  type: z.literal('message_batch_deleted'),
})
