import { chat, chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { 'cohere-ai': '8.1.0' } },
  base: '',
  simulated: '/cohere',
  asks: {
    ...chats('command-a-03-2025', ['plain', 'tuned', 'tools', 'schema', 'streamed']),
    effort: chat('command-a-reasoning-08-2025', 'effort'),
    'no-thought': chat('command-a-reasoning-08-2025', 'no-thought'),
    picture: chat('command-a-vision-07-2025', 'picture'),
    embedding: {
      path: '/embeddings',
      upstream: 'embed-v4.0',
      body: { input: ['Hello'], dimensions: 256, input_type: 'search_query' },
    },
  },
  differences: [
    {
      of: 'effort',
      at: '*: body.thinking.token_budget',
      why: 'the provider knows budgets and no efforts; an effort is a share of the output limit',
    },
  ],
}
