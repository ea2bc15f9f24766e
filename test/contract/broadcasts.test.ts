import { afterAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { at, startTestGateway, until } from '../support/gateway.ts'

// Reference 8.6 and issue of the batches' events: generations go to configured destinations, as signed JSON and as OTLP
// over HTTP, with user, session and the caller's trace, and without content. The receivers are written after the
// contract and OTLP's own document alone.

const secret = 'the-secret-of-the-webhook'
const words = 'nobody but the model may read this'

interface Told {
  path: string
  contentType: string | null
  authorization: string | null
  isSigned: boolean
  body: Record<string, unknown>
  text: string
}

const told: Told[] = []
let refusals = 0
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const text = await request.text()
    if (refusals-- > 0) return new Response('not now', { status: 503 })
    const [, time = '', hex] =
      /^t=(\d+),v1=([0-9a-f]+)$/.exec(request.headers.get('x-openrouter-signature') ?? '') ?? []
    told.push({
      path: new URL(request.url).pathname,
      contentType: request.headers.get('content-type'),
      authorization: request.headers.get('authorization'),
      isSigned: hex === createHmac('sha256', secret).update(`${time},${text}`).digest('hex'),
      body: JSON.parse(text) as Record<string, unknown>,
      text,
    })
    return Response.json({ partialSuccess: {} })
  },
})
const address = `http://127.0.0.1:${receiver.port}`
const usual = {
  headers: {},
  secret: null,
  organizations: null,
  keys: null,
  sampling: 1,
  zdrCalls: 'figures',
} as const
const gateway = await startTestGateway({
  broadcasts: [
    {
      ...usual,
      name: 'traces',
      kind: 'otlp',
      url: `${address}/v1/traces`,
      headers: { authorization: 'Basic abc' },
    },
    { ...usual, name: 'books', kind: 'webhook', url: `${address}/books`, secret },
    { ...usual, name: 'open', kind: 'webhook', url: `${address}/open`, secret, zdrCalls: 'skip' },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await receiver.stop(true)
})

const generationsAt = (path: string): Record<string, unknown>[] =>
  told.filter((post) => post.path === path).flatMap(({ body }) => body['data'] as Record<string, unknown>[])

const spans = (): {
  attributes: { key: string; value: Record<string, unknown> }[]
  [name: string]: unknown
}[] =>
  told
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => at(body, 'resourceSpans.0.scopeSpans.0.spans') as ReturnType<typeof spans>)

const attributeOf = (span: ReturnType<typeof spans>[number] | undefined, name: string): unknown =>
  Object.values(span?.attributes.find(({ key }) => key === name)?.value ?? {})[0]

const spanOf = (id: string) =>
  until(
    async () => spans().find((span) => attributeOf(span, 'gen_ai.response.id') === id),
    (span) => span !== undefined,
  )

const toldTo = (path: string, id: string) =>
  until(
    async () => generationsAt(path).find((generation) => generation['id'] === id),
    (generation) => generation !== undefined,
  )

const chat = (change: Record<string, unknown> = {}) => ({
  model: 'openai/gpt-4o-mini',
  messages: [{ role: 'user', content: words }],
  ...change,
})

test('a call is told by OTLP and to the webhook, with its caller’s words, its cost, and without content', async () => {
  const trace = {
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    parent_span_id: '00f067aa0ba902b7',
    generation_name: 'draft',
    feature: 'search',
  }
  const answer = await gateway.post(
    '/chat/completions',
    chat({ user: 'user 7', session_id: 'session 7', trace }),
  )
  expect(answer.status).toBe(200)
  const id = String(answer.json['id'])
  const cost = at(answer.json, 'usage.cost')
  const span = await spanOf(id)
  expect(span).toMatchObject({
    traceId: trace.trace_id,
    parentSpanId: trace.parent_span_id,
    name: 'draft',
    kind: 3,
    status: { code: 1 },
  })
  expect(attributeOf(span, 'gen_ai.usage.cost')).toBe(cost)
  expect(attributeOf(span, 'gen_ai.usage.input_tokens')).toBe(at(answer.json, 'usage.prompt_tokens'))
  expect(attributeOf(span, 'gen_ai.usage.output_tokens')).toBe(at(answer.json, 'usage.completion_tokens'))
  expect(attributeOf(span, 'user.id')).toBe('user 7')
  expect(attributeOf(span, 'session.id')).toBe('session 7')
  expect(attributeOf(span, 'trace.metadata.feature')).toBe('search')
  const generation = await toldTo('/books', id)
  expect(generation).toMatchObject({
    id,
    model: 'openai/gpt-4o-mini',
    status: 'completed',
    cost,
    user: 'user 7',
    session_id: 'session 7',
    trace,
    organization_id: gateway.organizationId,
  })
  const export_ = told.find(({ path }) => path === '/v1/traces')
  expect(export_).toMatchObject({ contentType: 'application/json', authorization: 'Basic abc' })
  expect(told.filter(({ path }) => path === '/books').every(({ isSigned }) => isSigned)).toBe(true)
  const content = String(at(answer.json, 'choices.0.message.content'))
  for (const { text } of told) {
    expect(text).not.toContain(words)
    expect(text).not.toContain(content.slice(0, 40))
  }
})

test('a stream, an embedding, a message and an item of a batch are told too', async () => {
  const stream = await gateway.request('/chat/completions', { method: 'POST', body: chat({ stream: true }) })
  const streamId = stream.headers.get('x-generation-id') ?? ''
  await stream.text()
  expect(attributeOf(await spanOf(streamId), 'gen_ai.request.stream')).toBe(true)
  const embedded = await gateway.request('/embeddings', {
    method: 'POST',
    body: { model: 'openai/text-embedding-3-small', input: words },
  })
  expect(
    attributeOf(await spanOf(embedded.headers.get('x-generation-id') ?? ''), 'gen_ai.operation.name'),
  ).toBe('embeddings')
  const { json } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    requests: [
      {
        custom_id: 'one',
        body: { messages: [{ role: 'user', content: words }], trace: { feature: 'batch' } },
      },
    ],
  })
  const item = await until(
    async () => generationsAt('/books').find((generation) => generation['batch_id'] === json['id']),
    (found) => found !== undefined,
  )
  expect(item).toMatchObject({ custom_id: 'one', status: 'completed', trace: { feature: 'batch' } })
  expect(String(item?.['id'])).toStartWith('gen-batch-')
})

test('a call under zero data retention is told without its caller’s words, or not at all', async () => {
  const answer = await gateway.post('/chat/completions', {
    ...chat({ user: 'SECRET user', session_id: 'SECRET session', trace: { feature: 'SECRET feature' } }),
    provider: { zdr: true },
  })
  expect(answer.status).toBe(200)
  const id = String(answer.json['id'])
  expect(await toldTo('/books', id)).toMatchObject({ zdr: true, cost: at(answer.json, 'usage.cost') })
  await spanOf(id)
  const after = await gateway.post('/chat/completions', chat())
  await toldTo('/open', String(after.json['id']))
  expect(generationsAt('/open').some((generation) => generation['id'] === id)).toBe(false)
  for (const { text } of told) expect(text).not.toContain('SECRET')
})

test('a receiver that refuses slows no call, and gets everything afterwards', async () => {
  refusals = 3
  const answer = await gateway.post('/chat/completions', chat())
  expect(answer.status).toBe(200)
  await toldTo('/books', String(answer.json['id']))
  await toldTo('/open', String(answer.json['id']))
  await spanOf(String(answer.json['id']))
}, 60_000)
