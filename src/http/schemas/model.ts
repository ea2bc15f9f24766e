import { z } from 'zod'

const surcharge = z.object({
  percent: z.number().nullable().describe('Of what the audio costs.'),
  per_second: z
    .string()
    .nullable()
    .describe('USD; null here and in `percent` where nobody tells how much it is.'),
  minimum_seconds: z.number().optional().describe('What a call that asks for it is billed for at least.'),
})

/** Facts about audio prices that the contract has no member for. */
const rules = z
  .object({
    pricing_rules: z.looseObject({
      prompt_unit: z.literal('utf8_byte').optional().describe('What `pricing.prompt` is the price of.'),
      minimum_seconds: z.number().optional(),
      round_to_seconds: z.number().optional(),
      per_channel: z.union([z.literal(true), z.literal('when_asked')]).optional(),
      surcharges: z
        .object({
          diarize: surcharge.optional(),
          keyterms: surcharge.optional(),
          entities: surcharge.optional(),
          transcript_edit: surcharge.optional(),
          speaker_roles: surcharge.optional(),
        })
        .optional()
        .describe('What calls cost besides that ask for it.'),
    }),
  })
  .optional()

/** One model of the catalog. Prices are strings of USD per token, or per the unit the member names. */
export const modelSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('model'),
    owned_by: z.string().describe('The author of the model.'),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.number(),
    description: z.string().optional(),
    context_length: z.int().nullable(),
    architecture: z.looseObject({
      modality: z.string().nullable(),
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
    }),
    pricing: z.looseObject({ prompt: z.string(), completion: z.string() }),
    top_provider: z.looseObject({ is_moderated: z.boolean() }),
    per_request_limits: z.unknown().nullable(),
    supported_parameters: z.array(z.string()),
    default_parameters: z.unknown().nullable(),
    supported_voices: z.array(z.string()).nullable(),
    links: z.looseObject({ details: z.string() }),
    expiration_date: z
      .string()
      .optional()
      .describe('The day from which nobody serves it, `YYYY-MM-DD`, where that is known.'),
    headrace: rules,
  })
  .meta({ id: 'Model' })

/** A page of the catalog. */
export const modelListSchema = z.object({
  data: z.array(modelSchema),
  total_count: z.int(),
  links: z.object({ next: z.string().nullable() }),
})

/** Query of the model lists; numbers and flags travel as text. */
export const modelListQuerySchema = z.object({
  offset: z.string().optional(),
  limit: z.string().optional(),
  q: z.string().optional().describe('Part of an id or a name.'),
  output_modalities: z.string().optional().describe('Comma-separated; `all` for every kind of model.'),
  input_modalities: z.string().optional(),
  supported_parameters: z.string().optional().describe('Comma-separated; a model needs all of them.'),
  model_authors: z.string().optional().describe('Comma-separated beginnings of ids.'),
  providers: z.string().optional().describe('Comma-separated slugs.'),
  context: z.string().optional().describe('Least length of the context in tokens.'),
  min_price: z.string().optional().describe('USD for a million tokens of a prompt.'),
  max_price: z.string().optional(),
  min_output_price: z.string().optional(),
  max_output_price: z.string().optional(),
  min_age_days: z.string().optional(),
  max_age_days: z.string().optional(),
  zdr: z.enum(['true', 'false']).optional(),
  region: z.enum(['eu', 'us']).optional(),
  sort: z
    .string()
    .optional()
    .describe(
      '`newest`, `pricing-low-to-high`, `pricing-high-to-low` or `context-high-to-low`, among others.',
    ),
})

const percentiles = z.object({ p50: z.number(), p75: z.number(), p90: z.number(), p99: z.number() })
const uptime = z.number().nullable()

/** One model at one provider. */
export const endpointSchema = z
  .looseObject({
    name: z.string(),
    model_id: z.string(),
    model_name: z.string(),
    context_length: z.int().describe('Tokens; 0 where nobody says.'),
    pricing: z.looseObject({ prompt: z.string(), completion: z.string() }),
    provider_name: z.string(),
    tag: z.string().describe('What `provider.only` calls it.'),
    quantization: z.string().nullable(),
    max_completion_tokens: z.int().nullable(),
    max_prompt_tokens: z.int().nullable(),
    supported_parameters: z.array(z.string()),
    supports_implicit_caching: z.boolean(),
    supports_tool_choice: z.object({
      auto: z.boolean(),
      function: z.boolean(),
      none: z.boolean(),
      required: z.boolean(),
    }),
    latency_last_30m: percentiles
      .nullable()
      .describe('Milliseconds to the first output, of calls that this process made.'),
    throughput_last_30m: percentiles.nullable().describe('Output tokens a second.'),
    uptime_last_5m: uptime.describe('Percent of the calls of this process that were answered.'),
    uptime_last_30m: uptime,
    uptime_last_1d: uptime,
    headrace: rules,
  })
  .meta({ id: 'Endpoint' })

/** A model with everything that serves it. */
export const modelEndpointsSchema = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    created: z.number(),
    description: z.string(),
    architecture: z.looseObject({
      modality: z.string().nullable(),
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
      instruct_type: z.string().nullable(),
    }),
    endpoints: z.array(endpointSchema),
  })
  .meta({ id: 'ModelEndpoints' })

/** One configured provider. */
export const providerSchema = z
  .looseObject({ name: z.string(), slug: z.string(), privacy_policy_url: z.string().nullable() })
  .meta({ id: 'Provider' })
