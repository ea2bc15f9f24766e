import { z } from 'zod'
import { sessionIdLengthMax, userIdLengthMax } from '../../core/limits/http.ts'
import { preferencesSchema } from '../preferences.ts'
import type { DescribedOperation } from '../text/text-operation-row.ts'
import { modelSchema, textUpTo, traceSchema } from '../text/request-schema.ts'

/** The most documents of one request: ten times the largest known limit of a provider. */
export const documentsMax = 10_000

const documentSchema = z.union([
  z.string(),
  z
    .looseObject({
      text: z.string().optional().describe('The text of the document.'),
      image: z.string().optional().describe('A picture, as an address or a data URL, for models that see.'),
    })
    .describe('At least one of `text` and `image`.'),
])

export const rerankRequestShape = {
  model: modelSchema,
  query: z.string().min(1).describe('What the documents are compared with.'),
  documents: z.array(documentSchema).min(1).max(documentsMax).describe('What is put in order.'),
  top_n: z
    .int()
    .min(1)
    .nullish()
    .describe('How many of the most relevant documents to return; all by default.'),
  return_documents: z
    .boolean()
    .nullish()
    .describe('Whether results have the documents themselves; true by default.'),
  max_tokens_per_doc: z
    .int()
    .min(1)
    .nullish()
    .describe('Longer documents are cut to so many tokens, where the provider can.'),
  user: textUpTo(userIdLengthMax).nullish().describe('The caller’s end user.'),
  provider: preferencesSchema.nullish(),
  session_id: textUpTo(sessionIdLengthMax).nullish(),
  trace: traceSchema.nullish(),
  models: z.array(modelSchema).max(20).nullish(),
  headrace: z.looseObject({}).nullish(),
}

const answerSchema = z
  .looseObject({
    id: z.string(),
    model: z.string(),
    provider: z.string(),
    results: z.array(
      z.looseObject({
        index: z.int().describe('Of the document in the request, from 0.'),
        relevance_score: z.number().describe('Higher is more relevant; its range is the provider’s.'),
        document: z
          .looseObject({ text: z.string().optional(), image: z.string().optional() })
          .optional()
          .describe('As it was sent; absent with `return_documents: false`.'),
      }),
    ),
    usage: z.looseObject({
      search_units: z.int().optional(),
      total_tokens: z.int().optional(),
      cost: z.number().optional(),
      is_byok: z.boolean(),
    }),
  })
  .meta({ id: 'RerankAnswer' })

const example = {
  model: 'cohere/rerank-v3.5',
  query: 'How does a water mill turn?',
  documents: ['Bread is made of flour.', 'The headrace leads water onto the wheel.'],
  top_n: 1,
}

/** `POST /rerank`, as its documentation describes it. */
export const describedRerank: DescribedOperation = {
  id: 'createRerank',
  summary: 'Put documents in the order of their relevance to a query',
  description:
    'The most relevant document comes first. `usage` has what the model is billed by: search units or tokens.',
  request: {
    schema: z.looseObject(rerankRequestShape).meta({ id: 'RerankRequest', examples: [example] }),
    example,
  },
  answer: {
    description: 'The documents, the most relevant first',
    schema: answerSchema,
    example: {
      id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
      model: 'cohere/rerank-v3.5',
      provider: 'Cohere',
      results: [
        {
          index: 1,
          relevance_score: 0.874,
          document: { text: 'The headrace leads water onto the wheel.' },
        },
      ],
      usage: { search_units: 1, cost: 0.002, is_byok: false },
    },
  },
  event: null,
}
