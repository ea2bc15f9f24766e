import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, startTestGateway, until } from '../support/gateway.ts'

// The provider behind it speaks chat completions; expectations are those of the public contract.

const gateway = await startTestGateway({ credits: '5' })
afterAll(() => gateway.stop())

const client = new OpenAI({
  baseURL: gateway.listen(),
  apiKey: gateway.key,
  maxRetries: 0,
})
const model = 'openai/gpt-4o-mini'

test('2.4.v1 a response has every member that the official schema requires, and its cost', async () => {
  const { status, json } = await gateway.post('/responses', { model, input: 'Say hello.' })
  expect(status).toBe(200)
  for (const name of [
    'created_at',
    'completed_at',
    'error',
    'incomplete_details',
    'instructions',
    'metadata',
    'parallel_tool_calls',
    'tool_choice',
    'tools',
    'temperature',
    'top_p',
    'presence_penalty',
    'frequency_penalty',
  ])
    expect(json).toHaveProperty(name)
  expect(json).toMatchObject({ object: 'response', status: 'completed', model, error: null })
  expect(at(json, 'output.0.content.0.type')).toBe('output_text')
  const { input_tokens: input, output_tokens: output } = json['usage'] as Record<string, number>
  expect(at(json, 'usage.total_tokens')).toBe(Number(input) + Number(output))
  expect(Number(at(json, 'usage.cost'))).toBeGreaterThan(0)
})

test('2.4.v2 a stream has gapless sequence numbers and ends with the whole response', async () => {
  const events = await client.responses.create({ model, input: 'Say hello.', stream: true })
  const seen: { type: string; sequence_number: number }[] = []
  let last: unknown
  for await (const event of events) {
    seen.push({ type: event.type, sequence_number: event.sequence_number })
    last = event
  }
  expect(seen.map(({ sequence_number: number }) => number)).toEqual(seen.map((_, index) => index))
  expect(seen[0]?.type).toBe('response.created')
  expect(seen.at(-1)?.type).toBe('response.completed')
  expect(String(at(last, 'response.output.0.content.0.text')).length).toBeGreaterThan(0)
  expect(Number(at(last, 'response.usage.cost'))).toBeGreaterThan(0)
})

test('2.4.v3 the official helper for streams puts the response together', async () => {
  const response = await client.responses.stream({ model, input: 'Say hello.' }).finalResponse()
  expect(response.output_text.length).toBeGreaterThan(0)
})

test('2.4.v4 a tool loop goes round: a call, its output, an answer', async () => {
  const tools = [
    {
      type: 'function' as const,
      name: 'weather',
      description: 'The weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      strict: false,
    },
  ]
  const first = await client.responses.create({
    model,
    input: 'How is it in Oslo?',
    tools,
    tool_choice: 'required',
  })
  const call = first.output.find((entry) => entry.type === 'function_call')
  expect(call?.name).toBe('weather')
  const second = await client.responses.create({
    model,
    input: [
      { role: 'user', content: 'How is it in Oslo?' },
      ...(call ? [call] : []),
      { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'sunny' },
    ],
    tools,
  })
  expect([second.status, second.output_text.length > 0]).toEqual(['completed', true])
})

test('2.4.v5 members that need stored answers are refused by name', async () => {
  for (const [name, value] of Object.entries({
    previous_response_id: 'resp_1',
    store: true,
    background: true,
    conversation: 'conv_1',
  })) {
    const { status, json } = await gateway.post('/responses', { model, input: 'x', [name]: value })
    expect([name, status, String(at(json, 'error.message')).includes(name)]).toEqual([name, 400, true])
  }
})

test('2.4.v6 an answer at its limit is incomplete, and says so', async () => {
  const { json } = await gateway.post('/responses', {
    model,
    input: 'Tell a long story of many words about the sea and the wind.',
    max_output_tokens: 1,
  })
  expect([json['status'], at(json, 'incomplete_details.reason')]).toEqual(['incomplete', 'max_output_tokens'])
})

test('2.4.v7 a batch of responses ends with bodies of this form', async () => {
  const created = await gateway.post('/batches', {
    endpoint: '/v1/responses',
    model,
    requests: [{ custom_id: 'one', body: { input: 'Say one.' } }],
  })
  expect(created.status).toBe(202)
  const ended = await until(
    async () => (await gateway.get(`/batches/${String(created.json['id'])}`)).json,
    ({ status }) => status === 'completed',
  )
  expect(at(ended, 'results.0.response.body.object')).toBe('response')
  expect(Number(at(ended, 'usage.cost'))).toBe(Number(at(ended, 'results.0.response.body.usage.cost')))
})
