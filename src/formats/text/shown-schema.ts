import { z } from 'zod'

/** The charge of a call and its parts. */
export const costDetailsSchema = z.looseObject({
  upstream_inference_cost: z.number().nullable(),
  upstream_inference_prompt_cost: z.number(),
  upstream_inference_completions_cost: z.number(),
})

/** The tokens written to the provider's cache, by the time for which they are kept. */
export const cacheCreationSchema = z.looseObject({
  ephemeral_5m_input_tokens: z.int(),
  ephemeral_1h_input_tokens: z.int(),
})

/** The exchange with the provider, for a caller that asked for `debug`. */
export const shownDebugSchema = z.looseObject({
  echo_upstream_body: z.looseObject({}).optional(),
  timings: z.looseObject({
    start_ms: z.int(),
    event: z.enum([
      'adapter_request',
      'upstream_headers_received',
      'first_token_received',
      'upstream_body_ended',
    ]),
    epoch_ms: z.int(),
  }),
})
