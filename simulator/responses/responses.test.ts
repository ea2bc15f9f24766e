import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../json.ts'
import { at, respondTo, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const path = '/responses'
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const weather = { type: 'function', name: 'get_weather', parameters }
const time = { type: 'function', name: 'get_time', parameters: { type: 'object', properties: {} } }
const thinking = { model: 'gpt-5.4', reasoning: { effort: 'low', summary: 'auto' }, store: false }
const encrypted = { ...thinking, include: ['reasoning.encrypted_content'] }

describe('a response', () => {
  test('has the members that OpenAI sends, the settings of the request among them', async () => {
    const { status, json } = await simulator.post(path, {
      body: respondTo('Say hello', { metadata: { a: 'b' }, temperature: 0.5 }),
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{50}$/),
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: null,
      model: 'gpt-4o-mini-2024-07-18',
      output: [
        {
          id: expect.stringMatching(/^msg_[0-9a-f]{50}$/),
          type: 'message',
          status: 'completed',
          content: [
            {
              type: 'output_text',
              annotations: [],
              logprobs: [],
              text: 'Hello! You said: "Say hello". How can I help?',
            },
          ],
          role: 'assistant',
        },
      ],
      parallel_tool_calls: true,
      reasoning: { effort: null, summary: null },
      store: true,
      temperature: 0.5,
      text: { format: { type: 'text' }, verbosity: 'medium' },
      tool_choice: 'auto',
      tools: [],
      truncation: 'disabled',
      // "Say hello" is 9 bytes: 3 tokens and 4 for the message; the answer is 45 bytes: 12 tokens.
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 12,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 19,
      },
      metadata: { a: 'b' },
    })
    expect(json).not.toHaveProperty('output_text')
  })

  test('is incomplete when it is cut or filtered', async () => {
    const cut = await simulator.post(path, {
      body: respondTo('Say hello', { max_output_tokens: 16 }),
      fault: 'tokens=20',
    })
    expect(cut.json).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
      usage: { output_tokens: 16 },
    })
    const filtered = await simulator.post(path, { body: respondTo('hi'), fault: 'finish=content_filter' })
    expect(at(filtered.json, 'incomplete_details.reason')).toBe('content_filter')
  })

  test('of a thinking model has a summary of its thoughts and sends them encrypted', async () => {
    const { json } = await simulator.post(path, { body: respondTo('Say hello', encrypted) })
    expect(at(json, 'output.0')).toEqual({
      id: expect.stringMatching(/^rs_/),
      type: 'reasoning',
      encrypted_content: expect.stringMatching(/^gAAAAA/),
      summary: [{ type: 'summary_text', text: 'The request is short, so a short answer will do.' }],
    })
    expect(at(json, 'output.1.type')).toBe('message')
    expect(at(json, 'usage.output_tokens_details.reasoning_tokens')).toBe(8)
    const plain = await simulator.post(path, { body: respondTo('hi', { model: 'gpt-5.4' }) })
    expect(at(plain.json, 'output.0')).toEqual({ id: expect.any(String), type: 'reasoning', summary: [] })
  })

  test('is JSON that fits the schema that was asked for', async () => {
    const schema = { ...parameters, required: ['city'], additionalProperties: false }
    const format = { type: 'json_schema', name: 'trip', strict: true, schema }
    const { json } = await simulator.post(path, {
      body: respondTo('Plan a trip to Paris', { text: { format } }),
    })
    expect(JSON.parse(String(at(json, 'output.0.content.0.text')))).toEqual({ city: 'Paris' })
    expect(at(json, 'text.format')).toEqual(format)
  })

  test('has probabilities when they are included, citations and refusals when a fault asks for them', async () => {
    const { json } = await simulator.post(path, {
      body: respondTo('hi', { include: ['message.output_text.logprobs'], top_logprobs: 2 }),
      fault: 'citations,cached_tokens=2',
    })
    const part = at(json, 'output.0.content.0')
    expect(at(part, 'logprobs.0')).toMatchObject({ token: 'Hell', top_logprobs: [{ token: 'Hell' }, {}] })
    expect(at(part, 'annotations.0')).toMatchObject({ type: 'url_citation', url: 'https://example.com/' })
    expect(at(json, 'usage.input_tokens_details.cached_tokens')).toBe(2)
    const refused = await simulator.post(path, { body: respondTo('hi'), fault: 'refusal=No' })
    expect(at(refused.json, 'output.0.content')).toEqual([{ type: 'refusal', refusal: 'No' }])
  })
})

describe('tools', () => {
  test('are called as items of their own', async () => {
    const { json } = await simulator.post(path, {
      body: respondTo('get_weather and get_time in Oslo', { tools: [weather, time] }),
    })
    expect(json).toMatchObject({
      status: 'completed',
      output: [
        {
          id: expect.stringMatching(/^fc_/),
          type: 'function_call',
          status: 'completed',
          call_id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/),
          name: 'get_weather',
          arguments: '{"city":"Oslo"}',
        },
        { type: 'function_call', name: 'get_time', arguments: '{}' },
      ],
    })
  })

  test('of a custom kind take text', async () => {
    const patch = {
      type: 'custom',
      name: 'apply',
      format: { type: 'grammar', syntax: 'regex', definition: '.+' },
    }
    const { json } = await simulator.post(path, {
      body: respondTo('Do it in Oslo', { tools: [patch], tool_choice: { type: 'custom', name: 'apply' } }),
    })
    expect(at(json, 'output.0')).toMatchObject({
      id: expect.stringMatching(/^ctc_/),
      type: 'custom_tool_call',
      name: 'apply',
      input: 'Oslo',
    })
  })

  test.each([
    ['auto', undefined],
    ['none', undefined],
    ['required', 'get_weather'],
    [{ type: 'function', name: 'get_time' }, 'get_time'],
    [{ type: 'allowed_tools', mode: 'required', tools: [] }, 'get_weather'],
  ])('follow the choice %j when none is mentioned', async (choice, called) => {
    const { json } = await simulator.post(path, {
      body: respondTo('How are you?', { tools: [weather, time], tool_choice: choice }),
    })
    expect(at(json, 'output.0.name')).toBe(called)
  })

  test('that the provider runs are accepted and never called', async () => {
    const { json } = await simulator.post(path, {
      body: respondTo('web_search and get_time', { tools: [{ type: 'web_search' }, time] }),
    })
    expect(at(json, 'output.0.name')).toBe('get_time')
  })

  test('whose results the conversation has are not called again, with thoughts before the calls', async () => {
    const body = respondTo([{ role: 'user', content: 'get_weather' }], { ...encrypted, tools: [weather] })
    const first = await simulator.post(path, { body })
    const output = at(first.json, 'output') as JsonObject[]
    expect(output.map((item) => item['type'])).toEqual(['reasoning', 'function_call'])
    const result = { type: 'function_call_output', call_id: output[1]?.['call_id'], output: 'sunny' }
    const input = [...(body['input'] as JsonObject[]), ...output, result]
    const second = await simulator.post(path, { body: { ...body, input } })
    expect(at(second.json, 'output.1.content.0.text')).toBe('The tool answered: sunny')
  })
})

describe('a conversation', () => {
  test('continues from a stored answer, without the instructions of that answer', async () => {
    const first = await simulator.post(path, {
      body: respondTo('Call get_weather', { instructions: 'x'.repeat(400), tools: [weather] }),
    })
    const id = String(first.json['id'])
    const result = {
      type: 'function_call_output',
      call_id: at(first.json, 'output.0.call_id'),
      output: 'rain',
    }
    const second = await simulator.post(path, {
      body: respondTo([result], { previous_response_id: id, tools: [weather] }),
    })
    expect(at(second.json, 'output.0.content.0.text')).toBe('The tool answered: rain')
    expect(second.json['previous_response_id']).toBe(id)
    expect(Number(at(second.json, 'usage.input_tokens'))).toBeLessThan(100)
    const reference = { type: 'item_reference', id: at(second.json, 'output.0.id') }
    const third = await simulator.post(path, { body: respondTo([reference, { role: 'user', content: 'a' }]) })
    expect(third.status).toBe(200)
  })

  test('is read and deleted by its id, unless it was not stored', async () => {
    const headers = { authorization: 'Bearer k' }
    async function read(id: unknown, method = 'GET'): Promise<Response> {
      return fetch(`${simulator.url()}/v1/responses/${String(id)}`, { method, headers })
    }
    const { json } = await simulator.post(path, { body: respondTo('hi') })
    expect(await (await read(json['id'])).json()).toEqual(json)
    expect(await (await read(json['id'], 'DELETE')).json()).toMatchObject({ deleted: true })
    expect((await read(json['id'])).status).toBe(404)
    const other = await simulator.post(path, { body: respondTo('hi', { store: false }) })
    expect((await read(other.json['id'])).status).toBe(404)
    const lost = await simulator.post(path, {
      body: respondTo('hi', { previous_response_id: other.json['id'] }),
    })
    expect(at(lost.json, 'error.code')).toBe('previous_response_not_found')
  })
})

test('input tokens are counted without an answer', async () => {
  const { json } = await simulator.post('/responses/input_tokens', { body: respondTo('Say hello') })
  expect(json).toEqual({ object: 'response.input_tokens', input_tokens: 7 })
})

test('models of any name are served when the mount’s setting says so, and think when the request asks for it', async () => {
  await simulator.admin('settings', { mount: 'any', any_model: true })
  const { json } = await simulator.post(path, {
    body: respondTo('hi', { ...encrypted, model: 'own/model', temperature: 1 }),
    mount: 'any',
  })
  expect(at(json, 'output.0.type')).toBe('reasoning')
})
