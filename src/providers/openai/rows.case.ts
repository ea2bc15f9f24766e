import {
  badKey,
  envelope,
  limited,
  noMoney,
  tooLong,
  type ProviderRows,
} from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances, whole } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for OpenAI. */
export const rows: ProviderRows = {
  addresses: [{ asked: 'responses', through: 'responses', address: 'https://api.openai.com/v1/responses' }],
  refusals: [
    {
      status: 401,
      body: envelope('Incorrect API key provided: sk-proj-abcd1234efgh5678.', { code: 'invalid_api_key' }),
      ...badKey,
    },
    {
      status: 429,
      body: envelope('You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
      ...noMoney,
    },
    {
      status: 400,
      body: envelope('Your input exceeds the context window of this model.', {
        param: 'input',
        code: 'context_length_exceeded',
      }),
      ...tooLong,
    },
    {
      status: 429,
      headers: { 'retry-after-ms': '1500', 'retry-after': '2' },
      body: envelope('Rate limit reached for requests', { type: 'requests', code: 'rate_limit_exceeded' }),
      ...limited,
      retryAfterMs: 1_500,
    },
  ],
  transcribers: [
    {
      path: '/v1',
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
      variant: 'tokens',
      path: '/v1',
      upstream: 'gpt-4o-transcribe',
      text: heardText,
      language: null,
      segments: whole,
      words: false,
      speakers: null,
      keyterms: null,
      sends: usual,
      url: null,
      pcm: 'wav',
      streams: true,
    },
    {
      variant: 'diarize',
      path: '/v1',
      upstream: 'gpt-4o-transcribe-diarize',
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
    {
      variant: 'keywords',
      path: '/v1',
      upstream: 'gpt-transcribe',
      text: heardText,
      language: 'en',
      segments: whole,
      words: false,
      speakers: null,
      keyterms: [
        ['keywords[]', 'head race'],
        ['keywords[]', 'sluice'],
      ],
      sends: usual,
      url: null,
      pcm: 'wav',
      streams: true,
    },
  ],
  transcripts: [
    {
      upstream: 'whisper-1',
      file: 'openai/src/transcription/__fixtures__/openai-transcription.json',
      words: true,
      expected: (wire) => ({
        text: wire['text'],
        language: 'en',
        duration: wire['duration'],
        words: wire['words'],
      }),
    },
  ],
}
