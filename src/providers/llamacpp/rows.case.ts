import { overloaded, tooLong, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for llama.cpp. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'http://localhost:8080/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'http://localhost:8080/v1/responses' },
  ],
  refusals: [
    {
      status: 400,
      body: {
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
        },
      },
      ...tooLong,
    },
    {
      status: 503,
      body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
      ...overloaded,
    },
  ],
}
