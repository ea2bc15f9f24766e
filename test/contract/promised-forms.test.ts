import { afterAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type Answer } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Answers in a form that their caller asked for, from providers that hold them to it in ways of their own.

const upstream = startScriptedUpstream()
const prices = { input_per_million: '10', output_per_million: '20' }
const provider = (preset: string, models: readonly string[]): ProviderConfig => ({
  preset,
  base_url: `${upstream.url}/${preset}/v1`,
  api_key: 'any',
  weight: 1,
  discover: false,
  only_models: true,
  models: models.map((id) => ({ id, prices })),
})
const gateway = await startTestGateway({
  providers: () => [
    provider('anthropic', ['anthropic/claude-sonnet-4-5', 'anthropic/claude-3-5-haiku']),
    // It takes JSON objects and no schemas.
    provider('deepseek', ['deepseek/deepseek-chat']),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Wire = Record<string, unknown>

const newer = 'anthropic/claude-sonnet-4-5'
const older = 'anthropic/claude-3-5-haiku'
const deepseek = 'deepseek/deepseek-chat'
const question = 'Where is it sunny?'
const open = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const bound = { ...open, properties: { city: { type: 'string', minLength: 2 } } }
const answer = '{"city":"Rome"}'

function ask(model: string, schema: Wire, more: Wire = {}): Promise<Answer> {
  return gateway.post('/chat/completions', {
    model,
    messages: [{ role: 'user', content: question }],
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema } },
    ...more,
  })
}

const sent = (): Wire => JSON.parse(upstream.seen.at(-1)?.body ?? '{}') as Wire

const chunksOf = (text: string): Wire[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Wire)

/** The text of a streamed chat answer, and its finish reason. */
function joined(text: string): { said: string; finish: unknown } {
  const chunks = chunksOf(text)
  return {
    said: chunks.map((chunk) => at(chunk, 'choices.0.delta.content') ?? '').join(''),
    finish: at(chunks.at(-1), 'choices.0.finish_reason'),
  }
}

const counted = { input_tokens: 20, output_tokens: 5 }

/** Claude answers with one block, whole or in these pieces. */
function claudeAnswers(block: Wire, deltas: readonly Wire[], stop: string): void {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', stop_sequence: null }
  upstream.answer(({ body }) => {
    if (!body.includes('"stream":true'))
      return Response.json({ ...message, content: [block], stop_reason: stop, usage: counted })
    const empty = block['type'] === 'text' ? { ...block, text: '' } : { ...block, input: {} }
    const frames = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: counted } },
      { type: 'content_block_start', index: 0, content_block: empty },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: stop, stop_sequence: null },
        usage: { output_tokens: 5 },
      },
      { type: 'message_stop' },
    ]
    return new Response(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    })
  })
}

const spoken = () =>
  claudeAnswers({ type: 'text', text: answer }, [{ type: 'text_delta', text: answer }], 'end_turn')

const given = (input: Wire) => {
  const text = JSON.stringify(input)
  claudeAnswers(
    { type: 'tool_use', id: 'toolu_1', name: 'give_answer', input },
    [text.slice(0, 5), text.slice(5)].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    'tool_use',
  )
}

/** DeepSeek answers with this text, whole or in pieces of so many characters. */
function deepseekAnswers(text: string, length: number): void {
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
  upstream.answer(({ body }) => {
    const choice = { index: 0, finish_reason: 'stop' }
    if (!body.includes('"stream":true')) {
      const message = { role: 'assistant', content: text }
      return Response.json({ id: 'c', created: 1, model: 'm', choices: [{ ...choice, message }], usage })
    }
    const pieces = text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? []
    const frames = [
      ...pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
      { choices: [{ ...choice, delta: {} }], usage },
    ].map((frame) => `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', ...frame })}\n\n`)
    return new Response(`${frames.join('')}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  })
}

test('a newer Claude is held to an open schema by its own structured output, closed', async () => {
  spoken()
  const { status, json } = await ask(newer, open)
  expect([status, at(json, 'choices.0.message.content')]).toEqual([200, answer])
  expect(at(sent(), 'output_config.format')).toEqual({
    type: 'json_schema',
    schema: { ...open, additionalProperties: false },
  })
  expect(sent()).not.toHaveProperty('system')
  expect(sent()).not.toHaveProperty('tools')
})

for (const [what, model, schema] of [
  ['an older Claude', older, open],
  ['a newer Claude whose structured output does not take the schema', newer, bound],
] as const) {
  test(`${what} gives its answer by a tool, and the caller sees text`, async () => {
    given({ city: 'Rome' })
    const { status, json } = await ask(model, schema)
    expect(status).toBe(200)
    expect(at(json, 'choices.0')).toMatchObject({
      finish_reason: 'stop',
      message: { content: answer },
    })
    expect(at(json, 'choices.0.message')).not.toHaveProperty('tool_calls')
    expect(sent()['tools']).toMatchObject([{ name: 'give_answer', input_schema: schema }])
    expect(sent()['tool_choice']).toMatchObject({ type: 'tool', name: 'give_answer' })
    expect(sent()).not.toHaveProperty('system')
    const streamed = await ask(model, schema, { stream: true })
    expect(joined(streamed.text)).toMatchObject({ said: answer, finish: 'stop' })
    expect(streamed.text).not.toContain('tool_calls')
    const response = await gateway.post('/responses', {
      model,
      input: question,
      text: { format: { type: 'json_schema', name: 'place', schema } },
    })
    expect(response.json).toMatchObject({ status: 'completed', output: [{ content: [{ text: answer }] }] })
  })
}

test('the arguments that a model gives the tool are checked, and refused if they do not fit', async () => {
  given({ city: 5 })
  expect((await ask(older, open)).status).toBe(422)
})

test('a Claude that has tools to choose among, or is to think, is told the schema in the prompt', async () => {
  const tools = [
    { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
  ]
  for (const more of [{ tools }, { reasoning: { max_tokens: 1_024 }, max_tokens: 4_000 }]) {
    spoken()
    const { status, json } = await ask(older, open, more)
    expect([status, at(json, 'choices.0.message.content')]).toEqual([200, answer])
    expect(JSON.stringify(sent()['system'])).toContain('JSON schema')
    expect(JSON.stringify(sent())).not.toContain('give_answer')
  }
})

test('JSON in a code fence is taken out of it', async () => {
  for (const fenced of [
    '```json\n{"city":"Rome"}\n```',
    '```\n{"city":"Rome"}\n```\n',
    '\n``` json\r\n{"city":"Rome"}```',
  ]) {
    deepseekAnswers(fenced, 3)
    const { status, json } = await ask(deepseek, open)
    expect([fenced, status, JSON.parse(String(at(json, 'choices.0.message.content')))]).toEqual([
      fenced,
      200,
      { city: 'Rome' },
    ])
    for (const length of [1, 4, 1_000]) {
      deepseekAnswers(fenced, length)
      const streamed = joined((await ask(deepseek, open, { stream: true })).text)
      expect([JSON.parse(streamed.said), streamed.finish]).toEqual([{ city: 'Rome' }, 'stop'])
    }
  }
})

test('a fence around text that is not JSON, and text around a fence, are refused as before', async () => {
  for (const text of ['```json\nRome\n```', 'Here it is:\n```json\n{"city":"Rome"}\n```']) {
    deepseekAnswers(text, 7)
    expect((await ask(deepseek, open)).status).toBe(422)
    expect((await ask(deepseek, open, { stream: true })).text).toContain('"code":422')
  }
})
