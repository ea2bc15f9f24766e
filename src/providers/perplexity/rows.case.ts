import { badKey, tooLong, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Perplexity. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'responses', through: 'responses', address: 'https://api.perplexity.ai/v1/responses' },
  ],
  refusals: [
    {
      status: 401,
      body: { error: { message: 'Invalid API key provided.', type: 'invalid_api_key', code: 401 } },
      ...badKey,
    },
    { status: 401, body: '<html><head><title>401</title></head></html>', ...badKey },
    {
      status: 400,
      body: {
        error: { message: 'The prompt has too many tokens', type: 'too_many_prompt_tokens', code: 400 },
      },
      ...tooLong,
    },
  ],
}
