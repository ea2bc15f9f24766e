import { chat, chats, speech, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@openrouter/sdk': '1.3.19' } },
  base: '/api/v1',
  simulated: '/openrouter/api/v1',
  simulatedText: '/v1',
  asks: {
    ...chats('openai/gpt-4o-mini', ['plain', 'tuned', 'schema', 'streamed']),
    effort: chat('openai/gpt-4o-mini', 'effort'),
    speech: speech('openai/gpt-4o-mini-tts', { voice: 'alloy', response_format: 'mp3' }),
    transcript: transcription('openai/whisper-1', { language: 'de', temperature: 0.3 }),
  },
  differences: [
    {
      at: 'POST /api/v1/chat/completions: body.stream',
      sdk: 'false',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'streamed',
      at: 'POST /api/v1/chat/completions: body.stream_options.include_usage',
      sdk: 'true',
      ours: null,
      why: 'streams there tell their usage unasked; the member is deprecated',
    },
    {
      at: 'POST /api/v1/audio/speech: header.accept',
      sdk: 'audio/*',
      ours: null,
      why: 'the format is a member of the body',
    },
  ],
}
