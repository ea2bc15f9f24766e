import { z } from 'zod'
import { policyListMax } from '../../core/limits/access.ts'
import { modelIdLengthMax } from '../../core/limits/http.ts'
import { rateMax } from '../../access/rate-rules.ts'

/** More credits than a column holds. */
const limitMax = 9_000_000_000
/** More keys than an organization can have. */
const offsetMax = 999_999_999

const amount = z.number().describe('In credits; 1 credit is 1 USD.')
const names = z.array(z.string().min(1).max(modelIdLengthMax)).min(1).max(policyListMax).nullable()
const rate = (most: number) => z.int().min(1).max(most).nullable()

/** What a key may use, in addition to the rules of its organization. A member that is absent or null is no rule. */
const policySchema = z
  .strictObject({
    allowed_models: names,
    ignored_models: names,
    allowed_providers: names,
    ignored_providers: names,
    enforce_zdr: z.boolean().nullable(),
    deny_data_collection: z.boolean().nullable(),
  })
  .partial()

/** How often a key may call, in calls or tokens a minute. A member that is absent or null is no limit. */
const ratesSchema = z
  .strictObject({
    requests_per_minute: rate(rateMax.requests_per_minute),
    batches_per_minute: rate(rateMax.batches_per_minute),
    tokens_per_minute: rate(rateMax.tokens_per_minute),
  })
  .partial()

const rules = {
  policy: policySchema.optional().describe('Replaces all rules of the key’s policy.'),
  rates: ratesSchema.optional().describe('Replaces all rates of the key.'),
}

/** Members of the contract that have one meaning here, because there are no credentials of callers and no members. */
const fixed = {
  include_byok_in_limit: z
    .literal(false)
    .nullable()
    .optional()
    .describe('Callers have no provider credentials of their own here, so nothing could be included.'),
}

const limits = {
  limit: amount
    .min(0)
    .max(limitMax)
    .nullable()
    .optional()
    .describe('The most that the key may spend in a window.'),
  limit_reset: z
    .enum(['daily', 'weekly', 'monthly'])
    .nullable()
    .optional()
    .describe('When spending is counted from zero again: at midnight UTC, on Monday, on the first.'),
}

/** The limit of a person's own calls. */
export const playgroundLimitSchema = z.strictObject(limits)

const settings = {
  ...limits,
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
  ...fixed,
}

const name = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), {
    error: 'must be whole Unicode characters without control characters',
  })

/** Body of `POST /keys`. */
export const createKeySchema = z
  .strictObject({
    name,
    ...settings,
    workspace_id: z.string().optional().describe('The workspace of the management key.'),
    creator_user_id: z.null().optional(),
    external: z.null().optional(),
    headrace: z
      .strictObject({
        kind: z.enum(['inference', 'management']).optional().describe('`inference` when absent.'),
        ...rules,
      })
      .optional(),
  })
  .meta({ id: 'CreateKey', examples: [{ name: 'ci', limit: 5, limit_reset: 'monthly' }] })

/** Body of `PATCH /keys/{hash}`. Absent members stay as they are. */
export const updateKeySchema = z
  .strictObject({
    name: name.optional(),
    disabled: z.boolean().optional(),
    ...settings,
    headrace: z.strictObject(rules).optional(),
  })
  .meta({ id: 'UpdateKey', examples: [{ disabled: true }] })

/** The longest time for which an old secret may stay valid beside its successor: 90 days. */
const overlapSecondsMax = 90 * 86_400

/** Body of `POST /keys/{hash}/rotate`. */
export const rotateKeySchema = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(overlapSecondsMax)
      .default(86_400)
      .describe('How long the secret before goes on working; 0 ends it, and all before it, now.'),
  })
  .meta({ id: 'RotateKey', examples: [{ overlap_seconds: 3600 }] })

/** Query of `GET /keys`. */
export const keyListQuerySchema = z.object({
  include_disabled: z.enum(['true', 'false']).optional(),
  offset: z.int().min(0).max(offsetMax).default(0).optional(),
  limit: z.int().min(1).max(100).default(100).optional(),
  workspace_id: z.string().optional(),
  kind: z
    .enum(['inference', 'management', 'all'])
    .optional()
    .describe('Which keys; `inference`, the keys that make calls, when absent.'),
})

/** A key, without its secret. */
export const keySchema = z
  .object({
    hash: z.string().describe('SHA-256 of the secret, 64 hex digits; another one after a rotation.'),
    name: z.string(),
    label: z.string().describe('The secret with its middle hidden.'),
    disabled: z.boolean(),
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
    created_at: z.string(),
    updated_at: z.string().nullable(),
    expires_at: z.string().nullable(),
    creator_user_id: z.string().nullable(),
    workspace_id: z.string(),
    external_user: z.string().nullable(),
    headrace: z.object({
      id: z.string().describe('The same for the life of the key, also after a rotation.'),
      kind: z.enum(['inference', 'management']),
      policy: policySchema,
      rates: ratesSchema,
    }),
  })
  .meta({ id: 'Key' })

/** Answer of `POST /keys` and of a rotation: the only one with the secret. */
export const createdKeySchema = z.object({ data: keySchema, key: z.string().describe('Shown this once.') })
