import { beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { refusalOf, simulatorForTests } from './testing.ts'

const simulator = simulatorForTests()
let client: OpenAI
beforeAll(() => {
  client = new OpenAI({ apiKey: 'test-key', baseURL: `${simulator.url()}/v1`, maxRetries: 0 })
})

const model = 'gpt-4o-mini'
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Use get_weather for Rome' }]
const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
]

describe('the official client', () => {
  test('gets an answer', async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Say hello' }],
    })
    expect(answer.choices[0]?.message.content).toStartWith('Hello!')
    expect(answer._request_id).toStartWith('req_')
  })

  test('puts a stream together to the same answer', async () => {
    const stream = client.chat.completions.stream({
      model,
      messages,
      stream_options: { include_usage: true },
    })
    const final = await stream.finalChatCompletion()
    const whole = await client.chat.completions.create({ model, messages })
    expect(final.choices[0]?.message.content).toBe(String(whole.choices[0]?.message.content))
    expect(final.usage).toEqual(whole.usage)
  })

  test('runs a tool to the end of the conversation, streamed and not', async () => {
    for (const stream of [false, true]) {
      const asked: string[] = []
      const run = {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          description: 'The weather of a city.',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
          parse: JSON.parse,
          function: (input: { city: string }) => {
            asked.push(input.city)
            return 'sunny'
          },
        },
      }
      const runner = stream
        ? client.chat.completions.runTools({ model, messages, tools: [run], stream: true })
        : client.chat.completions.runTools({ model, messages, tools: [run] })
      expect(await runner.finalContent()).toBe('The tool answered: sunny')
      expect(asked).toEqual(['Rome'])
    }
  })

  test('reads streamed tool calls', async () => {
    const final = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
    expect(final.choices[0]?.finish_reason).toBe('tool_calls')
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { arguments: '{"city":"Rome"}' },
    })
  })

  test('decodes embeddings in base64 to the same numbers as floats', async () => {
    const request = { model: 'text-embedding-3-small', input: 'one', dimensions: 4 }
    const encoded = await client.embeddings.create(request)
    const floats = await client.embeddings.create({ ...request, encoding_format: 'float' })
    const rounded = (vector: number[] | undefined) => vector?.map(Math.fround)
    expect(rounded(encoded.data[0]?.embedding)).toEqual(rounded(floats.data[0]?.embedding) ?? [])
  })

  test('transcribes speech that it has requested', async () => {
    const spoken = await client.audio.speech.create({
      model: 'tts-1',
      voice: 'nova',
      input: 'Good morning.',
      response_format: 'wav',
    })
    const bytes = await spoken.arrayBuffer()
    expect(bytes.byteLength).toBeGreaterThan(10_000)
    const heard = await client.audio.transcriptions.create({
      model: 'whisper-1',
      file: await toFile(new Uint8Array(bytes), 'speech.wav'),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    expect(heard.duration).toBeGreaterThan(0.3)
    expect(heard.language).toBe('english')
    const short = await client.audio.transcriptions.create({
      model: 'gpt-4o-mini-transcribe',
      file: await toFile(new Uint8Array(bytes), 'speech.wav'),
    })
    expect(short.usage?.type).toBe('tokens')
  })

  test('lists models', async () => {
    const ids: string[] = []
    for await (const listed of client.models.list()) ids.push(listed.id)
    expect(ids).toContain('whisper-1')
  })

  test('throws its own errors for refused requests', async () => {
    const bad = new OpenAI({ apiKey: 'bad-key', baseURL: `${simulator.url()}/v1`, maxRetries: 0 })
    const chat = client.chat.completions
    expect(await refusalOf(bad.models.list())).toBeInstanceOf(OpenAI.AuthenticationError)
    expect(await refusalOf(chat.create({ model: 'nothing', messages }))).toBeInstanceOf(OpenAI.NotFoundError)
    const headers = { 'x-simulator-fault': 'status=429' }
    expect(await refusalOf(chat.create({ model, messages }, { headers }))).toBeInstanceOf(
      OpenAI.RateLimitError,
    )
    const broken = await client.chat.completions.create(
      { model, messages, stream: true },
      { headers: { 'x-simulator-fault': 'error_chunk=2' } },
    )
    const read = async () => {
      for await (const chunk of broken) expect(chunk.object).toBe('chat.completion.chunk')
    }
    expect(await refusalOf(read())).toBeInstanceOf(OpenAI.APIError)
  })
})
