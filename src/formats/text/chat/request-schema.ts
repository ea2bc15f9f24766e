import { z } from 'zod'
import { sessionIdLengthMax, userIdLengthMax } from '../../../core/limits/http.ts'
import { messagesMax, metadataPairsMax } from '../../../core/limits/text.ts'
import { debugSchema } from '../../debug-options.ts'
import { preferencesSchema } from '../../preferences.ts'
import { serviceTierSchema } from '../../service-tier.ts'
import { unservedShape } from '../../unserved-members.ts'
import { modelSchema, textUpTo, traceSchema } from '../request-schema.ts'

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() })

const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string(), detail: z.string().optional() }),
})

const audioPart = z.looseObject({
  type: z.literal('input_audio'),
  input_audio: z.looseObject({ data: z.string(), format: z.string() }),
})

const filePart = z.looseObject({
  type: z.literal('file'),
  file: z.looseObject({
    file_data: z.string().optional(),
    file_id: z.string().optional(),
    filename: z.string().optional(),
  }),
})

const refusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() })

const otherPart = z.looseObject({ type: z.string() })

const contentPart = z.union([textPart, imagePart, audioPart, filePart, refusalPart, otherPart])

const content = z.union([z.string(), z.array(contentPart)])

const toolCall = z.looseObject({
  id: z.string(),
  type: z.string().meta({ examples: ['function'] }),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
  custom: z.looseObject({ name: z.string(), input: z.string() }).optional(),
})

/** One message of a conversation; the provider judges what a role allows beyond this. */
export const messageSchema = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
    content: content.nullish(),
    name: z.string().nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
    tool_call_id: z.string().nullish(),
    reasoning: z.string().nullish(),
    reasoning_details: z.array(z.looseObject({ type: z.string() })).nullish(),
  })
  .meta({ id: 'ChatMessage', examples: [{ role: 'user', content: 'Why is the sky blue?' }] })

/** Some vendors' own clients omit `type` when the tool has a `function`. */
function isTyped(tool: { type?: string | null | undefined; function?: unknown }): boolean {
  return typeof tool.type === 'string' || tool.function !== undefined
}

const typeMissing = { path: ['type'], message: 'is required; send "function"' }

const functionTool = z
  .looseObject({
    type: z
      .string()
      .nullish()
      .meta({ examples: ['function'] })
      .describe('`function` where it is left out.'),
    function: z
      .looseObject({
        name: z.string().min(1),
        description: z.string().nullish(),
        parameters: z.looseObject({}).nullish(),
        strict: z.boolean().nullish(),
      })
      .optional(),
  })
  .refine(isTyped, typeMissing)

const toolChoice = z.union([
  z.string(),
  z
    .looseObject({ type: z.string().nullish(), function: z.looseObject({ name: z.string() }).optional() })
    .refine(isTyped, typeMissing),
])

const responseFormat = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema', 'grammar', 'python']),
  json_schema: z.looseObject({ name: z.string().nullish(), schema: z.looseObject({}).nullish() }).nullish(),
})

const reasoning = z.looseObject({
  effort: z.string().nullish(),
  summary: z.string().nullish(),
  max_tokens: z.int().nonnegative().nullish(),
  enabled: z.boolean().nullish(),
  exclude: z.boolean().nullish(),
})

const count = z.int().min(1)

/**
 * Members of OpenAI's own format; every compatible provider gets them, except those that its preset drops (`quirks.ts`). A
 * new one also needs its place in `read-conversation.ts`, for providers of other formats, and in `read-request.ts` where it
 * asks for a capability.
 */
export const standardChatShape = {
  messages: z.array(messageSchema).min(1).max(messagesMax).describe('The conversation so far.'),
  temperature: z.number().min(0).max(2).nullish().describe('Randomness of sampling.'),
  top_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  max_tokens: count.nullish().describe('Most tokens to generate, reasoning included.'),
  max_completion_tokens: count
    .nullish()
    .describe('Most tokens to generate, reasoning included; wins over `max_tokens`.'),
  n: z.int().min(1).max(128).nullish().describe('How many answers to generate.'),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
  seed: z.int().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  tools: z.array(functionTool).nullish().describe('Functions the model may call.'),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
  reasoning_effort: z
    .string()
    .nullish()
    .meta({ examples: ['low', 'medium', 'high'] }),
  verbosity: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  stream: z.boolean().nullish().describe('Answer as server-sent events.'),
  stream_options: z
    .looseObject({ include_usage: z.boolean().nullish() })
    .nullish()
    .describe('Usage is always sent.'),
  modalities: z.array(z.string()).nullish(),
  audio: z.looseObject({}).nullish(),
  prediction: z.looseObject({}).nullish(),
  store: z.boolean().nullish(),
  metadata: z
    .record(z.string(), z.string())
    .refine((pairs) => Object.keys(pairs).length <= metadataPairsMax, {
      message: `must have at most ${metadataPairsMax} pairs`,
    })
    .meta({ maxProperties: metadataPairsMax })
    .nullish(),
  service_tier: serviceTierSchema,
  web_search_options: z.looseObject({}).nullish(),
  moderation: z.unknown().optional(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_options: z.looseObject({}).nullish(),
  prompt_cache_retention: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  user: textUpTo(userIdLengthMax).nullish().describe('The caller’s end user.'),
  functions: z.array(z.looseObject({ name: z.string() })).nullish(),
  function_call: z.union([z.string(), z.looseObject({ name: z.string() })]).nullish(),
}

/**
 * Members of the contract beyond OpenAI's format that some providers know; a preset lists those that its provider
 * accepts.
 */
export const extendedChatShape = {
  top_k: z.int().min(0).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  top_a: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().min(0).max(2).nullish(),
  reasoning: reasoning.nullish().describe('How much to think before answering.'),
  include_reasoning: z.boolean().nullish(),
  image_config: z.looseObject({}).nullish(),
  cache_control: z.looseObject({ type: z.string() }).nullish(),
}

/** Members that only the gateway reads; providers never get them. */
export const gatewayChatShape = {
  model: modelSchema.optional().describe('Which model to ask; may be left out when `models` is given.'),
  models: z.array(modelSchema).max(20).nullish().describe('Models to try when the one before failed.'),
  provider: preferencesSchema.nullish(),
  session_id: textUpTo(sessionIdLengthMax)
    .nullish()
    .describe('Groups requests; also the header `x-session-id`.'),
  trace: traceSchema.nullish(),
  route: z.string().nullish(),
  transforms: z.array(z.string()).nullish(),
  usage: z.looseObject({}).nullish(),
  debug: debugSchema.nullish(),
  ...unservedShape,
  headrace: z.looseObject({}).nullish(),
}

export const chatRequestShape = { ...gatewayChatShape, ...standardChatShape, ...extendedChatShape }

/** The whole request body of `POST /chat/completions`. Unknown members are accepted. */
export const chatRequestSchema = z.looseObject(chatRequestShape).meta({
  id: 'ChatCompletionRequest',
  examples: [{ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Why is the sky blue?' }] }],
})
