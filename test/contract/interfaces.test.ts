import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'headrace-interfaces-'))
const upstream = startScriptedUpstream()
const row = { api_key: 'key-of-a-test', weight: 1, discover: false }
const prices = { input_per_million: '1', output_per_million: '1' }
const gateway = await startTestGateway({
  folder,
  credits: '100',
  providers: () => [
    {
      ...row,
      preset: 'azure',
      base_url: `${upstream.url}/openai`,
      query: { 'api-version': '2024-10-21' },
      models: [
        { id: 'openai/gpt-5-mini', upstream: 'our gpt', prices },
        { id: 'anthropic/claude-opus-4-7', upstream: 'ours', prices },
      ],
    },
    {
      ...row,
      preset: 'deepseek',
      base_url: `${upstream.url}/v1`,
      models: [{ id: 'deepseek/deepseek-v4-pro', upstream: 'deepseek-v4-pro', prices }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
})

const chatAnswer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}
const messagesAnswer = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
}
const messages = [{ role: 'user', content: 'hello' }]

/** What the provider was sent for a call. */
async function sentFor(path: string, body: Record<string, unknown>) {
  upstream.answer((seen) => Response.json(seen.path.endsWith('/messages') ? messagesAnswer : chatAnswer))
  const { status, text } = await gateway.post(path, body)
  expect([status, text]).toEqual([200, expect.stringContaining('hi')])
  const seen = upstream.seen.at(-1)
  const keys = ['api-key', 'x-api-key', 'authorization', 'anthropic-version']
  return { path: seen?.path, keys: keys.filter((name) => seen?.headers.has(name)) }
}

test('a deployment of Azure is asked by its path with the key in its own header, Claude in messages', async () => {
  expect(await sentFor('/chat/completions', { model: 'openai/gpt-5-mini', messages })).toEqual({
    path: '/openai/deployments/our%20gpt/chat/completions',
    keys: ['api-key'],
  })
  expect(await sentFor('/chat/completions', { model: 'anthropic/claude-opus-4-7', messages })).toEqual({
    path: '/anthropic/v1/messages',
    keys: ['x-api-key', 'anthropic-version'],
  })
})

test('a caller of messages reaches a provider that has them at another address, with another header', async () => {
  const asked = { model: 'deepseek/deepseek-v4-pro', messages, max_tokens: 9 }
  expect(await sentFor('/messages', asked)).toEqual({ path: '/anthropic/v1/messages', keys: ['x-api-key'] })
  expect(await sentFor('/chat/completions', asked)).toEqual({
    path: '/v1/chat/completions',
    keys: ['authorization'],
  })
})
