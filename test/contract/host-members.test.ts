import { afterAll, beforeEach, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type Answer } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Request members in which hosts of OpenAI's chat completions differ from OpenAI. Together's are written after
// the request
// types of its own client; a custom server knows nothing but the format's older members, as many servers do.

const prices = { input_per_million: '1', output_per_million: '1' }
const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: () => {
    const hostAt = (preset: string, id: string, more: Partial<ProviderConfig> = {}): ProviderConfig => ({
      preset,
      id,
      base_url: `${upstream.url}/${preset}/v1`,
      api_key: 'any',
      weight: 1,
      discover: false,
      models: [{ id: `${id}/any`, upstream: 'thinker', prices }],
      ...more,
    })
    return [
      hostAt('together', 'together'),
      ...['deepseek', 'moonshot', 'zai'].map((preset) => hostAt(preset, preset)),
      hostAt('custom', 'acme'),
      hostAt('custom', 'newer', { max_tokens_field: 'max_completion_tokens' }),
    ]
  },
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

let sent: Record<string, unknown> = {}
beforeEach(() => {
  sent = {}
  upstream.answer(({ path, body }) => {
    sent = JSON.parse(body)
    const refusal = path.startsWith('/together') ? refusalOfTogether() : null
    if (refusal !== null) return Response.json({ error: { message: refusal } }, { status: 400 })
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

/** `reasoning` has `enabled` alone, and an effort is one of three. */
function refusalOfTogether(): string | null {
  const { reasoning = {}, reasoning_effort: effort = 'low' } = sent
  const unknown = Object.keys(reasoning as object).filter((name) => name !== 'enabled')
  if (unknown.length > 0) return `reasoning has no ${unknown.join()}`
  return ['low', 'medium', 'high'].includes(String(effort)) ? null : `no effort ${String(effort)}`
}

const messages = [{ role: 'user', content: 'Hi.' }]

function listOf({ json }: Answer, name: 'dropped' | 'approximated'): unknown {
  return at(json, `headrace_metadata.${name}`) ?? []
}

async function askTogether(path: string, body: object) {
  const answer = await gateway.post(path, { model: 'together/any', ...body })
  return [path, answer.status, sent['reasoning'], sent['reasoning_effort'], listOf(answer, 'approximated')]
}

test('Together is told an effort by its own member, whatever the caller speaks', async () => {
  for (const [path, body] of [
    ['/chat/completions', { messages, reasoning: { effort: 'high' } }],
    ['/chat/completions', { messages, reasoning_effort: 'high' }],
    ['/responses', { input: 'Hi.', reasoning: { effort: 'high' } }],
    [
      '/messages',
      { messages, max_tokens: 50, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
  ] as const)
    expect(await askTogether(path, body)).toEqual([path, 200, undefined, 'high', []])
})

test('Together does not think where the caller wants no thinking', async () => {
  for (const [path, body] of [
    ['/chat/completions', { messages, reasoning: { effort: 'none' } }],
    ['/chat/completions', { messages, reasoning: { enabled: false } }],
    ['/chat/completions', { messages, reasoning_effort: 'none' }],
    ['/responses', { input: 'Hi.', reasoning: { effort: 'none' } }],
    ['/messages', { messages, max_tokens: 50, thinking: { type: 'disabled' } }],
  ] as const)
    expect(await askTogether(path, body)).toEqual([path, 200, { enabled: false }, undefined, []])
})

test('Together is told to think at the nearest effort that it knows', async () => {
  const path = '/chat/completions'
  expect(await askTogether(path, { messages, reasoning: { enabled: true } })).toEqual([
    path,
    200,
    { enabled: true },
    undefined,
    [],
  ])
  for (const [effort, nearest] of [
    ['minimal', 'low'],
    ['xhigh', 'high'],
    ['max', 'high'],
  ])
    expect(await askTogether(path, { messages, reasoning: { effort } })).toEqual([
      path,
      200,
      undefined,
      nearest,
      ['reasoning.effort'],
    ])
})

// By the names of Z.ai's own client and of the documents of the other two.
test.each(['deepseek', 'moonshot', 'zai'])('%s is told by `thinking` whether to think', async (host) => {
  const off = { type: 'disabled' }
  const on = { type: 'enabled' }
  for (const [body, thinking, effort] of [
    [{ reasoning: { effort: 'none' } }, off],
    [{ reasoning: { enabled: false } }, off],
    [{ reasoning_effort: 'none' }, off],
    [{ reasoning: { enabled: true } }, on],
    // The caller's own member stays.
    [{ reasoning: { effort: 'none' }, thinking: on }, on],
    [{ reasoning: { effort: 'high' } }, undefined, 'high'],
    [{}, undefined],
  ] as const) {
    const { status } = await gateway.post('/chat/completions', { model: `${host}/any`, messages, ...body })
    expect([status, sent['thinking'], sent['reasoning'], sent['reasoning_effort']]).toEqual([
      200,
      thinking,
      undefined,
      effort,
    ])
  }
})

test('a custom server is told the limit of a messages or responses call by the name that every server knows', async () => {
  for (const [path, body] of [
    ['/messages', { messages, max_tokens: 50 }],
    ['/responses', { input: 'Hi.', max_output_tokens: 50 }],
  ] as const) {
    const { status } = await gateway.post(path, { model: 'acme/any', ...body })
    expect([path, status, sent['max_tokens'], sent['max_completion_tokens']]).toEqual([
      path,
      200,
      50,
      undefined,
    ])
  }
})

test('a custom server is told every limit by the name that its operator says it knows', async () => {
  for (const [path, body] of [
    ['/messages', { messages, max_tokens: 50 }],
    ['/responses', { input: 'Hi.', max_output_tokens: 50 }],
    ['/chat/completions', { messages, max_tokens: 50 }],
  ] as const) {
    await gateway.post(path, { model: 'newer/any', ...body })
    expect([path, sent['max_tokens'], sent['max_completion_tokens']]).toEqual([path, undefined, 50])
  }
})

test('a custom server is told the limit of a chat call by the name that its caller chose', async () => {
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    await gateway.post('/chat/completions', { model: 'acme/any', messages, [name]: 50 })
    expect(sent[name]).toBe(50)
  }
})

test('members that LiteLLM added to an answer are not sent to any host, not even a custom one', async () => {
  const noted = { provider_specific_fields: { thought_signature: 'x' } }
  const history = [
    ...messages,
    {
      role: 'assistant',
      content: null,
      ...noted,
      tool_calls: [
        { id: 'c1', type: 'function', ...noted, function: { name: 'look', arguments: '{}', ...noted } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'Sun.', my_mark: 1 },
  ]
  for (const model of ['acme/any', 'together/any']) {
    const answer = await gateway.post('/chat/completions', { model, messages: history })
    expect(answer.status).toBe(200)
    expect(JSON.stringify(sent)).not.toContain('provider_specific_fields')
    expect(listOf(answer, 'dropped')).toContain('messages[].provider_specific_fields')
    expect(at(sent, 'messages.1.tool_calls.0.function')).toEqual({ name: 'look', arguments: '{}' })
  }
  // What else its callers send a server that takes any member still reaches it.
  await gateway.post('/chat/completions', { model: 'acme/any', messages: history })
  expect(at(sent, 'messages.2.my_mark')).toBe(1)
})
