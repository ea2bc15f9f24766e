import { failed, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for vLLM. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'http://localhost:8000/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'http://localhost:8000/v1/responses' },
  ],
  refusals: [
    {
      status: 500,
      body: { object: 'error', message: 'EngineDeadError', type: 'InternalServerError', code: 500 },
      ...failed,
    },
  ],
}
