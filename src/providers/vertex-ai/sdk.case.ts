import { chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

const place = { region: 'europe-west4', project: 'p1', key_form: 'bearer' }

export const sdk: VendorSdk = {
  packages: {
    registry: 'npm',
    versions: { '@google/genai': '2.32.0', '@anthropic-ai/vertex-sdk': '1.1.3' },
    isLarge: true,
  },
  base: '/v1beta1/projects/p1/locations/europe-west4',
  simulated: '',
  asks: {
    ...Object.fromEntries(
      Object.entries(chats('gemini-2.5-flash', ['plain', 'tuned', 'streamed'])).map(([name, ask]) => [
        name,
        { ...ask, provider: place },
      ]),
    ),
    messages: {
      path: '/messages',
      upstream: 'claude-sonnet-4-5@20250929',
      body: { max_tokens: 100, messages: [{ role: 'user', content: 'Say hello' }] },
      provider: place,
    },
  },
  differences: [
    {
      of: 'messages',
      at: '*:rawPredict: body.anthropic_version',
      sdk: '2026-10-21',
      ours: 'vertex-2023-10-16',
      why: 'the version that the documents of this service name',
    },
    {
      at: '*: body.systemInstruction.role',
      sdk: 'user',
      ours: null,
      why: 'an instruction has no speaker; the member is not read',
    },
  ],
}
