import { z } from 'zod'
import { outcomes } from '../../insight/log/log-row.ts'
import { bucketNames } from '../../insight/spend/time-buckets.ts'

const nanocredits = z
  .string()
  .regex(/^-?\d+$/)
  .describe('Whole nanocredits; 1 credit is 10^9.')
const time = z.iso.datetime()
const timeQuery = z.string().optional().describe('ISO 8601, or Unix milliseconds.')
const list = (description: string) =>
  z.string().optional().describe(`${description} Several: with commas, or the parameter again.`)
const page = (limit: number, usual: number) => ({
  limit: z.int().min(1).max(limit).optional().describe(`${usual} when absent.`),
  cursor: z.string().optional().describe('The `next_cursor` of the answer before, with the same filters.'),
})
const span = {
  from: timeQuery.describe('The first time that counts: ISO 8601, or Unix milliseconds.'),
  to: timeQuery.describe('The first time after it that does not; now when absent.'),
}
const paged = <T extends z.ZodType>(row: T) =>
  z.object({
    data: z.array(row),
    next_cursor: z
      .string()
      .nullable()
      .describe(
        'Where to go on; null at the end. Also set where `data` is short: then only the time of one search was over.',
      ),
    searched_to: time.nullable().describe('Everything newer was looked at.'),
  })

const requestFilters = {
  ...span,
  outcome: list(`Of ${outcomes.join(', ')}.`),
  status: list('HTTP statuses, or classes such as 5xx.'),
  model: list('Ids of models.'),
  provider: list('Slugs of providers, or ids of deployments.'),
  key: list('Ids or hashes of keys.'),
  user: z.string().optional().describe('The `user` of calls.'),
  session: z.string().optional().describe('The session of calls.'),
  error_type: list('Types of errors, as docs/errors.md lists them.'),
  operation: list('Such as chat_completions.'),
  batch: z.string().optional().describe('A batch, whose items are calls.'),
}

/** Query of `GET /headrace/requests`. */
export const requestsQuerySchema = z.object({
  ...requestFilters,
  id: z
    .string()
    .optional()
    .describe('One request (req_…) or generation (gen-…); the other filters do not count.'),
  order: z.enum(['desc', 'asc']).optional().describe('`desc`, the newest first, when absent.'),
  ...page(200, 50),
})

/** Query of `GET /headrace/requests/export`. */
export const requestsExportQuerySchema = z.object({
  ...requestFilters,
  format: z.enum(['csv', 'ndjson']).optional(),
})

const callMembers = {
  id: z.string(),
  generation_id: z.string().nullable(),
  created_at: time,
  outcome: z.enum(['answered', 'refused', 'failed', 'cancelled']),
  status: z.int(),
  error_type: z.string().nullable(),
  operation: z.string().nullable(),
  model: z.string().nullable(),
  provider: z.string().nullable().describe('Slug of the provider that was asked last.'),
  provider_name: z.string().nullable(),
  deployment: z.string().nullable(),
  key_id: z.string().nullable(),
  key_name: z.string().nullable(),
  user: z.string().nullable(),
  session_id: z.string().nullable(),
  batch_id: z.string().nullable(),
  streamed: z.boolean(),
  attempts: z.int(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  first_byte_ms: z.int().nullable(),
  total_ms: z.int(),
  cost_nanocredits: nanocredits.nullable(),
  is_estimated: z.boolean(),
}
const callSchema = z.object(callMembers).meta({ id: 'LoggedRequest' })

const postingSchema = z
  .object({
    transaction_id: z.string(),
    kind: z.string(),
    account: z.string(),
    amount_nanocredits: nanocredits,
    created_at: time,
    reference: z.string().nullable(),
  })
  .meta({ id: 'Posting' })

/** Answer of `GET /headrace/requests`. */
export const requestsSchema = paged(callSchema)

/** Query and answer of `GET /headrace/requests/anonymous`. */
export const anonymousQuerySchema = z.object({ ...span, limit: z.int().min(1).max(1_000).optional() })
export const anonymousSchema = z.object({
  data: z.array(z.object({ minute: time, client_address: z.string(), requests: z.int() })),
})

/** Answer of `GET /headrace/requests/{id}`. */
export const requestSchema = z.object({
  data: z
    .object({
      ...callMembers,
      client_address: z.string().nullable(),
      hold: z.object({ amount_nanocredits: nanocredits }).nullable().describe('Set aside before the call.'),
      marks: z.array(z.object({ event: z.string(), attempt: z.int().optional(), ms: z.int() })),
      attempts: z.array(
        z.object({
          number: z.int(),
          deployment: z.string(),
          provider_name: z.string(),
          model: z.string(),
          outcome: z.enum(['answered', 'failed', 'cancelled']),
          status: z.int().nullable(),
          error_type: z.string().nullable(),
          started_ms: z.int(),
          headers_ms: z.int().nullable(),
          first_token_ms: z.int().nullable(),
          ended_ms: z.int().nullable(),
          message: z.string().nullable().describe('The provider’s own words.'),
        }),
      ),
      excluded: z.array(
        z.object({ provider: z.string(), model: z.string(), step: z.string(), reason: z.string() }),
      ),
      finish_reason: z.string().nullable(),
      usage: z
        .object({
          prompt_tokens: z.int(),
          completion_tokens: z.int(),
          cached_tokens: z.int(),
          reasoning_tokens: z.int(),
          audio_seconds: z.number(),
          characters: z.int(),
        })
        .nullable(),
      postings: z.array(postingSchema).describe('They sum to zero; none where nothing was charged.'),
      has_content: z.boolean(),
    })
    .meta({ id: 'LoggedRequestStory' }),
})

/** Query of `GET /headrace/spend`. */
export const spendQuerySchema = z.object({
  ...span,
  bucket: z
    .enum(bucketNames)
    .optional()
    .describe('`hour` up to 3 days, else `day`, when absent; at most 1,000.'),
  zone: z.string().optional().describe('The time zone of days, weeks and months; UTC when absent.'),
  by: z.enum(['model', 'key', 'provider', 'user', 'none']).optional().describe('`model` when absent.'),
  top: z.int().min(1).max(20).optional().describe('Groups shown by themselves; 8 when absent.'),
  model: list('Ids of models.'),
  key: list('Ids or hashes of keys.'),
  provider: list('Slugs of providers.'),
})

const figures = {
  cost_nanocredits: nanocredits,
  charged_requests: z.int().describe('Calls that the ledger has a row of.'),
  requests: z.int().describe('Calls that ended, however they did.'),
  errors: z.int().describe('Those that failed or were refused.'),
  p50_ms: z.int().nullable(),
  p95_ms: z.int().nullable(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
}
const overTime = z.object({
  cost_nanocredits: z.array(nanocredits),
  requests: z.array(z.int()),
  errors: z.array(z.int()),
  p50_ms: z.array(z.int().nullable()),
  p95_ms: z.array(z.int().nullable()),
})

/** Answer of `GET /headrace/spend`. */
export const spendSchema = z.object({
  data: z
    .object({
      from: time,
      to: time,
      bucket: z.enum(bucketNames),
      zone: z.string(),
      by: z.string(),
      buckets: z.array(time).describe('When each begins.'),
      total: z.object(figures),
      before: z.object(figures).describe('Of the span of the same length before this one.'),
      over_time: overTime,
      groups: z.array(
        z.object({
          id: z.string().nullable(),
          name: z.string(),
          is_other: z.boolean(),
          ...figures,
          requests: z.int().describe('Calls that ended; by user, those that were charged.'),
          errors: z.int().nullable().describe('Null by user.'),
          over_time: overTime.extend({ errors: z.array(z.int().nullable()) }),
        }),
      ),
      warnings: z.array(z.string()),
    })
    .meta({ id: 'Spend' }),
})

/** Query and answer of `GET /headrace/spend/ledger`. */
export const spanQuerySchema = z.object(span)
export const spendLedgerSchema = z.object({
  data: z.object({
    from: time,
    to: time,
    rollups_nanocredits: nanocredits,
    ledger_nanocredits: nanocredits,
    equals: z.boolean(),
  }),
})

/** Answer of `GET /headrace/ledger/balance`. */
export const balanceSchema = z.object({
  data: z.object({
    account_mode: z.enum(['prepaid', 'tracked']),
    granted_nanocredits: nanocredits,
    captured_nanocredits: nanocredits,
    held_nanocredits: nanocredits.nullable(),
    balance_nanocredits: nanocredits.nullable(),
  }),
})

const postingFilters = { ...span, kind: list('Of grant, capture, refund, correction.') }

/** Queries and answer of `GET /headrace/ledger/postings` and its export. */
export const postingsQuerySchema = z.object({
  ...postingFilters,
  transaction: z.string().optional().describe('Both sides of one generation’s transactions.'),
  ...page(200, 50),
})
export const postingsExportQuerySchema = z.object({
  ...postingFilters,
  format: z.enum(['csv', 'ndjson']).optional(),
})
export const postingsSchema = paged(postingSchema)

const healthState = z.enum(['healthy', 'failing', 'cooling_down', 'out'])

/** Answer of `GET /headrace/deployments`. */
export const deploymentsSchema = z.object({
  data: z.array(
    z
      .object({
        id: z.string(),
        provider: z.string(),
        provider_name: z.string(),
        state: z.enum([...healthState.options, 'unknown']),
        since: time.nullable(),
        next_try_at: time.nullable(),
        last_error: z
          .object({ type: z.string(), status: z.int(), message: z.string().nullable(), at: time })
          .nullable(),
        models: z.int(),
        running: z.int(),
        waiting: z.int(),
        limit: z.int().nullable().describe('Calls at once that it is believed to take; null before any.'),
        last_30m: z
          .object({ requests: z.int(), errors: z.int(), p50_ms: z.int().nullable() })
          .describe('Of the provider, for this organization.'),
        next: z.string().nullable().describe('What to do; null where nothing is.'),
        processes: z.array(z.object({ id: z.string(), state: healthState, at: time })),
      })
      .meta({ id: 'DeploymentHealth' }),
  ),
})

/** Answer of `GET /headrace/system`. */
export const systemSchema = z.object({
  data: z
    .object({
      version: z.string(),
      database: z.string(),
      schema_version: z.int(),
      now: time,
      is_sandbox: z.boolean(),
      processes: z.array(
        z.object({
          id: z.string(),
          host: z.string(),
          pid: z.int(),
          version: z.string(),
          role: z.string(),
          started_at: time,
          seen_at: time,
          requests_running: z.int(),
          storage_queue: z.int(),
          captures_queued: z.int(),
          log_queued: z.int(),
          log_dropped: z.int(),
        }),
      ),
      queues: z.object({
        batches_open: z.int(),
        items_waiting: z.int(),
        oldest_waiting_seconds: z.int().nullable(),
        deliveries_waiting: z.int(),
        oldest_delivery_seconds: z.int().nullable(),
      }),
      request_log: z.object({ is_on: z.boolean(), days: z.number(), oldest_at: time.nullable() }),
    })
    .meta({ id: 'System' }),
})

/** Answer of `GET /headrace/doctor`. */
export const doctorSchema = z.object({
  data: z.object({
    checked_at: time,
    problems: z.int(),
    warnings: z.int(),
    findings: z.array(
      z.object({
        level: z.enum(['ok', 'warning', 'problem']),
        subject: z.string(),
        message: z.string(),
        next: z.string().nullable(),
      }),
    ),
  }),
})

/** Query and answer of `GET /activity`. */
export const activityQuerySchema = z.object({
  date: z.string().optional().describe('One of the last 30 completed days (UTC); all of them when absent.'),
  api_key_hash: z.string().optional(),
  user_id: z.string().optional().describe('A member of the organization, whose keys count.'),
  workspace_id: z.string().optional(),
  group_by: z.enum(['workspace']).optional(),
})
export const activitySchema = z.object({
  data: z.array(
    z
      .object({
        date: z.string(),
        model: z.string(),
        model_permaslug: z.string(),
        endpoint_id: z.string(),
        provider_name: z.string(),
        usage: z.number().describe('In credits; 1 credit is 1 USD.'),
        byok_usage_inference: z.number(),
        requests: z.int(),
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        reasoning_tokens: z.int(),
        workspace_id: z.string().optional(),
      })
      .meta({ id: 'ActivityItem' }),
  ),
})
