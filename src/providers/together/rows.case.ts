import { envelope, limited, overloaded, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Together. */
export const rows: ProviderRows = {
  refusals: [
    {
      status: 429,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
      body: {
        error: { message: 'You have reached your rate limit', type: 'rate_limit', param: null, code: null },
      },
      ...limited,
      retryAfterMs: 1_000,
    },
    {
      status: 503,
      body: { error: 'The server is overloaded or not ready yet.' },
      ...overloaded,
    },
    {
      status: 404,
      body: envelope('Unable to access model gpt-4o', { code: 'model_not_available' }),
      type: 'no_matching_endpoint',
      ours: 404,
      next: 'elsewhere',
    },
  ],
  transcribers: [
    {
      path: '/together/v1',
      upstream: 'openai/whisper-large-v3',
      text: heardText,
      language: 'en',
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['SPEAKER_00', 'SPEAKER_01'] },
      keyterms: null,
      sends: usual,
      url: 'file',
      pcm: 'wav',
    },
  ],
}
