import { speech } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@resemble/node': '3.5.3' } },
  base: '',
  simulated: '/resemble',
  asks: { speech: speech('chatterbox-turbo', { voice: '55592656', response_format: 'pcm' }) },
  differences: [
    {
      at: 'POST /stream: header.x-access-token',
      sdk: 'vendor-key-0001',
      ours: null,
      why: 'an older name of the header; the documents of the address show the other',
    },
    {
      at: 'POST /stream: header.authorization',
      sdk: null,
      ours: 'Bearer vendor-key-0001',
      why: 'an older name of the header; the documents of the address show the other',
    },
    {
      at: 'POST /stream: body.project_uuid',
      sdk: 'project-1',
      ours: null,
      why: 'the documents no longer require a project',
    },
    {
      at: 'POST /stream: body.sample_rate',
      sdk: '44100',
      ours: '48000',
      why: 'the documents name it too; the gateway makes 24,000 of it',
    },
    {
      at: 'POST /stream: body.wav_encoded_timestamps',
      sdk: 'false',
      ours: null,
      why: 'times of graphemes are not asked for',
    },
    {
      at: 'POST /stream: body.model',
      sdk: null,
      ours: 'chatterbox-turbo',
      why: 'newer than the SDK',
    },
    {
      at: 'POST /stream: body.output_format',
      sdk: null,
      ours: 'wav',
      why: 'newer than the SDK',
    },
  ],
  refusals: {
    'long-text': {
      ask: speech('chatterbox-turbo', { input: 'x'.repeat(2_500), voice: '55592656' }),
      why: 'its stream takes at most 2,000 characters',
    },
  },
}
