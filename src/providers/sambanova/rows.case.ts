import { envelope, failed, faulty, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for SambaNova. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'https://api.sambanova.ai/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'https://api.sambanova.ai/v1/responses' },
  ],
  refusals: [
    { status: 502, body: '<html><body>502 Bad Gateway</body></html>', ...failed },
    {
      status: 400,
      body: {
        ...envelope('temperature is too high', { code: 'decimal_above_max_value' }),
        request_id: '0f9e',
      },
      ...faulty,
    },
  ],
}
