import Anthropic from '@anthropic-ai/sdk'
import { beforeAll, describe, expect, test } from 'bun:test'
import { at, refusalOf, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
let client: Anthropic
beforeAll(() => {
  client = new Anthropic({ apiKey: 'test-key', baseURL: simulator.url(), maxRetries: 0 })
})

const model = 'claude-opus-4-8'
const weather: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const asked: Anthropic.MessageCreateParamsNonStreaming = {
  model,
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Use get_weather for Rome' }],
}

describe("Anthropic's client", () => {
  test('creates a message and goes on after a call, with its thoughts', async () => {
    const params = { ...asked, tools: [weather], thinking: { type: 'adaptive' as const } }
    const first = await client.messages.create(params)
    expect(first.stop_reason).toBe('tool_use')
    const call = first.content.find((block) => block.type === 'tool_use')
    expect(call?.input).toEqual({ city: 'Rome' })
    const second = await client.messages.create({
      ...params,
      messages: [
        ...params.messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'sunny' }] },
      ],
    })
    expect(second.content.at(-1)).toMatchObject({ type: 'text', text: 'The tool answered: sunny' })
  })

  test('reads a stream with its helper', async () => {
    const stream = client.messages.stream({
      ...asked,
      messages: [{ role: 'user', content: 'Say hello' }],
      thinking: { type: 'adaptive' },
    })
    let text = ''
    stream.on('text', (delta) => (text += delta))
    const message = await stream.finalMessage()
    expect(text).toBe('Hello! You said: "Say hello". How can I help?')
    expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text'])
    expect(message.usage).toMatchObject({ input_tokens: 7, output_tokens: 76 })
    expect(stream.receivedMessages).toHaveLength(1)
  })

  test('reads arguments from a stream, and parses a structured answer', async () => {
    const message = await client.messages.stream({ ...asked, tools: [weather] }).finalMessage()
    expect(message.content).toMatchObject([{ type: 'tool_use', input: { city: 'Rome' } }])
    const schema = { ...weather.input_schema, additionalProperties: false }
    const parsed = await client.messages.parse({
      ...asked,
      output_config: { format: { type: 'json_schema', schema } },
    })
    expect(at(parsed, 'parsed_output')).toEqual({ city: 'Rome' })
  })

  test('counts tokens and lists models', async () => {
    const { messages } = asked
    expect(await client.messages.countTokens({ model, messages })).toEqual({ input_tokens: 10 })
    const ids: string[] = []
    for await (const listed of client.models.list()) ids.push(listed.id)
    expect(ids).toContain(model)
  })

  test.each(['', 'no_threads'])(
    'runs tools in a loop, with a held conversation or without (%p)',
    async (fault) => {
      const cities: unknown[] = []
      const headers = { 'x-simulator-fault': fault }
      const params = {
        ...asked,
        tools: [
          {
            type: 'custom' as const,
            ...weather,
            parse: (input: unknown) => input,
            run: (input: unknown) => {
              cities.push(input)
              return 'sunny'
            },
          },
        ],
      }
      const message = await client.beta.messages.toolRunner(params, { headers })
      expect(cities).toEqual([{ city: 'Rome' }])
      expect(message.content).toMatchObject([{ type: 'text', text: 'The tool answered: sunny' }])
    },
  )

  test('throws its own kinds of errors, before a stream and within it', async () => {
    const headers = { 'x-simulator-fault': 'overloaded' }
    const overloaded = await refusalOf(client.messages.create(asked, { headers }))
    expect(overloaded).toMatchObject({ status: 529, type: 'overloaded_error' })
    const limited = await refusalOf(
      client.messages.create(asked, { headers: { 'x-simulator-fault': 'status=429;retry_after=3' } }),
    )
    expect(limited).toBeInstanceOf(Anthropic.RateLimitError)
    const refused = await refusalOf(client.messages.create({ ...asked, max_tokens: -1 }))
    expect(refused).toBeInstanceOf(Anthropic.BadRequestError)
    const options = { headers: { 'x-simulator-fault': 'error_chunk=4;type=overloaded_error' } }
    const broken = await refusalOf(client.messages.stream(asked, options).finalMessage())
    expect(broken).toMatchObject({ type: 'overloaded_error' })
  })
})
