import { z } from 'zod'
import { sessionIdLengthMax, userIdLengthMax } from '../../core/limits/http.ts'
import { preferencesSchema } from '../preferences.ts'
import type { DescribedOperation } from '../text/text-operation-row.ts'
import { modelSchema, textUpTo, traceSchema } from '../text/request-schema.ts'
import { costDetailsSchema } from '../text/shown-schema.ts'

const tokens = z.array(z.int().nonnegative()).min(1)

/** Prompts of one request, and answers to each. */
export const promptsMax = 2_048
const choicesMax = 128
/** Answers of one request: as many for each prompt. */
export const answersMax = promptsMax * choicesMax

/** Members that tune an answer; an endpoint may or may not honour them. */
export const tuningShape = {
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  max_tokens: z.int().min(1).nullish().describe('Most tokens of an answer; without it the provider decides.'),
  min_p: z.number().min(0).max(1).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  repetition_penalty: z.number().min(0).max(2).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_k: z.int().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
}

/** Members that only providers of this format have. They change the answer. */
export const ownShape = {
  best_of: z.int().min(1).max(20).nullish(),
  echo: z.boolean().nullish(),
  logprobs: z.int().min(0).max(5).nullish(),
  suffix: z.string().nullish(),
}

export const completionsRequestShape = {
  model: modelSchema,
  prompt: z
    .union([
      z.string(),
      z.array(z.string()).min(1).max(promptsMax),
      tokens,
      z.array(tokens).min(1).max(promptsMax),
    ])
    .describe('One text goes to any model; several, or token numbers, to providers of this format.'),
  n: z.int().min(1).max(choicesMax).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  ...tuningShape,
  ...ownShape,
  user: textUpTo(userIdLengthMax).nullish().describe('The caller’s end user.'),
  provider: preferencesSchema.nullish(),
  session_id: textUpTo(sessionIdLengthMax).nullish(),
  trace: traceSchema.nullish(),
  models: z.array(modelSchema).max(20).nullish(),
  headrace: z.looseObject({}).nullish(),
}

const choiceSchema = z.looseObject({
  text: z.string(),
  index: z.int(),
  logprobs: z.looseObject({}).nullable(),
  finish_reason: z.string().nullable(),
})

const answerSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    provider: z.string(),
    choices: z.array(choiceSchema),
    usage: z
      .looseObject({
        prompt_tokens: z.int(),
        completion_tokens: z.int(),
        total_tokens: z.int(),
        cost: z.number().optional(),
        cost_details: costDetailsSchema.optional(),
        is_byok: z.boolean(),
      })
      .optional(),
  })
  .meta({ id: 'Completion' })

const example = { model: 'openai/gpt-4o-mini', prompt: 'The headrace of a mill', max_tokens: 40 }
const answerExample = {
  id: 'gen-1795238962-rmcm4d547nndx6rglpnu',
  object: 'text_completion',
  created: 1795238962,
  model: 'openai/gpt-4o-mini',
  provider: 'OpenAI',
  choices: [{ text: ' leads water onto the wheel.', index: 0, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 6, completion_tokens: 6, total_tokens: 12, cost: 0.0000045, is_byok: false },
}

/** `POST /completions`, as its documentation describes it. */
export const describedCompletions: DescribedOperation = {
  id: 'createCompletion',
  summary: 'Continue a prompt (legacy)',
  description:
    'At providers that still have it as it is sent; at all others one text becomes a conversation of one turn. `suffix`, `echo`, `best_of`, `logprobs`, token numbers and several prompts need a provider that has them.',
  request: {
    schema: z.looseObject(completionsRequestShape).meta({ id: 'CompletionsRequest', examples: [example] }),
    example,
  },
  answer: { description: 'The completion, or its events', schema: answerSchema, example: answerExample },
  event: {
    schema: answerSchema.extend({}).meta({ id: 'CompletionEvent' }),
    example: {
      ...answerExample,
      choices: [{ text: ' leads', index: 0, logprobs: null, finish_reason: null }],
      usage: undefined,
    },
  },
}
