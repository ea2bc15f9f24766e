import { z } from 'zod'
import { sessionIdLengthMax, userIdLengthMax } from '../../../core/limits/http.ts'
import { messagesMax } from '../../../core/limits/text.ts'
import { modelSchema, textUpTo, traceSchema } from '../request-schema.ts'
import { preferencesSchema } from '../../preferences.ts'
import { unservedShape } from '../../unserved-members.ts'

const block = z.looseObject({ type: z.string() })
const content = z.union([z.string(), z.array(block)])

/** One message; the other members of a block are read only for a translation. */
export const messageSchema = z
  .looseObject({ role: z.enum(['user', 'assistant', 'system']), content })
  .meta({ id: 'AnthropicMessage', examples: [{ role: 'user', content: 'Why is the sky blue?' }] })

/** Members of Anthropic's own format. */
export const ownMessagesShape = {
  messages: z.array(messageSchema).min(1).max(messagesMax).describe('The conversation so far.'),
  max_tokens: z
    .int()
    .min(1)
    .nullish()
    .describe('Most tokens to generate, thinking included; the model’s own limit when left out.'),
  system: content.nullish().describe('Instructions before the conversation.'),
  stop_sequences: z.array(z.string()).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  thinking: z
    .looseObject({
      type: z.string(),
      budget_tokens: z.int().min(0).nullish(),
      display: z.string().nullish(),
    })
    .nullish()
    .describe('How much to think before answering.'),
  output_config: z
    .looseObject({
      effort: z.string().nullish(),
      format: z.looseObject({ type: z.string() }).nullish(),
    })
    .nullish(),
  tools: z
    .array(
      z.looseObject({
        name: z.string().nullish(),
        type: z.string().nullish(),
        description: z.string().nullish(),
        input_schema: z.looseObject({}).nullish(),
      }),
    )
    .nullish()
    .describe('Tools the model may call.'),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().nullish(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .nullish(),
  cache_control: z.looseObject({ type: z.string() }).nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  service_tier: z.string().nullish(),
  speed: z.enum(['fast', 'standard']).nullish(),
  context_management: z.looseObject({}).nullish(),
  stream: z.boolean().nullish().describe('Answer as server-sent events.'),
}

/** Members that only the gateway reads; providers never get them. */
export const gatewayMessagesShape = {
  model: modelSchema.describe('Which model to ask.'),
  models: z.array(modelSchema).max(20).nullish().describe('Models to try when the one before failed.'),
  fallbacks: z
    .array(z.strictObject({ model: modelSchema }))
    .max(3)
    .nullish()
    .describe('The same as `models`, as Anthropic spells it.'),
  provider: preferencesSchema.nullish(),
  session_id: textUpTo(sessionIdLengthMax)
    .nullish()
    .describe('Groups requests; also the header `x-session-id`.'),
  user: textUpTo(userIdLengthMax).nullish().describe('The caller’s end user.'),
  trace: traceSchema.nullish(),
  reasoning: z
    .looseObject({ exclude: z.boolean().nullish() })
    .nullish()
    .describe('`exclude` leaves thoughts out of the answer; how to think is said by `thinking`.'),
  include_reasoning: z.boolean().nullish().describe('False leaves thoughts out of the answer.'),
  route: z.string().nullish(),
  ...unservedShape,
  headrace: z.looseObject({}).nullish(),
}

export const messagesRequestShape = { ...gatewayMessagesShape, ...ownMessagesShape }

/** The whole request body of `POST /messages`. Unknown members are accepted. */
export const messagesRequestSchema = z.looseObject(messagesRequestShape).meta({
  id: 'MessagesRequest',
  examples: [
    {
      model: 'anthropic/claude-sonnet-4.5',
      max_tokens: 1_024,
      messages: [{ role: 'user', content: 'Why is the sky blue?' }],
    },
  ],
})
