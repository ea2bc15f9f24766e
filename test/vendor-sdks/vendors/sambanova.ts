import { chats } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const sambanova: Vendor = {
  slug: 'sambanova',
  sdk: { registry: 'npm', versions: { sambanova: '1.4.0' } },
  program: 'sambanova.ts',
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
