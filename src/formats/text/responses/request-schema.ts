import { z } from 'zod'
import { sessionIdLengthMax, userIdLengthMax } from '../../../core/limits/http.ts'
import { metadataPairsMax } from '../../../core/limits/text.ts'
import { modelSchema, textUpTo, traceSchema } from '../request-schema.ts'
import { debugSchema } from '../../debug-options.ts'
import { preferencesSchema } from '../../preferences.ts'
import { serviceTierSchema } from '../../service-tier.ts'
import { unservedShape } from '../../unserved-members.ts'

/** An entry of the input; its other members are read only for a translation. */
export const inputItemSchema = z
  .looseObject({ type: z.string().optional(), role: z.string().optional() })
  .meta({ id: 'ResponsesInputItem', examples: [{ role: 'user', content: 'Why is the sky blue?' }] })

/** Members of OpenAI's own format. */
export const ownResponsesShape = {
  input: z.union([z.string(), z.array(inputItemSchema)]).describe('A text, or the conversation so far.'),
  instructions: z.string().nullish().describe('Instructions before the conversation.'),
  max_output_tokens: z.int().min(1).nullish().describe('Most tokens to generate, reasoning included.'),
  max_tool_calls: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  reasoning: z
    .looseObject({
      effort: z.string().nullish(),
      summary: z.string().nullish(),
      max_tokens: z.int().nonnegative().nullish(),
      enabled: z.boolean().nullish(),
      exclude: z.boolean().nullish().describe('Leaves thoughts out of the answer.'),
    })
    .nullish()
    .describe('How much to think before answering.'),
  text: z
    .looseObject({
      format: z.looseObject({ type: z.string() }).nullish(),
      verbosity: z.string().nullish(),
    })
    .nullish()
    .describe('What the text of the answer must be.'),
  tools: z
    .array(z.looseObject({ type: z.string() }))
    .nullish()
    .describe('Tools the model may call.'),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  truncation: z.string().nullish(),
  modalities: z.array(z.string()).nullish(),
  image_config: z.looseObject({}).nullish(),
  include: z.array(z.string()).nullish(),
  previous_response_id: z.string().nullish().describe('Not served: send the whole conversation.'),
  conversation: z.unknown().optional(),
  prompt: z.unknown().optional(),
  store: z.boolean().nullish().describe('Answers are not stored; only false is taken.'),
  background: z.boolean().nullish(),
  metadata: z
    .record(z.string(), z.string())
    .refine((pairs) => Object.keys(pairs).length <= metadataPairsMax, {
      message: `must have at most ${metadataPairsMax} pairs`,
    })
    .nullish(),
  service_tier: serviceTierSchema,
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  stream: z.boolean().nullish().describe('Answer as server-sent events.'),
  stream_options: z.looseObject({}).nullish(),
  cache_control: z.looseObject({ type: z.string() }).nullish(),
}

/** Members that only the gateway reads; providers never get them. */
export const gatewayResponsesShape = {
  model: modelSchema.optional().describe('Which model to ask; may be left out when `models` is given.'),
  models: z.array(modelSchema).max(20).nullish().describe('Models to try when the one before failed.'),
  provider: preferencesSchema.nullish(),
  session_id: textUpTo(sessionIdLengthMax)
    .nullish()
    .describe('Groups requests; also the header `x-session-id`.'),
  user: textUpTo(userIdLengthMax).nullish().describe('The caller’s end user.'),
  trace: traceSchema.nullish(),
  include_reasoning: z.boolean().nullish().describe('False leaves thoughts out of the answer.'),
  route: z.string().nullish(),
  debug: debugSchema.nullish(),
  ...unservedShape,
  headrace: z.looseObject({}).nullish(),
}

export const responsesRequestShape = { ...gatewayResponsesShape, ...ownResponsesShape }

/** The whole request body of `POST /responses`. Unknown members are accepted. */
export const responsesRequestSchema = z.looseObject(responsesRequestShape).meta({
  id: 'ResponsesRequest',
  examples: [{ model: 'openai/gpt-4o-mini', input: 'Why is the sky blue?' }],
})
