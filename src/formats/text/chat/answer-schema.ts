import { z } from 'zod'
import { cacheCreationSchema, costDetailsSchema, shownDebugSchema } from '../shown-schema.ts'

/**
 * The reasons why an answer ends, the same for every provider; the provider's own word is in `native_finish_reason`.
 */
export const finishReasonSchema = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error'])

const logprob = z.looseObject({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullable(),
  top_logprobs: z.array(
    z.looseObject({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullable() }),
  ),
})

const logprobs = z.looseObject({
  content: z.array(logprob).nullable(),
  refusal: z.array(logprob).nullable(),
})

/** Tokens and charge of one chat answer. A count that the provider did not report is left out, never null. */
export const chatUsageSchema = z
  .looseObject({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z
      .looseObject({
        cached_tokens: z.int().optional(),
        cache_write_tokens: z.int().optional(),
        audio_tokens: z.int().optional(),
      })
      .optional(),
    completion_tokens_details: z
      .looseObject({ reasoning_tokens: z.int().optional(), audio_tokens: z.int().optional() })
      .optional(),
    cache_creation: cacheCreationSchema.optional(),
    cost: z.number().optional().describe('Credits charged; left out when no price is known.'),
    cost_details: costDetailsSchema.optional(),
    is_byok: z.boolean(),
  })
  .meta({ id: 'ChatUsage' })

const toolCall = z.looseObject({
  index: z.int(),
  id: z.string(),
  type: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
})

const message = z.looseObject({
  role: z.literal('assistant'),
  content: z.string().nullable(),
  refusal: z.string().nullable(),
  reasoning: z.string().nullish(),
  tool_calls: z.array(toolCall).optional(),
})

/** The body of a chat completion that is not streamed. */
export const chatAnswerSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    provider: z.string(),
    system_fingerprint: z.string().nullable(),
    service_tier: z.string().nullish(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message,
        finish_reason: finishReasonSchema.nullable(),
        native_finish_reason: z.string().nullable(),
        logprobs: logprobs.nullable(),
      }),
    ),
    usage: chatUsageSchema,
    debug: shownDebugSchema.optional(),
  })
  .meta({ id: 'ChatCompletion' })

/** One server-sent event of a streamed chat completion; the last has `usage`. */
export const chatChunkSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    provider: z.string(),
    system_fingerprint: z.string().optional(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        delta: z.looseObject({ role: z.string().optional(), content: z.string().nullish() }),
        finish_reason: finishReasonSchema.nullish(),
        native_finish_reason: z.string().nullish(),
      }),
    ),
    usage: chatUsageSchema.optional(),
    debug: shownDebugSchema.optional(),
    error: z
      .looseObject({ code: z.int(), message: z.string(), metadata: z.looseObject({}).optional() })
      .optional(),
  })
  .meta({ id: 'ChatCompletionChunk' })
