import { badKey, limited, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Azure OpenAI. */
export const rows: ProviderRows = {
  refusals: [
    {
      status: 401,
      body: {
        error: {
          code: '401',
          message: 'Access denied due to invalid subscription key or wrong API endpoint.',
        },
      },
      ...badKey,
    },
    {
      status: 429,
      headers: { 'retry-after': '31', 'apim-request-id': 'a' },
      body: {
        error: { code: 'RateLimitReached', message: 'Your requests have exceeded the call rate limit.' },
      },
      ...limited,
      retryAfterMs: 31_000,
    },
    {
      status: 400,
      body: {
        error: {
          code: 'content_filter',
          message:
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          param: 'prompt',
          status: 400,
        },
      },
      type: 'content_policy_violation',
      ours: 400,
      next: 'caller',
    },
  ],
  transcribers: [
    {
      path: '/openai/v1',
      upstream: 'whisper-1',
      text: heardText,
      language: 'en',
      segments: utterances,
      words: true,
      speakers: null,
      keyterms: null,
      sends: usual,
      url: null,
      pcm: 'wav',
    },
    {
      variant: 'older',
      path: '/openai',
      upstream: 'gpt-4o-transcribe-diarize',
      query: { 'api-version': '2025-04-01-preview' },
      text: heardText,
      language: null,
      segments: utterances,
      words: false,
      speakers: { of: 'segments', labels: ['A', 'B'] },
      keyterms: null,
      sends: usual,
      url: null,
      pcm: 'wav',
    },
  ],
}
