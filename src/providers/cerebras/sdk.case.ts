import { chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@cerebras/cerebras_cloud_sdk': '1.91.0' } },
  base: '/v1',
  simulated: '/v1',
  asks: {
    ...chats('gpt-oss-120b', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed']),
    ...chats('zai-glm-4.7', ['effort', 'no-thought']),
  },
  differences: [],
}
