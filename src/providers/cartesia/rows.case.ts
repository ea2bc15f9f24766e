import { whisperLanguages, samples, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { languageSent, sentences, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for Cartesia. */
export const rows: ProviderRows = {
  transcribers: [
    {
      path: '/cartesia',
      upstream: 'ink-whisper',
      text: sentences,
      language: 'en',
      segments: utterances,
      words: true,
      speakers: null,
      keyterms: null,
      sends: { language: languageSent, temperature: null },
      url: null,
      pcm: [
        ['encoding', 'pcm_s16le'],
        ['sample_rate', '16000'],
      ],
    },
  ],
  transcripts: [
    {
      upstream: 'ink-whisper',
      file: 'cartesia/src/__fixtures__/cartesia-transcription.json',
      words: true,
      expected: (wire) => ({
        text: wire['text'],
        language: 'en',
        duration: wire['duration'],
        words: wire['words'],
        segments: [{ id: 0, start: 0.199, end: 2.479, text: wire['text'] }],
      }),
    },
  ],
  languages: [
    // npm @cartesia/cartesia-js 4.2.0, STTTranscribeParams.
    { model: 'ink-whisper', languages: [...whisperLanguages, 'jw', 'yue'], unknown: ['ga'] },
  ],
  speech: [
    {
      below: '/cartesia',
      model: 'cartesia/sonic-3',
      voice: 'a0e99841',
      missing: { voice: 'missing', status: 400 },
      speeds: { within: 1.5, beyond: 1.6 },
    },
  ],
  speechRequests: [
    {
      model: 'sonic-3',
      fields: { voice: 'v', speed: 1.5 },
      path: '/tts/bytes',
      body: {
        model_id: 'sonic-3',
        transcript: 'Hello',
        voice: 'v',
        output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 },
        generation_config: { speed: 1.5 },
      },
    },
    {
      model: 'sonic-3',
      fields: { voice: 'v', response_format: 'mp3' },
      path: '/tts/bytes',
      body: {
        model_id: 'sonic-3',
        transcript: 'Hello',
        voice: 'v',
        output_format: { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 },
      },
    },
  ],
  speechReplies: [{ name: 'Cartesia tells nothing', reply: { body: sound }, output: samples, billed: null }],
}
