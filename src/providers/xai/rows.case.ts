import { badKey, samples, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { heardText, languageSent, whole } from '../../../test/support/transcribers.ts'
import { listOf } from '../../../test/recordings/transcripts.ts'

/** The rows of the shared tests for xAI. */
export const rows: ProviderRows = {
  addresses: [{ asked: 'responses', through: 'responses', address: 'https://api.x.ai/v1/responses' }],
  refusals: [
    {
      status: 400,
      body: { code: 'invalid-argument', error: 'Incorrect API key provided: xa***78.' },
      ...badKey,
    },
  ],
  transcribers: [
    {
      path: '/xai/v1',
      upstream: 'grok-stt',
      text: heardText,
      language: 'en',
      segments: whole,
      words: true,
      speakers: { of: 'words', labels: ['0', '1'] },
      keyterms: [
        ['keyterm', 'head race'],
        ['keyterm', 'sluice'],
      ],
      sends: { language: languageSent, temperature: null },
      url: null,
      pcm: [
        ['audio_format', 'pcm'],
        ['sample_rate', '16000'],
      ],
    },
  ],
  transcripts: [
    {
      upstream: 'grok-stt',
      file: '../outside/x2747.json',
      isExchange: true,
      words: true,
      diarize: true,
      expected: (wire) => ({
        text: wire['text'],
        language: 'en',
        duration: 3.7,
        words: listOf(wire['words']).map(({ text, start, end }) => ({
          word: text,
          start,
          end,
          speaker: 0,
          speaker_label: '0',
        })),
      }),
    },
  ],
  speech: [
    {
      below: '/xai/v1',
      model: 'x-ai/grok-tts',
      voice: 'eve',
      missing: { voice: 'missing', status: 400 },
      speeds: { within: 1.5, beyond: 1.6 },
    },
  ],
  speechRequests: [
    {
      model: 'grok-tts',
      fields: { voice: 'eve', speed: 1.5 },
      path: '/tts',
      body: {
        text: 'Hello',
        voice_id: 'eve',
        language: 'auto',
        output_format: { codec: 'pcm', sample_rate: 24_000 },
        speed: 1.5,
      },
    },
    {
      model: 'grok-tts',
      fields: { voice: 'ara', response_format: 'mp3' },
      path: '/tts',
      body: {
        text: 'Hello',
        voice_id: 'ara',
        language: 'auto',
        output_format: { codec: 'mp3', sample_rate: 24_000, bit_rate: 128_000 },
      },
    },
  ],
  speechReplies: [{ name: 'xAI tells nothing', reply: { body: sound }, output: samples, billed: null }],
}
