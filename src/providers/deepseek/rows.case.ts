import {
  badKey,
  envelope,
  failed,
  noMoney,
  overloaded,
  tooLong,
  type ProviderRows,
} from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for DeepSeek. */
export const rows: ProviderRows = {
  addresses: [
    {
      asked: 'messages',
      through: 'messages',
      address: 'https://api.deepseek.com/anthropic/v1/messages',
      headers: { 'x-api-key': 'key-1' },
    },
  ],
  refusals: [
    {
      status: 401,
      body: envelope('Authentication Fails, Your api key: ****5678 is invalid', {
        type: 'authentication_error',
        code: 'invalid_request_error',
      }),
      ...badKey,
    },
    {
      status: 402,
      body: envelope('Insufficient Balance', { type: 'unknown_error' }),
      ...noMoney,
    },
    {
      status: 400,
      headers: { 'content-type': 'application/octet-stream' },
      body: envelope(
        "This model's maximum context length is 131072 tokens. However, you requested 200000 tokens.",
      ),
      ...tooLong,
    },
    { status: 503, body: envelope('Server overloaded'), ...overloaded },
    { status: 500, body: '', ...failed },
  ],
  withoutSdk: 'its documents name the SDKs of OpenAI and Anthropic',
}
