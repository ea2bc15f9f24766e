import { chats } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const zai: Vendor = {
  slug: 'zai',
  sdk: { registry: 'python', versions: { 'zai-sdk': '0.2.3' } },
  program: 'zai.py',
  base: '/api/paas/v4',
  simulated: '/v1',
  asks: chats('glm-5.2', ['plain', 'tuned', 'effort', 'no-thought']),
  differences: [
    {
      at: 'POST /api/paas/v4/chat/completions: body.response_format',
      sdk: 'null',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      at: 'POST /api/paas/v4/chat/completions: body.thinking',
      sdk: 'null',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'tuned',
      at: 'POST /api/paas/v4/chat/completions: body.seed',
      sdk: '7',
      ours: null,
      why: 'the documents of the address have no seed',
    },
  ],
}
