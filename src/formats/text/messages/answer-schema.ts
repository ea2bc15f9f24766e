import { z } from 'zod'
import { cacheCreationSchema } from '../shown-schema.ts'

/** The body of a message that is not streamed. */
export const messagesAnswerSchema = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    provider: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    container: z.unknown().nullable(),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullable(),
    stop_details: z.looseObject({ type: z.string() }).nullable(),
    diagnostics: z.unknown().nullable(),
    usage: z.looseObject({
      input_tokens: z.int(),
      output_tokens: z.int(),
      cache_creation_input_tokens: z.int(),
      cache_read_input_tokens: z.int(),
      cache_creation: cacheCreationSchema.nullable(),
      output_tokens_details: z.looseObject({ thinking_tokens: z.int() }).nullable(),
      server_tool_use: z.looseObject({}).nullable(),
      service_tier: z.string().nullable(),
      inference_geo: z.string().nullable(),
      speed: z.string().nullable(),
      cost: z.number().optional(),
      is_byok: z.boolean(),
    }),
  })
  .meta({ id: 'Message' })

/** One event of a streamed message. */
export const messagesEventSchema = z.looseObject({ type: z.string() }).meta({ id: 'MessageEvent' })
