import { afterAll, expect, test } from 'bun:test'
import { OpenRouter } from '@openrouter/sdk'
import * as errors from '@openrouter/sdk/models/errors'
import { sandboxProvider, startTestGateway, toneWav } from '../support/gateway.ts'

// The official client of the public contract over a real socket. It validates every answer and every error by its own
// schemas, and throws what it cannot parse.

const gateway = await startTestGateway({ credits: '5' })
const serverURL = gateway.listen()
// It retries every 5xx for up to an hour.
const retryConfig = { strategy: 'none' } as const
const clientOf = (apiKey: string, url = serverURL) => new OpenRouter({ apiKey, serverURL: url, retryConfig })
const client = clientOf(gateway.key)

const methods = [
  'apiKeys.getCurrentKeyMetadata',
  'chat.send',
  'chat.send stream',
  'credits.getCredits',
  'embeddings.generate',
  'embeddings.listModels',
  'endpoints.list',
  'endpoints.listZdrEndpoints',
  'generations.getGeneration',
  'models.count',
  'models.get',
  'models.list',
  'models.list with arguments',
  'models.listForUser',
  'providers.list',
  'stt.createTranscription',
  'stt.createTranscriptionMultipart',
  'tts.createSpeech',
] as const
const calls = new Map<string, number>()
let validationErrors = 0

/** Counts a call, and whether the client could read what it got. */
async function calling<T>(method: (typeof methods)[number], call: () => Promise<T>): Promise<T> {
  calls.set(method, (calls.get(method) ?? 0) + 1)
  try {
    return await call()
  } catch (error) {
    if (isUnparsed(error)) validationErrors += 1
    throw error
  }
}

function isUnparsed(error: unknown): boolean {
  return (
    error instanceof errors.ResponseValidationError ||
    error instanceof errors.SDKValidationError ||
    error instanceof errors.OpenRouterDefaultError
  )
}

afterAll(async () => {
  const made = [...calls.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `@openrouter/sdk: ${calls.size} of ${methods.length} methods, ${made} calls, ${validationErrors} validation errors`,
  )
  await gateway.stop()
})

const model = 'openai/gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'Say hello' }]

// The client's types do not tell which of the two answers a request has.
async function send(caller: OpenRouter, more: Record<string, unknown> = {}) {
  const answer = await caller.chat.send({ chatRequest: { model, messages, stream: false, ...more } })
  if (!('choices' in answer)) throw new Error('a stream came where none was asked for')
  return answer
}

async function sendStreamed(caller: OpenRouter) {
  const answer = await caller.chat.send({ chatRequest: { model, messages, stream: true } })
  if ('choices' in answer) throw new Error('no stream came where one was asked for')
  return answer
}

const audio = Buffer.from(toneWav(1)).toString('base64')

test('chat, with log probabilities and with tools', async () => {
  const plain = await calling('chat.send', () => send(client))
  expect(plain.choices[0]?.message.content?.length).toBeGreaterThan(5)
  const more = await calling('chat.send', () =>
    send(client, { logprobs: true, topLogprobs: 2, maxTokens: 5 }),
  )
  expect(more.choices[0]?.logprobs?.content?.[0]?.topLogprobs.length).toBe(2)
  const tools = [
    { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
  ]
  const called = await calling('chat.send', () =>
    send(client, { tools, toolChoice: 'required', messages: [{ role: 'user', content: 'weather please' }] }),
  )
  expect(called.choices[0]?.message.toolCalls?.[0]?.function.name).toBe('weather')
})

test('streaming chat', async () => {
  const text = await calling('chat.send stream', async () => {
    const stream = await sendStreamed(client)
    let whole = ''
    let usage = 0
    for await (const chunk of stream) {
      whole += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage?.totalTokens ?? usage
    }
    expect(usage).toBeGreaterThan(0)
    return whole
  })
  expect(text.length).toBeGreaterThan(5)
})

test('a stream that breaks tells its error in a chunk that parses', async () => {
  // Broken before anything of it was shown, it would be an ordinary error response.
  const fault = 'error_chunk=2,chunk_delay=20'
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault }])
  const error = await calling('chat.send stream', async () => {
    const stream = await sendStreamed(client)
    let seen: { code: number; message: string } | undefined
    for await (const chunk of stream) seen = chunk.error ?? seen
    return seen
  })
  await gateway.admin('faults', [])
  expect([error?.code, typeof error?.message]).toEqual([502, 'string'])
})

test('embeddings', async () => {
  const answer = await calling('embeddings.generate', () =>
    client.embeddings.generate({
      requestBody: { model: 'openai/text-embedding-3-small', input: ['a', 'b'], dimensions: 4 },
    }),
  )
  if (typeof answer === 'string') throw new Error('not JSON')
  expect(answer.data.map(({ embedding }) => embedding.length)).toEqual([4, 4])
})

test('transcription, by JSON and by multipart', async () => {
  const sttRequest = { model: 'openai/whisper-1', inputAudio: { data: audio, format: 'wav' } }
  const json = await calling('stt.createTranscription', () => client.stt.createTranscription({ sttRequest }))
  expect(json.usage?.seconds).toBe(1)
  const verbose = await calling('stt.createTranscription', () =>
    client.stt.createTranscription({
      sttRequest: {
        ...sttRequest,
        responseFormat: 'verbose_json',
        timestampGranularities: ['word', 'segment'],
      },
    }),
  )
  expect([verbose.task, verbose.duration]).toEqual(['transcribe', 1])
  const file = { fileName: 'tone.wav', content: new Blob([toneWav(1)]) }
  const form = await calling('stt.createTranscriptionMultipart', () =>
    client.stt.createTranscriptionMultipart({
      requestBody: {
        model: 'openai/whisper-1',
        file,
        responseFormat: 'verbose_json',
        timestampGranularities: ['word', 'segment'],
      },
    }),
  )
  expect([form.duration, Array.isArray(form.words)]).toEqual([1, true])
})

test('speech', async () => {
  for (const responseFormat of ['mp3', 'pcm'] as const) {
    const stream = await calling('tts.createSpeech', () =>
      client.tts.createSpeech({
        speechRequest: { model: 'openai/tts-1', input: 'Hello there.', voice: 'alloy', responseFormat },
      }),
    )
    expect((await new Response(stream).bytes()).length).toBeGreaterThan(1_000)
  }
})

test('models: list without and with arguments, one, count, and those of the key', async () => {
  const ids = (page: { result: { data: { id: string }[] } }) => page.result.data.map(({ id }) => id)
  const all = await calling('models.list', () => client.models.list())
  expect(ids(all)).toContain(model)
  const seen = new Set<string>()
  const paged = await calling('models.list with arguments', () =>
    client.models.list({ limit: 3, outputModalities: 'all' }),
  )
  for await (const page of paged) for (const id of ids(page)) seen.add(id)
  const count = await calling('models.count', () => client.models.count({ outputModalities: 'all' }))
  expect(seen.size).toBe(count.data.count)
  const one = await calling('models.get', () => client.models.get({ author: 'openai', slug: 'gpt-4o-mini' }))
  expect(one.data.id).toBe(model)
  const own = await calling('models.listForUser', () => client.models.listForUser({ bearer: gateway.key }))
  expect(ids(own)).toContain(model)
  const embedding = await calling('embeddings.listModels', () => client.embeddings.listModels())
  expect(ids(embedding)).toContain('openai/text-embedding-3-small')
})

test('endpoints of a model, those without retention, and providers', async () => {
  await send(client)
  const { data } = await calling('endpoints.list', () =>
    client.endpoints.list({ author: 'openai', slug: 'gpt-4o-mini' }),
  )
  const [endpoint] = data.endpoints
  expect([data.id, endpoint?.modelId, endpoint?.providerName]).toEqual([model, model, 'Sandbox'])
  // The simulator was asked by this process, which therefore knows how it fares.
  expect(endpoint?.uptimeLast5m).toBeGreaterThan(0)
  expect(endpoint?.latencyLast30m?.p50).toBeGreaterThan(0)
  const zdr = await calling('endpoints.listZdrEndpoints', () => client.endpoints.listZdrEndpoints())
  expect([...new Set(zdr.data.map(({ tag }) => tag))]).toEqual(['sandbox'])
  const providers = await calling('providers.list', () => client.providers.list())
  expect(providers.data.map(({ slug }) => slug)).toEqual(['sandbox'])
})

test('credits, the current key, and a generation', async () => {
  const { data } = await calling('credits.getCredits', () =>
    clientOf(gateway.managementKey).credits.getCredits(),
  )
  expect([data.totalCredits, data.totalUsage > 0]).toEqual([5, true])
  for (const key of [gateway.key, gateway.managementKey]) {
    const current = await calling('apiKeys.getCurrentKeyMetadata', () =>
      clientOf(key).apiKeys.getCurrentKeyMetadata(),
    )
    expect(current.data.isManagementKey).toBe(key === gateway.managementKey)
  }
  const chat = await send(client)
  const generation = await calling('generations.getGeneration', () =>
    client.generations.getGeneration({ id: chat.id }),
  )
  expect([generation.data.id, generation.data.model]).toEqual([chat.id, model])
})

/** What the client made of a refusal; an answer it could not parse fails here. */
async function refusal(call: () => Promise<unknown>): Promise<unknown> {
  const thrown = await call().then(
    () => new Error('was answered'),
    (error: unknown) => error,
  )
  if (isUnparsed(thrown)) validationErrors += 1
  return thrown
}

test('refusals parse as the client’s own errors', async () => {
  const poor = await gateway.addOrganization({ credits: '0.000001' })
  const bound = await gateway.addOrganization({ policy: { allowed_models: ['openai/gpt-4o'] } })
  const slow = await gateway.addOrganization({ requestsPerMinute: 1 })
  await send(clientOf(slow.key))
  const large = new Blob([toneWav(1), new Uint8Array(26 * 1024 * 1024)])
  const refusals: readonly [number, new (...args: never[]) => Error, () => Promise<unknown>][] = [
    [400, errors.BadRequestResponseError, () => send(client, { model: 'nobody/has-this' })],
    [401, errors.UnauthorizedResponseError, () => send(clientOf('nobody-has-this-key-01'))],
    [402, errors.PaymentRequiredResponseError, () => send(clientOf(poor.key))],
    [403, errors.ForbiddenResponseError, () => send(clientOf(bound.key))],
    [404, errors.NotFoundResponseError, () => send(client, { provider: { only: ['groq'] } })],
    [404, errors.NotFoundResponseError, () => client.generations.getGeneration({ id: 'gen-nobody' })],
    [
      413,
      errors.PayloadTooLargeResponseError,
      () =>
        client.stt.createTranscriptionMultipart({
          requestBody: { model: 'openai/whisper-1', file: { fileName: 'a.wav', content: large } },
        }),
    ],
    [429, errors.TooManyRequestsResponseError, () => send(clientOf(slow.key))],
  ]
  for (const [status, kind, call] of refusals) {
    const error = await refusal(call)
    expect([status, error instanceof kind ? 'parsed' : error]).toEqual([status, 'parsed'])
    expect(error).toMatchObject({ statusCode: status, error: { code: status } })
  }
})

test('failures of a provider parse as the client’s own errors', async () => {
  const failures: readonly [string, number, new (...args: never[]) => Error][] = [
    ['status=429', 429, errors.TooManyRequestsResponseError],
    ['status=500', 502, errors.BadGatewayResponseError],
    ['html_error', 502, errors.BadGatewayResponseError],
    ['malformed_json', 502, errors.BadGatewayResponseError],
    ['status=504', 524, errors.EdgeNetworkTimeoutResponseError],
    ['overloaded', 529, errors.ProviderOverloadedResponseError],
  ]
  for (const [fault, status, kind] of failures) {
    await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault }])
    const error = await refusal(() => send(client))
    expect([fault, error instanceof kind ? 'parsed' : error]).toEqual([fault, 'parsed'])
    expect(error).toMatchObject({ statusCode: status })
  }
  await gateway.admin('faults', [])
})

test('no endpoint left to ask, and an unexpected failure, parse as the client’s own errors', async () => {
  const refused = await startTestGateway({
    providers: (url) => [sandboxProvider(url, { api_key: 'bad-key', discover: false })],
  })
  const caller = clientOf(refused.key, refused.listen())
  expect(await refusal(() => send(caller))).toBeInstanceOf(errors.BadGatewayResponseError)
  expect(await refusal(() => send(caller))).toBeInstanceOf(errors.ServiceUnavailableResponseError)
  await refused.stop()
  let isBroken = false
  const nowMs = () => {
    if (isBroken) throw new Error('broken')
    return Date.now()
  }
  const broken = await startTestGateway({
    hooks: { clock: { nowMs, monotonicMs: () => performance.now() }, writeLog: () => undefined },
  })
  const other = clientOf(broken.key, broken.listen())
  isBroken = true
  expect(await refusal(() => send(other))).toBeInstanceOf(errors.InternalServerResponseError)
  isBroken = false
  await broken.stop()
})

test('every method was called, and the client could read every answer', () => {
  expect([...calls.keys()].toSorted()).toEqual([...methods].toSorted())
  expect(validationErrors).toBe(0)
})
