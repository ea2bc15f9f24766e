import { badKey, limited, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Cerebras. */
export const rows: ProviderRows = {
  addresses: [{ asked: 'messages', through: 'chat', address: 'https://api.cerebras.ai/v1/chat/completions' }],
  refusals: [
    {
      status: 401,
      body: { message: 'Wrong API Key', type: 'invalid_request_error', code: 'wrong_api_key' },
      ...badKey,
    },
    {
      status: 429,
      headers: { 'x-ratelimit-remaining-tokens-minute': '0', 'x-ratelimit-reset-tokens-minute': '12.5' },
      body: {
        message: 'Tokens per minute limit exceeded',
        type: 'too_many_tokens_error',
        param: 'quota',
        code: 'token_quota_exceeded',
      },
      ...limited,
      retryAfterMs: 12_500,
    },
  ],
}
