import { faulty, limited, whisperLanguages, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Fireworks. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'https://api.fireworks.ai/inference/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'https://api.fireworks.ai/inference/v1/responses' },
  ],
  refusals: [
    {
      status: 429,
      body: {
        fault: {
          faultstring: 'Rate limit quota violation',
          detail: { errorcode: 'policies.ratelimit.QuotaViolation' },
        },
      },
      ...limited,
    },
    { status: 400, body: { error: 'invalid tool schema' }, ...faulty },
  ],
  transcribers: [
    {
      path: '/fireworks/v1',
      upstream: 'whisper-v3',
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
  languages: [
    // https://docs.fireworks.ai/api-reference/audio-transcriptions
    { model: 'whisper-v3', languages: [...whisperLanguages, 'jw', 'yue'], unknown: ['ga'] },
  ],
}
