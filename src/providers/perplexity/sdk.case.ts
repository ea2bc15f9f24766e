import { chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@perplexity-ai/perplexity_ai': '0.38.5' } },
  base: '/v1',
  simulated: '/v1',
  asks: {
    ...chats('openai/gpt-5.4', ['plain', 'streamed']),
    embedding: {
      path: '/embeddings',
      upstream: 'pplx-embed-v1-0.6b',
      body: { input: ['Hello'], dimensions: 256 },
    },
  },
  differences: [
    {
      at: 'POST /v1/responses: body.store',
      sdk: null,
      ours: 'false',
      why: 'nothing that passes through the gateway is to be kept',
    },
  ],
}
