import { chats } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const perplexity: Vendor = {
  slug: 'perplexity',
  sdk: { registry: 'npm', versions: { '@perplexity-ai/perplexity_ai': '0.38.5' } },
  program: 'perplexity.ts',
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
