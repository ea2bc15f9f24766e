import { chat, chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'python', versions: { 'fireworks-ai': '1.2.28' } },
  base: '/inference/v1',
  simulated: '/v1',
  asks: {
    ...chats('accounts/fireworks/models/gpt-oss-120b', ['plain', 'tuned', 'tools', 'schema', 'effort']),
    'no-thought': chat('accounts/fireworks/models/glm-5', 'no-thought'),
  },
  differences: [],
}
