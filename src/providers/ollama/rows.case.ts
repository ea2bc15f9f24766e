import { badKey, tooLong, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Ollama. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'http://localhost:11434/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'http://localhost:11434/v1/responses' },
  ],
  refusals: [
    {
      status: 401,
      body: { error: { message: 'unauthorized', type: 'api_error', param: null, code: null } },
      ...badKey,
    },
    {
      status: 400,
      body: {
        error: { message: 'prompt exceeded max context length by 9 tokens', type: 'invalid_request_error' },
      },
      ...tooLong,
    },
    {
      status: 404,
      body: { error: { message: 'model "tiny" not found, try pulling it first', type: 'api_error' } },
      type: 'no_matching_endpoint',
      ours: 404,
      next: 'elsewhere',
    },
  ],
}
