import { z } from 'zod'
import { laneChoices, laneNames } from '../../canonical/batch.ts'
import { customIdLengthMax } from '../../core/limits/batches.ts'

const count = z.int().min(0)
const details = z.record(z.string(), z.int().nullable())

const endpoint = z
  .enum(['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings'])
  .describe('The one inference endpoint that all items go to.')

/** Body of `POST /batches`; read as a stream, so this schema describes it and does not validate it. */
export const batchRequestSchema = z
  .object({
    endpoint,
    model: z.string().min(1).describe('Applies to every item; an item may repeat it but not change it.'),
    completion_window: z.literal('24h').default('24h'),
    provider: z
      .strictObject({ only: z.array(z.string()).nullish().describe('Provider slugs the batch may use.') })
      .nullish(),
    headrace: z
      .object({
        lane: z
          .enum(laneChoices)
          .nullish()
          .describe('How the items reach a provider; `auto`, or nothing, takes the cheapest way there is.'),
        max_cost: z.number().min(0).optional().describe('The most the batch may cost, in credits.'),
      })
      .optional(),
    callback_url: z
      .url()
      .nullish()
      .describe(
        'A public https:// address to which the end is posted: `batch.completed`, `batch.failed`, `batch.cancelled` or `batch.expired`, signed with the secret of the organization, at least once, for a day.',
      ),
    requests: z
      .array(
        z.object({
          custom_id: z.string().min(1).max(customIdLengthMax).describe('Yours, unique in the batch.'),
          body: z.looseObject({}).describe('A request in the format of `endpoint`.'),
        }),
      )
      .min(1),
  })
  .meta({ id: 'CreateBatch' })

/** One item's answer; exactly one of `response` and `error` is not null. */
export const batchResultSchema = z
  .object({
    id: z.string(),
    custom_id: z.string(),
    response: z
      .object({ status_code: z.int(), request_id: z.string().nullable(), body: z.looseObject({}) })
      .nullable(),
    error: z
      .object({
        type: z.string(),
        message: z.string(),
        param: z.string().nullable(),
        error_type: z.string().optional(),
      })
      .nullable(),
    cursor: z.string().optional().describe('Of a line of `/results`: where reading goes on.'),
  })
  .meta({ id: 'BatchResult' })

const usage = z
  .object({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    completion_tokens_details: details.nullish(),
    prompt_tokens_details: details.nullish(),
    server_tool_use: details.nullish(),
    cost: z.number().nullish(),
    cost_details: z.record(z.string(), z.number().nullable()).optional(),
    is_byok: z.boolean().optional(),
    service_tier: z.string().nullish(),
    cache_creation: details.optional(),
    speed: z.string().nullish(),
  })
  .meta({ id: 'BatchUsage' })

const waitingCause = {
  type: z.string().describe('Such as `payment_required`, `provider_failed`, `upstream_rate_limited`.'),
  message: z.string(),
  items: count.optional().describe('How many items wait.'),
  since: z.int().optional().describe('Since when the first of them waits, in Unix seconds.'),
  next_try_at: z.int().optional().describe('When the first of them is tried next, in Unix seconds.'),
}

/** A batch as every batch operation shows it. Times are Unix seconds. */
export const batchSchema = z
  .object({
    id: z.string(),
    object: z.literal('batch'),
    endpoint,
    model: z.string(),
    completion_window: z.literal('24h'),
    status: z.enum([
      'validating',
      'in_progress',
      'finalizing',
      'completed',
      'failed',
      'expired',
      'cancelling',
      'cancelled',
    ]),
    created_at: z.int(),
    finalized_at: z.int().nullable(),
    expires_at: z.int().nullable(),
    request_counts: z.object({ total: count, completed: count, failed: count }),
    usage: usage.nullable(),
    results: z.array(batchResultSchema).nullable().describe('In input order, once the batch has ended.'),
    error: z
      .object({
        code: z.int().optional().describe('The status, when it is 402: results wait for credits.'),
        message: z.string(),
      })
      .nullable(),
    provider: z.string().nullable(),
    headrace_metadata: z
      .looseObject({
        lane: z.enum(laneNames).describe('How the items reach a provider.'),
        models: z
          .array(z.object({ model: z.string(), items: count, lane: z.enum(laneNames) }))
          .optional()
          .describe(
            'The models of a batch of several, in the order of its results; `model` is the first of them.',
          ),
        moved: z
          .array(
            z.object({
              from: z.enum(laneNames),
              to: z.enum(laneNames),
              reason: z.string().describe('`deadline`, or the type of the error in the first lane.'),
              items: count,
            }),
          )
          .optional()
          .describe('How many items ended in another lane, at its price, and why.'),
        jobs: z
          .array(
            z.object({
              state: z.enum(['preparing', 'running', 'collecting', 'ended']),
              items: count,
              ended_as: z
                .string()
                .optional()
                .describe(
                  '`completed`, `failed`, `expired`, `cancelled`, `refused`, `abandoned`, `unneeded`.',
                ),
              stray_lines: count.optional().describe('Lines of its results that answer no item.'),
              left: count.optional().describe('Jobs and files at the provider that are not removed yet.'),
            }),
          )
          .optional()
          .describe("The jobs of the provider's own batch service, in the lane `native`."),
        dropped: z.array(z.string()).optional().describe('Members that were ignored.'),
        waiting: z
          .object({ ...waitingCause, causes: z.array(z.object(waitingCause)).optional() })
          .optional()
          .describe(
            'What items wait for: `type` and `message` of most of them, `items`, `since` and `next_try_at` of all, and each cause.',
          ),
      })
      .optional(),
  })
  .meta({ id: 'Batch' })

/** What `?dry_run=true` answers: nothing was stored. */
export const batchEstimateSchema = z
  .looseObject({
    object: z.literal('batch.estimate'),
    endpoint,
    model: z.string(),
    lane: z.enum(laneNames),
    provider: z.string().nullable(),
    total: count,
    estimate: z.number().describe('In credits; what accepting the batch would set aside.'),
    worst_case: z.number().describe('In credits; the most it can cost.'),
    lanes: z
      .array(z.object({ lane: z.enum(laneNames), estimate: z.number(), worst_case: z.number() }))
      .describe('What each lane that the batch could have would cost, in credits; its own first.'),
    available: z.number().nullable().describe('In credits; null on a tracked account.'),
  })
  .meta({ id: 'BatchEstimate' })

/** Answer of `GET /batches/{id}/deliveries` and of `POST /batches/{id}/redeliver`. */
export const deliveryListSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        id: z.string().describe('What `X-OpenRouter-Idempotency-Key` says, the same at every try.'),
        event: z.string(),
        state: z.enum(['waiting', 'delivered', 'failed']),
        created_at: z.int(),
        next_try_at: z.int().nullable(),
        ended_at: z.int().nullable(),
        tries: count,
        log: z
          .array(
            z.object({
              try: z.int(),
              at: z.int(),
              duration_ms: count,
              status: z.int().nullable().describe('The status of the receiver; null when it gave none.'),
              problem: z.string().nullable().describe('Null when the receiver took the event.'),
            }),
          )
          .describe('The last tries, the oldest first.'),
      }),
    ),
  })
  .meta({ id: 'DeliveryList' })

/** Query of `GET /batches`. */
export const batchListQuerySchema = z.object({
  limit: z.int().min(1).max(100).default(20).optional(),
  after: z.string().optional().describe('`last_id` of the page before.'),
  status: z.array(z.string()).optional(),
  created_after: z.string().optional().describe('Unix seconds or an ISO date.'),
  created_before: z.string().optional(),
})

/** A page of batches. */
export const batchListSchema = z.object({
  object: z.literal('list'),
  data: z.array(batchSchema),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})

/** Answer of `DELETE /batches/{id}`. */
export const batchDeletionSchema = z.looseObject({
  id: z.string(),
  object: z.literal('batch'),
  deletion: z.looseObject({}),
})
