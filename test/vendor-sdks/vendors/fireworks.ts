import { chat, chats } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const fireworks: Vendor = {
  slug: 'fireworks',
  sdk: { registry: 'python', versions: { 'fireworks-ai': '1.2.28' } },
  program: 'fireworks.py',
  base: '/inference/v1',
  simulated: '/v1',
  asks: {
    ...chats('accounts/fireworks/models/gpt-oss-120b', ['plain', 'tuned', 'tools', 'schema', 'effort']),
    'no-thought': chat('accounts/fireworks/models/glm-5', 'no-thought'),
  },
  differences: [],
}
