import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// An unknown server of OpenAI's format that refuses members that the format does not have. The list of members
// follows the format's document.

const known: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning_effort',
  'temperature',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
])

const upstream = startScriptedUpstream()
const model = 'acme/thinker'
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'custom',
      id: 'acme',
      base_url: `${upstream.url}/v1`,
      weight: 1,
      discover: false,
      models: [{ id: model, prices: { input_per_million: '1', output_per_million: '1' } }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

let sent: Record<string, unknown> = {}
beforeEach(() => {
  upstream.answer(({ body }) => {
    sent = JSON.parse(body)
    const unknown = Object.keys(sent).filter((name) => !known.has(name))
    if (unknown.length > 0)
      return Response.json({ error: { message: `Unknown: ${unknown.join()}` } }, { status: 400 })
    return Response.json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'thinker',
      choices: [{ index: 0, message: { role: 'assistant', content: 'So.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
    })
  })
})

const messages = [{ role: 'user', content: 'Hi.' }]

test('an unknown server is told a level of thinking in the format’s own member, whatever the caller speaks', async () => {
  const callers: [path: string, body: Record<string, unknown>, level: string][] = [
    [
      '/messages',
      { max_tokens: 9000, messages, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      'high',
    ],
    ['/messages', { max_tokens: 9000, messages, thinking: { type: 'enabled', budget_tokens: 2048 } }, 'low'],
    ['/responses', { input: 'Hi.', reasoning: { effort: 'medium', summary: 'auto' } }, 'medium'],
  ]
  for (const [path, body, level] of callers) {
    const { status } = await gateway.post(path, { model, ...body })
    expect([path, status, sent['reasoning_effort']]).toEqual([path, 200, level])
    expect(sent).not.toHaveProperty('reasoning')
  }
})

test('a caller of the same format has its own members passed on to an unknown server', async () => {
  const level = await gateway.post('/chat/completions', { model, messages, reasoning_effort: 'low' })
  expect([level.status, sent['reasoning_effort']]).toEqual([200, 'low'])
  const reasoning = { effort: 'low', exclude: true }
  const refused = await gateway.post('/chat/completions', { model, messages, reasoning })
  expect([refused.status, at(refused.json, 'error.code')]).toEqual([400, 400])
  expect(sent['reasoning']).toEqual(reasoning)
})
