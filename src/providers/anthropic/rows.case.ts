import {
  badKey,
  limited,
  noMoney,
  overloaded,
  tooLong,
  type ProviderRows,
} from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Anthropic. */
export const rows: ProviderRows = {
  refusals: [
    {
      status: 401,
      body: {
        type: 'error',
        error: { type: 'authentication_error', message: 'invalid x-api-key' },
        request_id: 'req_011',
      },
      ...badKey,
    },
    {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Your credit balance is too low to access the Anthropic API.',
        },
      },
      ...noMoney,
    },
    {
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 208312 tokens > 200000 maximum',
        },
      },
      ...tooLong,
    },
    {
      status: 413,
      body: {
        type: 'error',
        error: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
      },
      type: 'payload_too_large',
      ours: 413,
      next: 'elsewhere',
    },
    {
      status: 429,
      headers: {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-20T10:00:20Z',
        date: 'Fri, 20 Nov 2026 10:00:00 GMT',
      },
      body: {
        type: 'error',
        error: { type: 'rate_limit_error', message: 'This request would exceed a rate limit.' },
      },
      ...limited,
      retryAfterMs: 20_000,
    },
    {
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ...overloaded,
    },
  ],
}
