import { z } from 'zod'
import { cacheCreationSchema } from '../chat/chat-answer-schema.ts'

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
    usage: z.looseObject({
      input_tokens: z.int(),
      output_tokens: z.int(),
      cache_creation_input_tokens: z.int(),
      cache_read_input_tokens: z.int(),
      cache_creation: cacheCreationSchema.nullish(),
      cost: z.number().nullable(),
      is_byok: z.boolean(),
    }),
  })
  .meta({ id: 'Message' })

/** One event of a streamed message. */
export const messagesEventSchema = z.looseObject({ type: z.string() }).meta({ id: 'MessageEvent' })
