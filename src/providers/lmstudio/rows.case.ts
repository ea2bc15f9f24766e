import { faulty, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for LM Studio. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'http://127.0.0.1:1234/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'http://127.0.0.1:1234/v1/responses' },
  ],
  refusals: [
    {
      status: 400,
      body: { error: 'Invalid type for tools' },
      ...faulty,
    },
  ],
}
