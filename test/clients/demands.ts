import { z } from 'zod'

// What clients want of an answer, written down by hand from the schemas and types of `ai` 5, 6 and 7 with their providers,
// `@openrouter/ai-sdk-provider`, `openai`, `@anthropic-ai/sdk` and `@openrouter/sdk`. Where they differ, what all of them take.

const int = z.int()
const text = z.string()

// --- chat completions ---

const citation = z.looseObject({
  type: z.literal('url_citation'),
  // `ai` 5 wants every member; `@openrouter/ai-sdk-provider` 1 too.
  url_citation: z.looseObject({ url: text, title: text, start_index: int, end_index: int }),
})

const logprob = z.looseObject({
  token: text,
  logprob: z.number(),
  bytes: z.array(int).nullable(),
  top_logprobs: z.array(z.looseObject({ token: text, logprob: z.number(), bytes: z.array(int).nullable() })),
})
const chatLogprobs = z
  .looseObject({ content: z.array(logprob).nullable(), refusal: z.array(logprob).nullable().optional() })
  .nullable()
  .optional()

const detail = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('reasoning.text'), index: int.optional() }),
  z.looseObject({ type: z.literal('reasoning.summary'), summary: text, index: int.optional() }),
  z.looseObject({ type: z.literal('reasoning.encrypted'), data: text, index: int.optional() }),
])

/** Members of a message and of a delta that are there or not: one client or another refuses null. */
const neverNull = {
  reasoning_details: z.array(detail).optional(),
  images: z.array(z.looseObject({ image_url: z.looseObject({ url: text }) })).optional(),
  audio: z.looseObject({}).optional(),
  annotations: z.array(citation).optional(),
  name: text.optional(),
}

/** `@openrouter/ai-sdk-provider` and the embeddings of `@openrouter/sdk` refuse a cost of null. */
const cost = z.number().optional()

const chatUsage = z.looseObject({
  prompt_tokens: int,
  completion_tokens: int,
  total_tokens: int,
  cost,
  is_byok: z.boolean(),
  prompt_tokens_details: z.looseObject({
    cached_tokens: int,
    audio_tokens: int.optional(),
    cache_write_tokens: int.optional(),
    video_tokens: int.optional(),
  }),
  completion_tokens_details: z.looseObject({ reasoning_tokens: int }),
  cost_details: z
    .looseObject({
      upstream_inference_cost: z.number().nullable(),
      upstream_inference_prompt_cost: z.number(),
      upstream_inference_completions_cost: z.number(),
    })
    .optional(),
})

const finish = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error'])

/** A whole answer of chat completions. */
export const chatAnswer = z.looseObject({
  id: text,
  object: z.literal('chat.completion'),
  created: int,
  model: text,
  provider: text,
  system_fingerprint: text.nullable(),
  service_tier: text.nullable().optional(),
  usage: chatUsage,
  choices: z.array(
    z.looseObject({
      index: int,
      finish_reason: finish,
      logprobs: chatLogprobs,
      message: z.looseObject({
        role: z.literal('assistant'),
        content: text.nullable(),
        refusal: text.nullable(),
        reasoning: text.nullable().optional(),
        tool_calls: z
          .array(
            z.looseObject({
              id: text,
              type: z.literal('function'),
              function: z.looseObject({ name: text, arguments: text }),
            }),
          )
          .optional(),
        ...neverNull,
      }),
    }),
  ),
})

/** A chunk of a stream of chat completions. */
export const chatChunk = z.looseObject({
  id: text,
  object: z.literal('chat.completion.chunk'),
  created: int,
  model: text,
  provider: text,
  system_fingerprint: text.optional(),
  service_tier: text.nullable().optional(),
  usage: chatUsage.optional(),
  choices: z.array(
    z.looseObject({
      index: int,
      finish_reason: finish.nullable(),
      logprobs: chatLogprobs,
      delta: z.looseObject({
        role: z.literal('assistant').optional(),
        content: text.nullable().optional(),
        refusal: text.nullable().optional(),
        reasoning: text.nullable().optional(),
        tool_calls: z
          .array(
            z.looseObject({
              index: int,
              id: text.optional(),
              type: z.literal('function').optional(),
              // `ai` looks into it in every piece.
              function: z.looseObject({ name: text.optional(), arguments: text.optional() }),
            }),
          )
          .optional(),
        ...neverNull,
      }),
    }),
  ),
})

// --- responses ---

const annotation = z.looseObject({ type: text, title: text.optional() })
const responsesLogprobs = z.array(z.looseObject({ token: text, logprob: z.number(), bytes: z.array(int) }))
const contentPart = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('output_text'),
    text,
    annotations: z.array(annotation),
    logprobs: responsesLogprobs.optional(),
  }),
  z.looseObject({ type: z.literal('refusal'), refusal: text }),
  z.looseObject({ type: z.literal('reasoning_text'), text }),
])
const status = z.enum(['in_progress', 'completed', 'incomplete'])
const item = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message'),
    id: text,
    role: z.literal('assistant'),
    status,
    content: z.array(contentPart),
  }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: text,
    summary: z.array(z.looseObject({ type: z.literal('summary_text'), text })),
    content: z.array(contentPart).optional(),
    encrypted_content: text.nullable().optional(),
    status: status.optional(),
  }),
  z.looseObject({
    type: z.literal('function_call'),
    id: text,
    call_id: text,
    name: text,
    arguments: text,
    namespace: text.optional(),
    status,
  }),
])
const responsesUsage = z.looseObject({
  input_tokens: int,
  input_tokens_details: z.looseObject({ cached_tokens: int, cache_write_tokens: int }),
  output_tokens: int,
  output_tokens_details: z.looseObject({ reasoning_tokens: int }),
  total_tokens: int,
  cost,
  is_byok: z.boolean(),
})

/** A whole response, and what the events at both ends of a stream tell. */
export const responsesAnswer = z.looseObject({
  id: text,
  object: z.literal('response'),
  created_at: int,
  completed_at: int.nullable(),
  status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
  error: z.looseObject({ code: text, message: text }).nullable(),
  incomplete_details: z.looseObject({ reason: text }).nullable(),
  instructions: z.unknown().refine((value) => value !== undefined),
  metadata: z.record(text, text).nullable(),
  model: text,
  output: z.array(item),
  parallel_tool_calls: z.boolean(),
  temperature: z.number().nullable(),
  top_p: z.number().nullable(),
  presence_penalty: z.number().nullable(),
  frequency_penalty: z.number().nullable(),
  service_tier: text.nullable().optional(),
  text: z.looseObject({}),
  tool_choice: z.union([text, z.looseObject({ type: text })]),
  tools: z.array(
    z.looseObject({
      type: text,
      parameters: z.looseObject({}).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  usage: responsesUsage.nullable(),
})

const place = { sequence_number: int, output_index: int }
const inItem = { ...place, item_id: text }
const inPart = { ...inItem, content_index: int }

/** Events of a stream of responses, by their types; of another type nothing is wanted. */
export const responsesEvents: Readonly<Record<string, z.ZodType>> = {
  'response.created': z.looseObject({ sequence_number: int, response: responsesAnswer }),
  'response.in_progress': z.looseObject({ sequence_number: int, response: responsesAnswer }),
  'response.completed': z.looseObject({
    sequence_number: int,
    response: responsesAnswer.extend({ usage: responsesUsage }),
  }),
  'response.output_item.added': z.looseObject({ ...place, item }),
  'response.output_item.done': z.looseObject({ ...place, item }),
  'response.content_part.added': z.looseObject({ ...inPart, part: contentPart }),
  'response.content_part.done': z.looseObject({ ...inPart, part: contentPart }),
  'response.output_text.delta': z.looseObject({ ...inPart, delta: text, logprobs: responsesLogprobs }),
  'response.output_text.done': z.looseObject({ ...inPart, text, logprobs: responsesLogprobs }),
  'response.function_call_arguments.delta': z.looseObject({ ...inItem, delta: text }),
  'response.function_call_arguments.done': z.looseObject({ ...inItem, name: text, arguments: text }),
  'response.reasoning_text.delta': z.looseObject({ ...inPart, delta: text }),
  'response.reasoning_text.done': z.looseObject({ ...inPart, text }),
  'response.reasoning_summary_text.delta': z.looseObject({ ...inItem, summary_index: int, delta: text }),
}

// --- messages ---

const messagesUsage = z.looseObject({
  input_tokens: int,
  output_tokens: int,
  cache_creation_input_tokens: int,
  cache_read_input_tokens: int,
  cache_creation: z
    .looseObject({ ephemeral_5m_input_tokens: int, ephemeral_1h_input_tokens: int })
    .nullable(),
  output_tokens_details: z.looseObject({ thinking_tokens: int }).nullable(),
  server_tool_use: z.looseObject({}).nullable(),
  service_tier: text.nullable(),
  inference_geo: text.nullable(),
  speed: text.nullable(),
})
const caller = z.looseObject({ type: text })
const block = z.discriminatedUnion('type', [
  // `ai` 5 and 6 refuse null, the others' types want the member.
  z.looseObject({ type: z.literal('text'), text, citations: z.array(z.looseObject({ type: text })) }),
  z.looseObject({ type: z.literal('thinking'), thinking: text, signature: text }),
  z.looseObject({ type: z.literal('redacted_thinking'), data: text }),
  z.looseObject({ type: z.literal('tool_use'), id: text, name: text, input: z.looseObject({}), caller }),
])
const stopMembers = {
  stop_reason: text.nullable(),
  stop_sequence: text.nullable(),
  stop_details: z.looseObject({ type: text }).nullable(),
  container: z.looseObject({ id: text, expires_at: text }).nullable(),
}

/** A whole message. */
export const messagesAnswer = z.looseObject({
  id: text,
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: text,
  content: z.array(block),
  diagnostics: z.looseObject({}).nullable(),
  usage: messagesUsage.extend({ cost }),
  ...stopMembers,
})

const delta = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text_delta'), text }),
  z.looseObject({ type: z.literal('thinking_delta'), thinking: text }),
  z.looseObject({ type: z.literal('signature_delta'), signature: text }),
  z.looseObject({ type: z.literal('input_json_delta'), partial_json: text }),
  z.looseObject({ type: z.literal('citations_delta'), citation: z.looseObject({ type: text }) }),
])

/** Events of a streamed message, by their types. */
export const messagesEvents: Readonly<Record<string, z.ZodType>> = {
  message_start: z.looseObject({ message: messagesAnswer.extend({ usage: messagesUsage }) }),
  content_block_start: z.looseObject({ index: int, content_block: block }),
  content_block_delta: z.looseObject({ index: int, delta }),
  content_block_stop: z.looseObject({ index: int }),
  message_delta: z.looseObject({ delta: z.looseObject(stopMembers), usage: messagesUsage.extend({ cost }) }),
  message_stop: z.looseObject({}),
}

// --- embeddings ---

/** Vectors. */
export const embeddingsAnswer = z.looseObject({
  object: z.literal('list'),
  model: text,
  usage: z.looseObject({ prompt_tokens: int, total_tokens: int, cost }),
})
