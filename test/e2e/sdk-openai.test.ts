import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { sandboxProvider, startTestGateway, toneWav } from '../support/gateway.ts'

// The official client of OpenAI over a real socket. It believes whatever it is sent, so the shapes are checked here.

// Its models stay the same: a listing that comes meanwhile would take some away between two of the calls.
const gateway = await startTestGateway({ providers: (url) => [sandboxProvider(url, { discover: false })] })
const baseURL = gateway.listen()
const client = new OpenAI({ baseURL, apiKey: gateway.key, maxRetries: 0 })

const methods = [
  'chat.completions.create',
  'chat.completions.create stream',
  'embeddings.create',
  'audio.transcriptions.create',
  'audio.speech.create',
  'models.list',
  'models.retrieve',
] as const
const calls = new Map<string, number>()
let invalid = 0

/** Counts a call, and what of its answer is not as the client's types promise. */
async function calling<T>(
  method: (typeof methods)[number],
  call: () => Promise<T>,
  isValid: (answer: T) => boolean,
) {
  calls.set(method, (calls.get(method) ?? 0) + 1)
  const answer = await call()
  if (!isValid(answer)) {
    invalid += 1
    throw new Error(`${method} was answered with ${JSON.stringify(answer)?.slice(0, 500)}`)
  }
  return answer
}

afterAll(async () => {
  const made = [...calls.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `openai: ${calls.size} of ${methods.length} methods, ${made} calls, ${invalid} validation errors`,
  )
  await gateway.stop()
})

const messages = [{ role: 'user' as const, content: 'Say hello' }]

test('chat', async () => {
  await calling(
    'chat.completions.create',
    () => client.chat.completions.create({ model: 'openai/gpt-4o-mini', messages }),
    ({ id, choices: [choice], usage }) =>
      id.startsWith('gen-') && choice?.message.content !== '' && usage?.total_tokens !== undefined,
  )
})

test('models, all and one by its id, with its slash escaped as this client does', async () => {
  const listed = await calling(
    'models.list',
    async () => (await client.models.list()).data,
    (models) => models.length > 0 && models.every(isModel),
  )
  for (const { id } of listed.slice(0, 5))
    await calling(
      'models.retrieve',
      () => client.models.retrieve(id),
      (model) => isModel(model) && model.id === id,
    )
  await calling(
    'models.retrieve',
    () => client.models.retrieve('gpt-4o-mini'),
    (model) => isModel(model) && model.id === 'openai/gpt-4o-mini',
  )
  const refusal: unknown = await client.models.retrieve('openai/none-such').catch((error: unknown) => error)
  expect(refusal).toMatchObject({ status: 404 })
})

function isModel({ id, object, created, owned_by: owner }: OpenAI.Model): boolean {
  return id !== '' && object === 'model' && Number.isInteger(created) && id.startsWith(`${owner}/`)
}

test('a loop of tools: the answer goes back as it came, with what the tool said', async () => {
  const tools = [
    {
      type: 'function' as const,
      function: { name: 'weather', parameters: { type: 'object', properties: {} } },
    },
  ]
  const asked = await client.chat.completions.create({
    model: 'openai/gpt-4o-mini',
    messages,
    tools,
    tool_choice: 'required',
  })
  const message = asked.choices[0]?.message
  const call = message?.tool_calls?.[0]
  if (!message || !call) throw new Error('no tool was called')
  await calling(
    'chat.completions.create',
    () =>
      client.chat.completions.create({
        model: 'openai/gpt-4o-mini',
        messages: [...messages, message, { role: 'tool', tool_call_id: call.id, content: 'sun' }],
        tools,
      }),
    ({ choices: [choice] }) => choice?.finish_reason === 'stop',
  )
})

test('streaming chat, with tools and usage', async () => {
  const { text, total, finish } = await calling(
    'chat.completions.create stream',
    async () => {
      const stream = await client.chat.completions.create({
        model: 'openai/gpt-4o-mini',
        messages,
        stream: true,
        stream_options: { include_usage: true },
      })
      const seen = { text: '', total: 0, finish: '' }
      for await (const chunk of stream) {
        seen.text += chunk.choices[0]?.delta.content ?? ''
        seen.finish = chunk.choices[0]?.finish_reason ?? seen.finish
        seen.total = chunk.usage?.total_tokens ?? seen.total
      }
      return seen
    },
    (seen) => seen.finish === 'stop',
  )
  expect(text.length).toBeGreaterThan(5)
  expect([total > 0, finish]).toEqual([true, 'stop'])
})

test('embeddings, which the client asks for in base64 and decodes', async () => {
  await calling(
    'embeddings.create',
    () =>
      client.embeddings.create({
        model: 'openai/text-embedding-3-small',
        input: ['one', 'two'],
        dimensions: 8,
      }),
    ({ data }) => data.length === 2 && data.every(({ embedding }) => embedding.length === 8),
  )
  await calling(
    'embeddings.create',
    () =>
      client.embeddings.create({
        model: 'openai/text-embedding-3-small',
        input: 'one',
        dimensions: 8,
        encoding_format: 'float',
      }),
    ({ data: [first] }) => typeof first?.embedding[0] === 'number',
  )
})

test('transcription', async () => {
  const file = () => new File([toneWav(1)], 'tone.wav', { type: 'audio/wav' })
  await calling(
    'audio.transcriptions.create',
    () => client.audio.transcriptions.create({ model: 'openai/whisper-1', file: file() }),
    ({ text }) => typeof text === 'string',
  )
  await calling(
    'audio.transcriptions.create',
    () =>
      client.audio.transcriptions.create({
        model: 'openai/whisper-1',
        file: file(),
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      }),
    ({ duration, segments, words }) => duration === 1 && Array.isArray(segments) && Array.isArray(words),
  )
})

test('speech', async () => {
  await calling(
    'audio.speech.create',
    async () => {
      const response = await client.audio.speech.create({
        model: 'openai/tts-1',
        input: 'Hello there.',
        voice: 'alloy',
        response_format: 'mp3',
      })
      return { type: response.headers.get('content-type'), bytes: (await response.arrayBuffer()).byteLength }
    },
    ({ type, bytes }) => type?.startsWith('audio/mpeg') === true && bytes > 500,
  )
})

test('errors become the client’s own, with their status', async () => {
  const refusals: readonly [OpenAI, string, number, new (...args: never[]) => Error][] = [
    [client, 'nobody/has-this', 400, OpenAI.BadRequestError],
    [
      new OpenAI({ baseURL, apiKey: 'nobody-has-this-key-01', maxRetries: 0 }),
      'x',
      401,
      OpenAI.AuthenticationError,
    ],
    [
      new OpenAI({ baseURL, apiKey: gateway.managementKey, maxRetries: 0 }),
      'x',
      403,
      OpenAI.PermissionDeniedError,
    ],
    [
      new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: gateway.key, maxRetries: 0 }),
      'x',
      404,
      OpenAI.NotFoundError,
    ],
  ]
  for (const [caller, model, status, kind] of refusals) {
    const error = await caller.chat.completions.create({ model, messages }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ status })
  }
})

test('every method was called, and no answer was invalid', () => {
  expect([...calls.keys()].toSorted()).toEqual(methods.toSorted())
  expect(invalid).toBe(0)
})
