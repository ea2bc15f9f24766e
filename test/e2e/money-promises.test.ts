import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createWorld, inferenceKey, model, organizationId, type World } from '../crash/world.ts'
import type { GatewayProcess } from '../crash/gateway-process.ts'
import { until } from '../support/gateway.ts'

/** A real gateway whose disk takes this long, so that what is shown before the commit can be told from what comes after. */
const fsyncDelayMs = 300

let world: World
let gateway: GatewayProcess

beforeAll(async () => {
  world = await createWorld({ database: 'sqlite', credits: '100' })
  gateway = await world.start({ fsyncDelayMs })
  // The first call takes a slice of the balance, which is a commit of its own.
  await (await chat({ content: 'warm up', max_tokens: 5 })).text()
})

afterAll(async () => {
  await world.remove()
})

interface Chat {
  content: string
  max_tokens: number
  stream?: boolean
  provider?: Record<string, unknown>
}

function chat(options: Chat, signal?: AbortSignal): Promise<Response> {
  const { content, ...rest } = options
  return fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }], ...rest }),
    ...(signal ? { signal } : {}),
  })
}

interface UsageRow {
  cost_nanocredits: bigint
  output_tokens: number
  cancelled: number
  is_estimated: number
}

async function usageOf(response: Response): Promise<UsageRow | undefined> {
  const [row] = await world.database.query<UsageRow>(
    `select cost_nanocredits, output_tokens, cancelled, is_estimated from usages where generation_id = $1`,
    [response.headers.get('x-generation-id') ?? ''],
  )
  return row
}

const fault = (text: string, spec: string) =>
  world.setFaults([{ match: { body_contains: text }, fault: spec }])

test('a caller who hangs up pays for what was streamed', async () => {
  await fault('hang up', 'tokens=400,chunk_delay=20')
  const leaving = new AbortController()
  const response = await chat({ content: 'hang up', max_tokens: 400, stream: true }, leaving.signal)
  const reader = response.body?.getReader()
  for (let reads = 0; reads < 5; reads++) await reader?.read()
  leaving.abort()
  const row = await until(
    () => usageOf(response),
    (found) => found !== undefined,
  )
  expect(row).toMatchObject({ cancelled: 1 })
  expect(Number(row?.output_tokens)).toBeGreaterThan(0)
  expect(Number(row?.output_tokens)).toBeLessThan(400)
  expect(row?.cost_nanocredits).toBeGreaterThan(0n)
})

test('a whole answer is shown only when its capture is durable', async () => {
  await world.setFaults([])
  const response = await chat({ content: 'json', max_tokens: 5 })
  const row = await usageOf(response)
  expect(row?.cost_nanocredits).toBeGreaterThan(0n)
  await response.text()
})

/** Reads a stream up to its finish reason and tells what the ledger says of it in that moment. */
async function usageAtTheEnd(response: Response): Promise<UsageRow | undefined> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (/"finish_reason":"(stop|length)"/.test(text)) return usageOf(response)
  }
  throw new Error(`a stream without an end: ${text}`)
}

test('the end of a stream is shown only when its capture is durable', async () => {
  await fault('slow stream', 'chunk_delay=20')
  const response = await chat({ content: 'slow stream', max_tokens: 5, stream: true })
  expect((await usageAtTheEnd(response))?.cost_nanocredits).toBeGreaterThan(0n)
})

test('the last sound of a speech is sent only when its capture is durable', async () => {
  await world.setFaults([{ match: { path: '/audio/speech' }, fault: 'tone' }])
  const response = await fetch(`${gateway.baseUrl}/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/tts-1', input: 'Hello.', voice: 'alloy' }),
  })
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0)
  expect((await usageOf(response))?.cost_nanocredits).toBeGreaterThan(0n)
})

test('an answer without usage is charged by an estimate and never as nothing', async () => {
  await fault('no usage', 'usage=missing')
  const response = await chat({ content: 'no usage', max_tokens: 20 })
  expect(response.status).toBe(200)
  await response.text()
  const row = await usageOf(response)
  expect(row?.cost_nanocredits).toBeGreaterThan(0n)
  expect(row?.is_estimated).toBe(1)
})

test("the gateway's own members never reach a provider", async () => {
  await world.setFaults([])
  const provider = { only: ['sandbox'], allow_fallbacks: false }
  const response = await chat({ content: 'preferences', max_tokens: 5, provider })
  expect(response.status).toBe(200)
  const counters = (await (await fetch(`${world.simulator.url}/admin/counters`)).json()) as {
    last_requests: { body: string }[]
  }
  const sent = counters.last_requests.find(({ body }) => body.includes('preferences'))
  expect(Object.keys(JSON.parse(sent?.body ?? '{}') as object)).not.toContain('provider')
})

test('the organization of these calls is prepaid and its balance is the sum of its postings', async () => {
  const [row] = await world.database.query<{ account_mode: string }>(
    'select account_mode from organizations where organization_id = $1',
    [organizationId],
  )
  expect(row?.account_mode).toBe('prepaid')
  gateway.signal('SIGTERM')
  await gateway.ended
  expect(await world.findings()).toEqual([])
})
