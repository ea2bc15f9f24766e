import { samples, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Hume. */
export const rows: ProviderRows = {
  speech: [
    {
      below: '/hume/v0',
      model: 'hume/octave-2',
      voice: 'ito',
      missing: { voice: 'missing', status: 400 },
      speeds: { within: 1.5, beyond: 1.6 },
    },
  ],
  speechRequests: [
    {
      model: 'octave-2',
      fields: { voice: 'v', speed: 1.2, response_format: 'mp3' },
      path: '/tts/stream/file',
      body: {
        utterances: [{ text: 'Hello', voice: { id: 'v' }, speed: 1.2 }],
        format: { type: 'mp3' },
        version: '2',
        strip_headers: true,
      },
    },
    {
      model: 'octave-1',
      fields: { voice: 'v' },
      path: '/tts/stream/file',
      body: {
        utterances: [{ text: 'Hello', voice: { id: 'v' } }],
        format: { type: 'pcm' },
        version: '1',
        strip_headers: true,
      },
    },
  ],
  speechReplies: [
    {
      name: 'Hume has a rate of its own',
      reply: { body: sound },
      output: { ...samples, rate: 48_000 },
      billed: null,
    },
  ],
}
