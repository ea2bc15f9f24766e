import { chat, chats, speech } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const googleAiStudio: Vendor = {
  slug: 'google-ai-studio',
  sdk: { registry: 'npm', versions: { '@google/genai': '2.32.0' } },
  program: 'google-ai-studio.ts',
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
