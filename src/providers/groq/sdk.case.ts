import { chat, chats, ofAddress, speech, transcription, withWords } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { 'groq-sdk': '1.6.0' } },
  base: '/openai/v1',
  simulated: '/groq/openai/v1',
  simulatedText: '/v1',
  asks: {
    ...chats('openai/gpt-oss-120b', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed', 'effort']),
    'no-thought': chat('qwen/qwen3-32b', 'no-thought'),
    speech: speech('canopylabs/orpheus-v1-english', { voice: 'troy', response_format: 'pcm' }),
    transcript: transcription('whisper-large-v3'),
    words: transcription('whisper-large-v3-turbo', { ...withWords, temperature: 0.3 }),
    address: ofAddress('whisper-large-v3', { language: 'fr' }),
  },
  differences: [
    {
      of: 'streamed',
      at: 'POST /openai/v1/chat/completions: body.stream_options.include_usage',
      sdk: null,
      ours: 'true',
      why: 'documented, though the SDK has no type of it; without it a stream tells its usage in a member of its own',
    },
    {
      at: 'POST /openai/v1/audio/speech: header.accept',
      sdk: 'audio/wav',
      ours: null,
      why: 'the format is a member of the body',
    },
  ],
}
