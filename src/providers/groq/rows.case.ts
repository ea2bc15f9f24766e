import {
  badKey,
  envelope,
  limited,
  overloaded,
  whisperLanguages,
  type ProviderRows,
} from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Groq. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'responses', through: 'responses', address: 'https://api.groq.com/openai/v1/responses' },
  ],
  refusals: [
    {
      status: 401,
      body: envelope('Invalid API Key', { code: 'invalid_api_key' }),
      ...badKey,
    },
    {
      status: 429,
      body: envelope(
        'Request too large for model `m`: Limit 6000, Requested 9201, please reduce your message size.',
        {
          type: 'tokens',
          code: 'rate_limit_exceeded',
        },
      ),
      type: 'payload_too_large',
      ours: 413,
      next: 'elsewhere',
    },
    {
      status: 429,
      headers: { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7.66s' },
      body: envelope('Rate limit reached for model `m`', { type: 'tokens', code: 'rate_limit_exceeded' }),
      ...limited,
      retryAfterMs: 7_660,
    },
    {
      status: 498,
      body: envelope('Flex tier capacity exceeded', { type: 'flex', code: 'capacity_exceeded' }),
      ...overloaded,
    },
  ],
  transcribers: [
    {
      path: '/groq/openai/v1',
      upstream: 'whisper-large-v3',
      text: heardText,
      language: 'en',
      segments: utterances,
      words: true,
      speakers: null,
      keyterms: null,
      sends: usual,
      url: 'url',
      pcm: 'wav',
    },
  ],
  languages: [
    // npm groq-sdk 1.6.0, TranscriptionCreateParams.
    { model: 'whisper-large-v3', languages: [...whisperLanguages, 'jv', 'yue'], unknown: ['ga'] },
  ],
}
