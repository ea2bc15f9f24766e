import { chat, chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@anthropic-ai/sdk': '1.12.0' } },
  base: '/v1',
  simulated: '/v1',
  asks: {
    ...chats('claude-haiku-4-5', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed', 'no-thought']),
    effort: chat('claude-opus-5', 'effort'),
  },
  differences: [
    {
      at: 'POST /v1/messages: header.anthropic-version',
      sdk: '2026-10-21',
      ours: '2023-06-01',
      why: 'versions after the first refuse sampling also where a model takes it',
    },
    {
      at: 'POST /v1/messages: header.authorization',
      sdk: 'Bearer vendor-key-0001',
      ours: null,
      why: 'the API takes a key in either header',
    },
    {
      at: 'POST /v1/messages: header.x-api-key',
      sdk: null,
      ours: 'vendor-key-0001',
      why: 'the API takes a key in either header',
    },
  ],
}
