import { chat, speech, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

/** The URL of a resource with versions of its API. */
const versioned = { base: '/openai', provider: { query: { 'api-version': '2025-04-01-preview' } } }

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { openai: '6.49.0' } },
  base: '/openai/v1',
  simulated: '/openai/v1',
  asks: {
    plain: chat('gpt-4o-mini', 'plain'),
    versioned: chat('gpt-4o-mini', 'tools', versioned),
    speech: speech('tts-1', { voice: 'alloy', response_format: 'mp3' }, versioned),
    transcript: transcription('whisper-1', {}, versioned),
  },
  differences: [
    {
      of: 'plain',
      at: 'POST /openai/v1/chat/completions: header.authorization',
      sdk: 'Bearer vendor-key-0001',
      ours: null,
      why: 'the resource takes a key in either header',
    },
    {
      of: 'plain',
      at: 'POST /openai/v1/chat/completions: header.api-key',
      sdk: null,
      ours: 'vendor-key-0001',
      why: 'the resource takes a key in either header',
    },
  ],
}
