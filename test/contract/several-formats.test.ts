import { afterAll, beforeEach, expect, test } from 'bun:test'
import { startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A provider whose models are asked in several formats at one address, and one that takes two of them.

const upstream = startScriptedUpstream()
const model = 'fireworks/tides'
const other = 'novita/tides'
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'fireworks',
      base_url: `${upstream.url}/inference/v1`,
      api_key: 'fw-key',
      weight: 1,
      discover: false,
      models: [{ id: model, prices: { input_per_million: '1', output_per_million: '1' } }],
    },
    {
      preset: 'novita',
      base_url: `${upstream.url}/openai/v1`,
      api_key: 'nv-key',
      weight: 1,
      discover: false,
      models: [{ id: other, prices: { input_per_million: '1', output_per_million: '1' } }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'tides',
  content: [{ type: 'text', text: 'Two a day.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 3 },
}
const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'tides',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Two a day.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
}

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(({ path }) => Response.json(path.endsWith('/messages') ? message : completion))
})

const messages = [{ role: 'user', content: 'How many tides?' }]

test.each([
  ['messages', '/messages', '/inference/v1/messages'],
  ['chat completions', '/chat/completions', '/inference/v1/chat/completions'],
])('a caller of %s is passed on in the format that came', async (_, path, asked) => {
  const { status, json } = await gateway.post(path, { model, max_tokens: 20, messages })
  expect(status).toBe(200)
  expect(upstream.seen.map((seen) => seen.path)).toEqual([asked])
  expect(upstream.seen[0]?.headers.get('authorization')).toBe('Bearer fw-key')
  expect(JSON.parse(upstream.seen[0]?.body ?? '')).toEqual({ model: 'tides', max_tokens: 20, messages })
  expect(JSON.stringify(json)).toContain('Two a day.')
})

test('a caller of a third format is translated to the first that the provider names', async () => {
  const { status, json } = await gateway.post('/responses', { model: other, input: 'How many tides?' })
  expect(status).toBe(200)
  expect(upstream.seen.map((seen) => seen.path)).toEqual(['/openai/v1/chat/completions'])
  expect(JSON.stringify(json)).toContain('Two a day.')
})
