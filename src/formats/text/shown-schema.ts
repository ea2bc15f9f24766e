import { z } from 'zod'

/** What a call was charged, and how it is made up. */
export const costDetailsSchema = z.looseObject({
  upstream_inference_cost: z.number().nullable(),
  upstream_inference_prompt_cost: z.number(),
  upstream_inference_completions_cost: z.number(),
})

/** Input that was written to the provider's cache, by the time that it is kept. */
export const cacheCreationSchema = z.looseObject({
  ephemeral_5m_input_tokens: z.int(),
  ephemeral_1h_input_tokens: z.int(),
})

/** What is shown of the exchange with the provider to a caller who asked for `debug`. */
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
