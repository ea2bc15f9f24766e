import { chat, chats, ofAddress, speech, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@mistralai/mistralai': '2.7.0' } },
  base: '/v1',
  simulated: '/mistral/v1',
  simulatedText: '/v1',
  asks: {
    ...chats('mistral-medium-latest', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed']),
    effort: chat('magistral-medium-latest', 'effort'),
    'no-thought': chat('magistral-medium-latest', 'no-thought'),
    embedding: {
      path: '/embeddings',
      upstream: 'codestral-embed',
      body: { input: ['Hello'], dimensions: 256 },
    },
    mp3: speech('voxtral-mini-tts-3-0', { voice: 'voice_478', response_format: 'mp3' }),
    transcript: transcription('voxtral-mini-2602', { language: 'de', temperature: 0.3 }),
    words: transcription('voxtral-mini-2602', {
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
    }),
    terms: transcription('voxtral-mini-2602', { keyterms: ['headrace', 'sluice'] }),
    address: ofAddress('voxtral-mini-2602', { language: 'fr' }),
  },
  differences: [
    {
      at: 'POST /v1/chat/completions: body.stream',
      sdk: 'false',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/audio/transcriptions: body.stream',
      sdk: 'false',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/audio/transcriptions: body.diarize',
      sdk: 'false',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'tools',
      at: 'POST /v1/chat/completions: body.messages[].tool_calls[].index',
      sdk: '0',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'tools',
      at: 'POST /v1/chat/completions: body.messages[].prefix',
      sdk: 'false',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'tools',
      at: 'POST /v1/chat/completions: body.messages[].tool_call*id',
      why: 'its ids have nine letters and figures, into which the gateway turns those of other makers',
    },
  ],
}
