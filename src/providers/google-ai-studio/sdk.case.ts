import { chat, chats, speech } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@google/genai': '2.32.0' } },
  base: '/v1beta',
  simulated: '/v1beta',
  asks: {
    ...chats('gemini-2.5-flash', ['plain', 'tuned', 'tools', 'schema', 'streamed', 'no-thought']),
    effort: chat('gemini-3-flash-preview', 'effort'),
    embedding: {
      path: '/embeddings',
      upstream: 'gemini-embedding-001',
      body: { input: ['Hello'], dimensions: 256 },
    },
    speech: speech('gemini-2.5-flash-preview-tts', { voice: 'Kore', response_format: 'pcm' }),
  },
  differences: [
    {
      at: '*:generateContent: body.systemInstruction.role',
      sdk: 'user',
      ours: null,
      why: 'an instruction has no speaker; the member is not read',
    },
    {
      at: '*:batchEmbedContents: body.requests[].content.role',
      sdk: 'user',
      ours: null,
      why: 'what becomes a vector has no speaker; the member is not read',
    },
  ],
}
