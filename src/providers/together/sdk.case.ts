import { chat, chats, ofAddress, speech, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { 'together-ai': '0.52.0' } },
  base: '/v1',
  simulated: '/together/v1',
  simulatedText: '/v1',
  asks: {
    ...chats('openai/gpt-oss-120b', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed', 'effort']),
    'no-thought': chat('zai-org/GLM-5', 'no-thought'),
    mp3: speech('hexgrad/Kokoro-82M', { voice: 'af_alloy', response_format: 'mp3' }),
    pcm: speech('hexgrad/Kokoro-82M', { voice: 'af_alloy', response_format: 'pcm' }),
    transcript: transcription('openai/whisper-large-v3', { language: 'de', temperature: 0.3 }),
    detailed: transcription('openai/whisper-large-v3', {
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
      diarize: true,
    }),
    address: ofAddress('openai/whisper-large-v3', { language: 'fr' }),
  },
  differences: [
    {
      of: 'tools',
      at: 'POST /v1/chat/completions: body.messages[].tool_calls[].index',
      sdk: '0',
      ours: null,
      why: "required by the SDK's types alone; the documents have none",
    },
    {
      of: 'streamed',
      at: 'POST /v1/chat/completions: body.stream_options.include_usage',
      sdk: null,
      ours: 'true',
      why: 'documented, though the SDK has no type of it',
    },
  ],
}
