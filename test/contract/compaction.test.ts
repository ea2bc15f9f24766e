import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { operations } from '../../src/execution/operations.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { connectSocket } from '../support/socket-client.ts'

// Compaction of conversations as Codex asks for it (an item `compaction_trigger` at the end) and as OpenAI's SDK does
// (`responses.compact`). The providers know nothing of it: one speaks chat, one messages, one OpenAI's responses.

const upstream = startScriptedUpstream()
const prices = { input_per_million: '1', output_per_million: '1' }
const row = (id: string, more: Record<string, unknown>) => ({
  id,
  api_key: 'key-of-a-test',
  weight: 1,
  discover: false,
  base_url: upstream.url,
  models: [{ id: `${id}/model`, upstream: 'model', prices }],
  ...more,
})
const gateway = await startTestGateway({
  credits: '5',
  providers: () =>
    [
      row('own', { preset: 'custom' }),
      row('claude', { preset: 'anthropic' }),
      row('gpt', { preset: 'openai' }),
    ] as never,
})
const base = gateway.listen()
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const summary = 'They want a blue boat; the hull is done.'
const said = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
const conversation = [
  { type: 'message', role: 'developer', content: 'You build boats.' },
  said('Build me a boat, a blue one.'),
  { type: 'function_call', call_id: 'call_1', name: 'saw', arguments: '{"wood":"oak"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'sawn' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'The hull is done.' }] },
]
const tools = [
  { type: 'function', name: 'saw', parameters: { type: 'object', properties: {} }, strict: false },
]
const trigger = { type: 'compaction_trigger' }
const models = ['own/model', 'claude/model', 'gpt/model']

beforeEach(() => upstream.answer(({ path, body }) => answerIn(path, body, summary)))

/** The compaction of the conversation above by a model; the whole answer. */
async function compact(
  model: string,
  more: Record<string, unknown> = {},
  by: TestGateway['post'] = gateway.post,
) {
  return by('/responses', { model, input: [...conversation, trigger], tools, ...more })
}

const itemOf = (json: unknown) => at(json, 'output.0') as { type: string; encrypted_content: string }

describe.each(models)('by %s', (model) => {
  test('exactly one compaction item comes, sealed, with the cost of the call', async () => {
    const { status, json } = await compact(model)
    expect(status).toBe(200)
    expect(json).toMatchObject({ object: 'response', status: 'completed', incomplete_details: null })
    expect(json['output']).toHaveLength(1)
    const item = itemOf(json)
    expect(Object.keys(item).toSorted()).toEqual(['encrypted_content', 'id', 'type'])
    expect(item.type).toBe('compaction')
    expect(item.encrypted_content).not.toContain(summary)
    expect(Number(at(json, 'usage.cost'))).toBeGreaterThan(0)
    expect((await gateway.readUsage(String(json['id'])))?.['status']).toBe('completed')
    // The model was asked to write, with its tools in sight and none of them to be used.
    const sent = upstream.seen.at(-1)?.body ?? ''
    expect(sent).not.toContain('compaction')
    expect(JSON.stringify(at(JSON.parse(sent), 'tools'))).toContain('saw')
    expect(JSON.stringify(at(JSON.parse(sent), 'tool_choice'))).toContain('none')
  })

  test('as a stream it begins, has the one item, and ends', async () => {
    const response = await gateway.request('/responses', {
      method: 'POST',
      body: { model, input: [...conversation, trigger], tools, stream: true },
    })
    const events = (await response.text())
      .split('\n\n')
      .flatMap((frame) => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
      .map((data) => JSON.parse(data) as Record<string, unknown>)
    const types = events.map(({ type }) => type)
    expect(types[0]).toBe('response.created')
    expect(types.slice(-3)).toEqual([
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ])
    expect(types.filter((type) => String(type).includes('output_text'))).toEqual([])
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
    const last = events.at(-1)
    expect(at(last, 'response.output')).toEqual([events.at(-2)?.['item']])
    expect(Number(at(last, 'response.usage.cost'))).toBeGreaterThan(0)
  })

  test('its item opens for every model, which is told the summary in its place', async () => {
    const item = itemOf((await compact(model)).json)
    for (const other of models) {
      upstream.answer(({ path, body }) => answerIn(path, body, 'Good.'))
      const { status } = await gateway.post('/responses', {
        model: other,
        input: [conversation[0], item, said('Go on.')],
      })
      expect(status).toBe(200)
      const sent = upstream.seen.at(-1)?.body ?? ''
      const texts = ['You build boats.', summary, 'Go on.']
      expect(
        texts.map((text) => sent.indexOf(text)).every((place, index, all) => place > (all[index - 1] ?? -1)),
      ).toBe(true)
      expect(sent).not.toContain('"oak"')
      expect(sent).not.toContain(item.encrypted_content)
    }
  })
})

test('a second compaction is made of the first one, opened, and stands for both', async () => {
  const first = itemOf((await compact('own/model')).json)
  upstream.answer(({ path, body }) => answerIn(path, body, 'They also want sails.'))
  const input = [first, said('And sails.'), trigger]
  const second = itemOf((await gateway.post('/responses', { model: 'own/model', input })).json)
  for (const text of [summary, 'And sails.']) expect(upstream.seen.at(-1)?.body.split(text)).toHaveLength(2)
  await gateway.post('/responses', { model: 'own/model', input: [second, said('Go on.')] })
  expect(upstream.seen.at(-1)?.body).toContain('They also want sails.')
  expect(upstream.seen.at(-1)?.body).not.toContain(summary)
})

test('the words of the caller that are given back have no earlier summary among them', async () => {
  const first = itemOf((await compact('own/model')).json)
  const { json } = await gateway.post('/responses/compact', {
    model: 'own/model',
    input: [first, said('And sails.')],
  })
  expect((json['output'] as { type: string }[]).map(({ type }) => type)).toEqual(['message', 'compaction'])
  expect(at(json, 'output.0.content.0.text')).toBe('And sails.')
})

test('an item opens in no other organization, and not with a byte changed', async () => {
  const item = itemOf((await compact('own/model')).json)
  const other = await gateway.addOrganization({ credits: '1' })
  const input = [said('x'), item]
  const foreign = await gateway.post('/responses', { model: 'own/model', input }, { key: other.key })
  expect([foreign.status, at(foreign.json, 'error.param')]).toEqual([400, 'input[1].encrypted_content'])
  const { encrypted_content: text } = item
  for (const place of [6, 20, Math.floor(text.length / 2), text.length - 2]) {
    const changed = text.slice(0, place) + (text[place] === 'A' ? 'B' : 'A') + text.slice(place + 1)
    const answer = await gateway.post('/responses', {
      model: 'own/model',
      input: [said('x'), { ...item, encrypted_content: changed }],
    })
    expect([place, answer.status, at(answer.json, 'error.param')]).toEqual([
      place,
      400,
      'input[1].encrypted_content',
    ])
  }
})

test('an item of a provider goes to it as it came', async () => {
  const theirs = { type: 'compaction', encrypted_content: 'gAAAAABtheirs' }
  await gateway.post('/responses', { model: 'gpt/model', input: [theirs, said('x')] })
  expect(at(JSON.parse(upstream.seen.at(-1)?.body ?? ''), 'input.0')).toEqual(theirs)
})

test('a model that writes nothing has made no compaction, and says so', async () => {
  upstream.answer(({ path, body }) => answerIn(path, body, ''))
  const { json } = await compact('gpt/model')
  expect(json).toMatchObject({ status: 'failed', output: [], error: { code: 'server_error' } })
})

test.each([
  [[trigger, said('x')], 'input[0].type'],
  [[trigger], 'input'],
])('a trigger that is not the end of a conversation is refused: %j', async (input, param) => {
  const answer = await gateway.post('/responses', { model: 'own/model', input })
  expect([answer.status, at(answer.json, 'error.param')]).toEqual([400, param])
})

test('the call of OpenAI’s SDK gives back the words of the caller and one item', async () => {
  const client = new OpenAI({ baseURL: base, apiKey: gateway.key, maxRetries: 0 })
  const compacted = await client.responses.compact({ model: 'claude/model', input: conversation as never })
  expect(compacted.object).toBe('response.compaction')
  expect(compacted.output.map(({ type }) => type as string)).toEqual(['message', 'compaction'])
  expect(at(compacted.output[0], 'content.0.text')).toBe('Build me a boat, a blue one.')
  expect(compacted.usage.total_tokens).toBeGreaterThan(0)
  upstream.answer(({ path, body }) => answerIn(path, body, 'Good.'))
  await client.responses.create({ model: 'own/model', input: [...compacted.output, said('Go on.')] as never })
  const sent = upstream.seen.at(-1)?.body ?? ''
  for (const text of ['Build me a boat, a blue one.', summary, 'Go on.'])
    expect(sent.split(text)).toHaveLength(2)
})

test('over a WebSocket a turn goes on from a compaction', async () => {
  const client = await connectSocket(`${base}/responses`, {
    authorization: `Bearer ${gateway.key}`,
  })
  client.send({ type: 'response.create', model: 'own/model', input: conversation, tools })
  const first = (await client.until('response.completed')).at(-1)
  client.send({
    type: 'response.create',
    model: 'own/model',
    previous_response_id: at(first, 'response.id'),
    input: [trigger],
    tools,
  })
  const second = (await client.until('response.completed')).at(-1)
  const item = at(second, 'response.output.0') as Record<string, unknown>
  expect(item['type']).toBe('compaction')
  client.send({ type: 'response.create', model: 'own/model', input: [item, said('Go on.')] })
  await client.until('response.completed')
  expect(upstream.seen.at(-1)?.body).toContain(summary)
  client.close()
})

test('over a WebSocket a turn goes on from the compaction itself, and a warm-up may begin with one', async () => {
  const client = await connectSocket(`${base}/responses`, { authorization: `Bearer ${gateway.key}` })
  client.send({ type: 'response.create', model: 'own/model', input: [...conversation, trigger], tools })
  const compacted = (await client.until('response.completed')).at(-1)
  const more = { previous_response_id: at(compacted, 'response.id'), input: 'Go on.' }
  client.send({ type: 'response.create', model: 'own/model', ...more })
  expect((await client.until('response.completed', 'error')).at(-1)?.type).toBe('response.completed')
  const sent = upstream.seen.at(-1)?.body ?? ''
  expect(sent).toContain(summary)
  expect(sent).not.toContain('Build me a boat')
  const item = at(compacted, 'response.output.0')
  client.send({ type: 'response.create', model: 'own/model', generate: false, input: [item] })
  const warm = (await client.until('response.completed', 'error')).at(-1)
  expect(warm?.type).toBe('response.completed')
  client.send({
    type: 'response.create',
    model: 'own/model',
    previous_response_id: at(warm, 'response.id'),
    input: 'And now?',
  })
  await client.until('response.completed')
  expect(upstream.seen.at(-1)?.body).toContain(summary)
  client.close()
})

test('a call that was not carried out has an output before the model is asked for a summary', async () => {
  const open = { type: 'function_call', call_id: 'call_9', name: 'saw', arguments: '{}' }
  await gateway.post('/responses', { model: 'claude/model', input: [...conversation, open, trigger], tools })
  const sent = upstream.seen.at(-1)?.body ?? ''
  expect(sent).toContain('It was not carried out.')
})

test('an item of a batch refuses what only calls have, by name', async () => {
  const item = itemOf((await compact('own/model')).json)
  for (const last of [trigger, item]) {
    const body = Buffer.from(JSON.stringify({ model: 'own/model', input: [said('x'), last] }))
    expect(() => operations.responses.text?.decode(body, { sessionIdHeader: null })).toThrow(
      '"input[1].type" is compaction',
    )
  }
})

/** An answer with this text in the format that was asked. */
function answerIn(path: string, body: string, text: string): Response {
  const isStream = (JSON.parse(body) as { stream?: boolean }).stream === true
  if (path.endsWith('/messages')) return messagesAnswer(text, isStream)
  if (path.endsWith('/responses')) return responsesAnswer(text, isStream)
  return chatAnswer(text, isStream)
}

const events = (list: readonly (readonly [string | null, unknown])[]): Response =>
  new Response(
    list
      .map(
        ([name, data]) =>
          `${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      )
      .join(''),
    { headers: { 'content-type': 'text/event-stream' } },
  )

function chatAnswer(text: string, isStream: boolean): Response {
  const usage = { prompt_tokens: 50, completion_tokens: 9, total_tokens: 59 }
  const head = { id: 'c1', created: 1, model: 'model' }
  if (!isStream) {
    const message = { role: 'assistant', content: text }
    return Response.json({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    })
  }
  const chunk = (delta: unknown, finish: string | null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  return events([
    [null, chunk({ role: 'assistant', content: text }, null)],
    [null, { ...chunk({}, 'stop'), usage }],
    [null, '[DONE]'],
  ])
}

function messagesAnswer(text: string, isStream: boolean): Response {
  const usage = { input_tokens: 50, output_tokens: 9 }
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'model', stop_sequence: null }
  if (!isStream)
    return Response.json({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage })
  return events([
    [
      'message_start',
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    ],
    [
      'content_block_start',
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    ],
    ['message_stop', { type: 'message_stop' }],
  ])
}

function responsesAnswer(text: string, isStream: boolean): Response {
  const item = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
  }
  const begun = {
    id: 'r1',
    object: 'response',
    created_at: 1,
    model: 'model',
    status: 'in_progress',
    output: [],
  }
  const usage = {
    input_tokens: 50,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 59,
  }
  const ended = { ...begun, status: 'completed', output: [item], usage }
  if (!isStream) return Response.json(ended)
  return events([
    ['response.created', { type: 'response.created', sequence_number: 0, response: begun }],
    [
      'response.output_item.added',
      {
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { ...item, content: [] },
      },
    ],
    [
      'response.output_text.delta',
      {
        type: 'response.output_text.delta',
        sequence_number: 2,
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: text,
      },
    ],
    [
      'response.output_item.done',
      { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item },
    ],
    ['response.completed', { type: 'response.completed', sequence_number: 4, response: ended }],
  ])
}
