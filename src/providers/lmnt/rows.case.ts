import { samples, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for LMNT. */
export const rows: ProviderRows = {
  speech: [
    {
      below: '/lmnt/v1',
      model: 'lmnt/blizzard',
      voice: 'leah',
      missing: { voice: 'missing', status: 400 },
    },
  ],
  speechRequests: [
    {
      model: 'blizzard',
      fields: { voice: 'v' },
      path: '/ai/speech/bytes',
      body: { text: 'Hello', voice: 'v', model: 'blizzard', format: 'pcm_s16le', sample_rate: 24_000 },
    },
    {
      model: 'blizzard',
      fields: { voice: 'v', response_format: 'mp3' },
      path: '/ai/speech/bytes',
      body: { text: 'Hello', voice: 'v', model: 'blizzard', format: 'mp3', sample_rate: 24_000 },
    },
  ],
  speechReplies: [{ name: 'LMNT tells nothing', reply: { body: sound }, output: samples, billed: null }],
}
