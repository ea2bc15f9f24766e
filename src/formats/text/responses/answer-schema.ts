import { z } from 'zod'
import { cacheCreationSchema, shownDebugSchema } from '../shown-schema.ts'

const usage = z.looseObject({
  input_tokens: z.int(),
  input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
  cache_creation: cacheCreationSchema.optional(),
  cost: z.number().optional(),
  is_byok: z.boolean(),
})

/** The body of a response that is not streamed. */
export const responsesAnswerSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    completed_at: z.int().nullable(),
    status: z.enum(['completed', 'incomplete', 'failed', 'in_progress']),
    model: z.string(),
    provider: z.string(),
    output: z.array(z.looseObject({ type: z.string(), id: z.string() })),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
    instructions: z.unknown(),
    metadata: z.unknown(),
    parallel_tool_calls: z.boolean(),
    tool_choice: z.unknown(),
    tools: z.array(z.unknown()),
    temperature: z.number().nullable(),
    top_p: z.number().nullable(),
    presence_penalty: z.number().nullable(),
    frequency_penalty: z.number().nullable(),
    usage: usage.nullable(),
    debug: shownDebugSchema.optional(),
  })
  .meta({ id: 'Response' })

/** The body of a compaction: what the caller said, and one item that stands for everything. */
export const responsesCompactionSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response.compaction'),
    created_at: z.int(),
    output: z.array(z.looseObject({ type: z.enum(['message', 'compaction']) })),
    usage,
  })
  .meta({ id: 'ResponseCompaction' })

/** One typed event of a streamed response. */
export const responsesEventSchema = z
  .looseObject({ type: z.string(), sequence_number: z.int() })
  .meta({ id: 'ResponseEvent' })
