import { z } from 'zod'
import { sessionIdLengthMax, userIdLengthMax } from '../../core/limits/http.ts'
import { embeddingInputsMax } from '../../core/limits/text.ts'
import { costDetailsSchema } from '../text/shown-schema.ts'
import { modelSchema, textUpTo, traceSchema } from '../text/request-schema.ts'
import { preferencesSchema } from '../preferences.ts'

const tokens = z.array(z.int().nonnegative()).min(1)
const contents = z.looseObject({ content: z.array(z.looseObject({ type: z.string() })).min(1) })

/** Everything that can be embedded: a text, texts, tokens, token lists, or content of several modalities. */
export const embeddingInputSchema = z.union([
  z.string(),
  z.array(z.string()).min(1).max(embeddingInputsMax),
  tokens,
  z.array(tokens).min(1).max(embeddingInputsMax),
  z.array(contents).min(1).max(embeddingInputsMax),
])

export const embeddingsRequestShape = {
  model: modelSchema,
  input: embeddingInputSchema.describe(
    'What to embed; several inputs give several vectors, in the same order.',
  ),
  dimensions: z
    .int()
    .min(1)
    .max(100_000)
    .nullish()
    .describe('Length of the vectors, where the model allows a choice.'),
  encoding_format: z.enum(['float', 'base64']).nullish().describe('`base64` is little-endian float32.'),
  input_type: z.string().nullish(),
  user: textUpTo(userIdLengthMax).nullish().describe('The caller’s end user.'),
  provider: preferencesSchema.nullish(),
  session_id: textUpTo(sessionIdLengthMax).nullish(),
  trace: traceSchema.nullish(),
  models: z.array(modelSchema).max(20).nullish(),
  headrace: z.looseObject({}).nullish(),
}

/** The whole request body of `POST /embeddings`. Unknown members are accepted. */
export const embeddingsRequestSchema = z.looseObject(embeddingsRequestShape).meta({
  id: 'EmbeddingsRequest',
  examples: [{ model: 'openai/text-embedding-3-small', input: ['first text', 'second text'] }],
})

/** The body of an embeddings answer. */
export const embeddingsAnswerSchema = z
  .looseObject({
    object: z.literal('list'),
    data: z.array(
      z.looseObject({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    id: z.string().optional(),
    usage: z.looseObject({
      prompt_tokens: z.int(),
      total_tokens: z.int(),
      cost: z.number().optional(),
      cost_details: costDetailsSchema.optional(),
      is_byok: z.boolean(),
    }),
  })
  .meta({ id: 'EmbeddingsAnswer' })
