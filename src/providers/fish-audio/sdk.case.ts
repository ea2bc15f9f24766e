import { speech } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'python', versions: { 'fish-audio-sdk': '1.3.0' } },
  base: '/v1',
  simulated: '/fish-audio/v1',
  asks: {
    mp3: speech('s1', { voice: '802e3bc2b27e', response_format: 'mp3' }),
    pcm: speech('s1', { voice: '802e3bc2b27e', response_format: 'pcm', speed: 1.2 }),
  },
  differences: [
    {
      at: 'POST /v1/tts: header.content-type',
      sdk: 'application/msgpack',
      ours: 'application/json',
      why: 'JSON is documented too; the gateway sends MessagePack where there are clips',
    },
    {
      at: 'POST /v1/tts: body.chunk_length',
      sdk: '200',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.opus_bitrate',
      sdk: '32',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.references[]',
      sdk: '',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.normalize',
      sdk: 'true',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.top_p',
      sdk: '0.7',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.temperature',
      sdk: '0.7',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.max_new_tokens',
      sdk: '1024',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.repetition_penalty',
      sdk: '1.2',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.min_chunk_length',
      sdk: '50',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.condition_on_previous_chunks',
      sdk: 'true',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.early_stop_threshold',
      sdk: '1',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /v1/tts: body.latency',
      sdk: 'balanced',
      ours: null,
      why: 'the SDK chooses the faster mode; without it the vendor makes the better sound',
    },
    {
      of: 'pcm',
      at: 'POST /v1/tts: body.mp3_bitrate',
      sdk: '128',
      ours: null,
      why: 'the SDK spells out its default, also for samples',
    },
    {
      of: 'pcm',
      at: 'POST /v1/tts: body.prosody.volume',
      sdk: '0',
      ours: null,
      why: 'the SDK spells out its default',
    },
  ],
}
