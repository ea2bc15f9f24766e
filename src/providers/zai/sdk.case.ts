import { chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'python', versions: { 'zai-sdk': '0.2.3' } },
  base: '/api/paas/v4',
  simulated: '/v1',
  asks: chats('glm-5.2', ['plain', 'tuned', 'effort', 'no-thought']),
  differences: [
    {
      at: 'POST /api/paas/v4/chat/completions: body.response_format',
      sdk: 'null',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /api/paas/v4/chat/completions: body.thinking',
      sdk: 'null',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'tuned',
      at: 'POST /api/paas/v4/chat/completions: body.seed',
      sdk: '7',
      ours: null,
      why: 'the documents of the address have no seed',
    },
  ],
}
