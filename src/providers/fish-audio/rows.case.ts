import { samples, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Fish Audio. */
export const rows: ProviderRows = {
  speech: [
    {
      below: '/fish-audio/v1',
      model: 'fish-audio/s1',
      clips: 3,
      // The form of this error is not documented.
      missing: { voice: 'missing', status: 400, param: null },
      speeds: { within: 2, beyond: 2.1 },
    },
  ],
  speechRequests: [
    {
      model: 's1',
      fields: { voice: 'v', speed: 2 },
      path: '/tts',
      body: { text: 'Hello', reference_id: 'v', format: 'pcm', sample_rate: 24_000, prosody: { speed: 2 } },
    },
    {
      model: 's2-pro',
      fields: { voice: 'v', response_format: 'mp3' },
      path: '/tts',
      body: { text: 'Hello', reference_id: 'v', format: 'mp3', sample_rate: 44_100, mp3_bitrate: 128 },
    },
  ],
  speechReplies: [
    { name: 'Fish Audio tells nothing', reply: { body: sound }, output: samples, billed: null },
  ],
}
