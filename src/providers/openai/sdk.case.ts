import { chat, chats, speech, transcription, withWords } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { openai: '6.49.0' } },
  base: '/v1',
  simulated: '/v1',
  asks: {
    ...chats('gpt-4o-mini', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed']),
    effort: chat('o4-mini', 'effort'),
    responses: chat('gpt-5.1-codex', 'schema'),
    embedding: {
      path: '/embeddings',
      upstream: 'text-embedding-3-small',
      body: { input: ['Hello'], dimensions: 256 },
    },
    mp3: speech('gpt-4o-mini-tts', { voice: 'alloy', response_format: 'mp3' }),
    pcm: speech('gpt-4o-mini-tts', { voice: 'alloy', response_format: 'pcm', speed: 1.2 }),
    words: transcription('whisper-1', { ...withWords, temperature: 0.3 }),
    transcript: transcription('gpt-4o-transcribe'),
    speakers: transcription('gpt-4o-transcribe-diarize', { response_format: 'verbose_json' }),
  },
  differences: [
    {
      at: 'POST /v1/embeddings: body.encoding_format',
      sdk: 'float',
      ours: null,
      why: 'without it floats come',
    },
  ],
}
