import { beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { refusalOf, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
let client: OpenAI
beforeAll(() => {
  client = new OpenAI({ apiKey: 'test-key', baseURL: `${simulator.url()}/v1`, maxRetries: 0 })
})

const model = 'gpt-5.4'
const weather: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: 'get_weather',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}

describe("OpenAI's client for responses", () => {
  test('creates a response, and goes on after a call without anything stored', async () => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Use get_weather for Rome' }]
    const settings = {
      model,
      tools: [weather],
      store: false,
      include: ['reasoning.encrypted_content' as const],
    }
    const first = await client.responses.create({ ...settings, input })
    expect(first.output.map((item) => item.type)).toEqual(['reasoning', 'function_call'])
    const made = first.output.filter((item) => item.type === 'function_call' || item.type === 'reasoning')
    const call = made.find((item) => item.type === 'function_call')
    expect(call?.arguments).toBe('{"city":"Rome"}')
    const result = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'sunny' }
    const second = await client.responses.create({ ...settings, input: [...input, ...made, result] })
    expect(second.output_text).toBe('The tool answered: sunny')
  })

  test('reads a stream with its helper', async () => {
    const stream = client.responses.stream({ model, input: 'Say hello', reasoning: { summary: 'auto' } })
    let text = ''
    stream.on('response.output_text.delta', ({ delta }) => (text += delta))
    const response = await stream.finalResponse()
    expect(text).toBe('Hello! You said: "Say hello". How can I help?')
    expect(response.output_text).toBe(text)
    expect(response.usage?.output_tokens_details.reasoning_tokens).toBe(16)
  })

  test('reads arguments from a stream, and parses a structured answer', async () => {
    const stream = client.responses.stream({ model, input: 'get_weather for Rome', tools: [weather] })
    const response = await stream.finalResponse()
    expect(response.output[1]).toMatchObject({ type: 'function_call', arguments: '{"city":"Rome"}' })
    const format = { type: 'json_schema' as const, name: 'place', schema: weather.parameters ?? {} }
    const parsed = await client.responses.parse({ model, input: 'Plan Rome', text: { format } })
    expect(JSON.parse(parsed.output_text)).toEqual({ city: 'Rome' })
  })

  test('reads, continues, counts and deletes what is stored', async () => {
    const first = await client.responses.create({ model, input: 'Say hello' })
    expect((await client.responses.retrieve(first.id)).output_text).toBe(first.output_text)
    const next = await client.responses.create({ model, input: 'Go on', previous_response_id: first.id })
    expect(next.previous_response_id).toBe(first.id)
    expect(await client.responses.inputTokens.count({ model, input: 'Say hello' })).toMatchObject({
      input_tokens: 7,
    })
    await client.responses.delete(first.id)
    expect(await refusalOf(client.responses.retrieve(first.id))).toBeInstanceOf(OpenAI.NotFoundError)
  })

  test('throws its own errors, before a stream and in it', async () => {
    const limited = await refusalOf(
      client.responses.create({ model, input: 'hi' }, { headers: { 'x-simulator-fault': 'status=429' } }),
    )
    expect(limited).toBeInstanceOf(OpenAI.RateLimitError)
    const refused = await refusalOf(client.responses.create({ model, input: 'hi', temperature: 1 }))
    expect(refused).toMatchObject({ status: 400, param: 'temperature' })
    async function streamed(form: string): Promise<string[]> {
      const options = { headers: { 'x-simulator-fault': `error_chunk=2;form=${form}` } }
      const types: string[] = []
      for await (const event of await client.responses.create({ model, input: 'hi', stream: true }, options))
        types.push(event.type)
      return types
    }
    expect(await refusalOf(streamed('nested'))).toBeInstanceOf(OpenAI.APIError)
    expect((await streamed('flat')).slice(2)).toEqual(['error', 'response.failed'])
  })
})
