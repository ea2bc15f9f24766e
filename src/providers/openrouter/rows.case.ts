import { badKey, noMoney, tooLong, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for OpenRouter. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'https://openrouter.ai/api/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'https://openrouter.ai/api/v1/responses' },
  ],
  refusals: [
    {
      status: 401,
      body: { error: { message: 'User not found.', code: 401 } },
      ...badKey,
    },
    {
      status: 402,
      body: { error: { message: 'Insufficient credits.', code: 402 } },
      ...noMoney,
    },
    {
      status: 400,
      body: {
        error: {
          message: "This endpoint's maximum context length is 200000 tokens.",
          code: 400,
          metadata: { previous_errors: [{ code: 400, message: 'x' }] },
        },
      },
      ...tooLong,
    },
  ],
  transcribers: [
    {
      path: '/openrouter/api/v1',
      upstream: 'openai/whisper-1',
      text: heardText,
      language: 'en',
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: null,
      keyterms: null,
      sends: usual,
      url: 'url',
      pcm: [['format', 'pcm']],
      config: ['', 'input_audio'],
    },
    {
      variant: 'speakers',
      path: '/openrouter/api/v1',
      upstream: 'deepgram/nova-3',
      text: heardText,
      language: 'en',
      wordConfidence: 0.97,
      segments: utterances,
      words: true,
      speakers: { of: 'words', labels: ['speaker_0', 'speaker_1'] },
      keyterms: [['keyterms', '["head race","sluice"]']],
      sends: usual,
      url: 'url',
      pcm: [['format', 'pcm']],
      config: ['', 'input_audio'],
    },
  ],
}
