import { badKey, limited, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Novita. */
export const rows: ProviderRows = {
  addresses: [
    // Without a listing the gateway does not know which models have messages.
    { asked: 'messages', through: 'chat', address: 'https://api.novita.ai/openai/v1/chat/completions' },
  ],
  refusals: [
    {
      status: 403,
      body: { code: 403, reason: 'INVALID_API_KEY', message: 'invalid api key' },
      ...badKey,
    },
    {
      status: 429,
      body: { code: 429, reason: 'RATE_LIMIT_EXCEEDED', message: 'too many requests, retry later' },
      ...limited,
    },
  ],
  withoutSdk: 'its package is for pictures and machines; for text its documents name the SDK of OpenAI',
}
