import { expect, test } from 'bun:test'
import { addressAt, chooseInterface } from '../../formats/text/text-interface.ts'
import { amazonBedrockMantle } from './provider.ts'

// Recorded by another project’s client: gpt-oss below /v1, gpt-5.6 below /openai/v1.
test.each([
  ['openai.gpt-oss-120b', 'responses', '/v1/responses'],
  ['openai.gpt-oss-safeguard-20b', 'chat', '/v1/chat/completions'],
  ['openai.gpt-5.6-luna', 'responses', '/openai/v1/responses'],
  ['qwen.qwen3-coder-480b', 'chat', '/v1/chat/completions'],
  ['anthropic.claude-opus-4-8', 'messages', '/anthropic/v1/messages'],
  ['anthropic.claude-opus-4-8', 'chat', '/anthropic/v1/messages'],
] as const)('asks each model below its own path: %s for %s', (upstreamModel, format, path) => {
  const asked = { format, parameters: [], model: 'own/name', upstreamModel }
  const chosen = chooseInterface(amazonBedrockMantle.adapters.language ?? [], asked)
  if (chosen === null) throw new Error('no interface')
  const target = { model: upstreamModel, stream: false }
  expect(addressAt('https://bedrock-mantle.us-east-1.api.aws', chosen, target).path).toBe(path)
})
