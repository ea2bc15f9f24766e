import { chat } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

const messages = [{ role: 'user', content: 'Say hello' }]

export const sdk: VendorSdk = {
  packages: {
    registry: 'npm',
    versions: { '@anthropic-ai/bedrock-sdk': '1.1.3', openai: '6.49.0' },
    isLarge: true,
  },
  base: '',
  simulated: '',
  asks: {
    plain: chat('openai.gpt-oss-120b', 'plain'),
    messages: {
      path: '/messages',
      upstream: 'anthropic.claude-opus-4-8',
      body: { max_tokens: 100, messages },
    },
  },
  differences: [
    {
      of: 'messages',
      at: 'POST /anthropic/v1/messages: header.anthropic-version',
      sdk: '2026-10-21',
      ours: '2023-06-01',
      why: 'the older version is the one whose answers are read here; both are served',
    },
  ],
}
