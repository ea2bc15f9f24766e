import { chats } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const cerebras: Vendor = {
  slug: 'cerebras',
  sdk: { registry: 'npm', versions: { '@cerebras/cerebras_cloud_sdk': '1.91.0' } },
  program: 'cerebras.ts',
  base: '/v1',
  simulated: '/v1',
  asks: {
    ...chats('gpt-oss-120b', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed']),
    ...chats('zai-glm-4.7', ['effort', 'no-thought']),
  },
  differences: [],
}
