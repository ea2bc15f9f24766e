import { chat, chats } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'

export const sdk: VendorSdk = {
  packages: {
    registry: 'npm',
    versions: { '@aws-sdk/client-bedrock-runtime': '3.1164.0', '@anthropic-ai/bedrock-sdk': '1.1.3' },
    isLarge: true,
  },
  base: '',
  simulated: '',
  asks: {
    ...chats('us.amazon.nova-2-lite-v1:0', ['plain', 'tools', 'streamed']),
    tuned: chat(claude, 'tuned'),
    schema: chat(claude, 'schema'),
    effort: chat('us.amazon.nova-2-lite-v1:0', 'effort'),
    messages: {
      path: '/messages',
      upstream: claude,
      body: { max_tokens: 100, messages: [{ role: 'user', content: 'Say hello' }] },
    },
    'messages-streamed': {
      path: '/messages',
      upstream: claude,
      body: { max_tokens: 100, messages: [{ role: 'user', content: 'Say hello' }], stream: true },
    },
    titan: {
      path: '/embeddings',
      upstream: 'amazon.titan-embed-text-v2:0',
      body: { input: ['Hello'], dimensions: 256 },
    },
    cohere: {
      path: '/embeddings',
      upstream: 'cohere.embed-v4:0',
      body: { input: ['Hello'], input_type: 'search_query' },
    },
  },
  differences: [
    {
      at: '*: header.amz-sdk-*',
      why: 'the SDK counts its own attempts in them',
    },
    { at: '*: header.x-amz-user-agent', why: 'names the SDK' },
    {
      of: 'streamed',
      at: '*/converse-stream: header.accept',
      sdk: null,
      ours: 'application/vnd.amazon.eventstream',
      why: 'says what comes anyway',
    },
    {
      of: 'messages',
      at: '*: body.anthropic_version',
      sdk: '2026-10-21',
      ours: 'bedrock-2023-05-31',
      why: 'models up to Opus 4.6 refuse the newer one here, and all take the older',
    },
    {
      of: 'messages-streamed',
      at: '*: body.anthropic_version',
      sdk: '2026-10-21',
      ours: 'bedrock-2023-05-31',
      why: 'models up to Opus 4.6 refuse the newer one here, and all take the older',
    },
  ],
}
