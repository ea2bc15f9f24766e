import { chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { sambanova: '1.4.0' } },
  base: '/v1',
  simulated: '/v1',
  asks: {
    ...chats('Meta-Llama-3.3-70B-Instruct', ['plain', 'tuned', 'tools', 'schema', 'picture', 'streamed']),
    ...chats('gpt-oss-120b', ['effort', 'no-thought']),
  },
  differences: [
    {
      of: 'no-thought',
      at: 'POST /v1/chat/completions: body.*',
      why: 'the SDK has no effort `none`; whether the template of a model has a switch depends on the model',
    },
  ],
}
