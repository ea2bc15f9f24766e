import { inDetail, speech, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@ai-sdk/xai': '5.0.12' } },
  base: '/v1',
  simulated: '/xai/v1',
  simulatedText: '/v1',
  asks: {
    responses: {
      path: '/responses',
      upstream: 'grok-4',
      body: {
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Say hello' }] }],
        max_output_tokens: 100,
      },
    },
    mp3: speech('grok-tts', { voice: 'eve', response_format: 'mp3' }),
    pcm: speech('grok-tts', { voice: 'ara', response_format: 'pcm', speed: 1.2 }),
    'custom-voice': speech('grok-tts', { voice: 'nlbqfwie', response_format: 'mp3' }),
    transcript: transcription('grok-stt'),
    detailed: transcription('grok-stt', inDetail),
  },
  differences: [
    {
      at: 'POST /v1/responses: body.store',
      sdk: null,
      ours: 'false',
      why: 'nothing that passes through the gateway is to be kept',
    },
    {
      at: 'POST /v1/responses: body.include[]',
      sdk: null,
      ours: 'reasoning.encrypted_content',
      why: 'thoughts come sealed, so that a caller can send them back',
    },
  ],
}
