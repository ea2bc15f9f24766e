import { z } from 'zod'
import { apiTypes } from '../../execution/operations.ts'

const amount = z.number().describe('In credits; 1 credit is 1 USD.')

/** Answer of `GET /credits`. */
export const creditsSchema = z.object({ data: z.object({ total_credits: amount, total_usage: amount }) })

/** Answer of `GET /key`. */
export const currentKeySchema = z.object({
  data: z
    .looseObject({
      label: z.string(),
      is_management_key: z.boolean(),
      is_provisioning_key: z.boolean(),
      is_free_tier: z.boolean(),
      limit: amount.nullable(),
      limit_remaining: amount.nullable(),
      limit_reset: z.string().nullable(),
      include_byok_in_limit: z.boolean(),
      usage: amount,
      usage_daily: amount,
      usage_weekly: amount,
      usage_monthly: amount,
      byok_usage: amount,
      byok_usage_daily: amount,
      byok_usage_weekly: amount,
      byok_usage_monthly: amount,
      allowed_data_regions: z.array(z.string()),
      free_model_daily_requests: z.object({ limit: z.number(), remaining: z.number(), used: z.number() }),
      creator_user_id: z.string().nullable(),
      organization_id: z.string().nullable(),
      workspace_id: z.string().nullable(),
      expires_at: z.string().nullable().optional(),
      rate_limit: z.object({ requests: z.int(), interval: z.string(), note: z.string() }),
    })
    .meta({ id: 'CurrentKey' }),
})

/** Answer of `GET /generation`. */
export const generationSchema = z.object({
  data: z
    .looseObject({
      id: z.string(),
      api_type: z.enum(apiTypes).nullable(),
      model: z.string(),
      provider_name: z.string().nullable(),
      created_at: z.string(),
      total_cost: amount,
      usage: amount,
      is_byok: z.boolean(),
      finish_reason: z.string().nullable(),
      native_finish_reason: z.string().nullable(),
      streamed: z.boolean().nullable(),
      cancelled: z.boolean().nullable(),
      latency: z.number().nullable(),
      generation_time: z.number().nullable(),
      tokens_prompt: z.int().nullable(),
      tokens_completion: z.int().nullable(),
    })
    .meta({ id: 'Generation' }),
})

/** Characters of a comment, by the contract. */
const commentLengthMax = 1_000

/** Body of `POST /generation/feedback`. */
export const feedbackSchema = z.strictObject({
  generation_id: z.string().min(1).max(200),
  category: z.enum([
    'latency',
    'incoherence',
    'incorrect_response',
    'formatting',
    'billing',
    'api_error',
    'other',
  ]),
  comment: z.string().max(commentLengthMax).nullable().optional(),
})
