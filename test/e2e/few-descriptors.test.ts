import { afterAll, beforeAll, expect, test } from 'bun:test'
import { prepareGateway } from '../story/real-gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A process that may have few open files, and more callers than that: those that it has no room for are told so, no
// provider is blamed for what this process cannot open, and it lives.

const key = 'sk-hr-v1-0123456789abcdef0123456789abcdef'
const openFilesMax = 256
const atOnce = 600

const upstream = startScriptedUpstream()
upstream.answer(async () => {
  await Bun.sleep(700)
  const message = { role: 'assistant', content: 'Seen.' }
  const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
  return Response.json({
    id: 'c',
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  })
})
const provider = (id: string) => ({
  preset: 'custom',
  id,
  base_url: `${upstream.url}/v1`,
  discover: false,
  models: [{ id: 'acme/large' }],
})
const gateway = prepareGateway({ providers: [provider('one'), provider('two')] })
let greeting = ''

beforeAll(async () => {
  greeting = await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key }, openFilesMax)
})
afterAll(async () => {
  await gateway.remove()
  await upstream.stop()
})

async function ask(): Promise<{ status: number; retryAfter: string | null; type: unknown }> {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/large', messages: [{ role: 'user', content: 'hi' }] }),
  })
  const { error } = (await response.json()) as { error?: { error_type?: unknown } }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), type: error?.error_type }
}

test('a process with few descriptors refuses what it has no room for, with 503 and a time, and answers the rest', async () => {
  for (let round = 0; round < 2; round += 1) {
    const settled = await Promise.allSettled(Array.from({ length: atOnce }, ask))
    const answers = settled.map((each) => (each.status === 'fulfilled' ? each.value : { status: 'closed' }))
    const strange = answers.filter(({ status }) => status !== 200 && status !== 503)
    expect(strange).toEqual([])
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThan(atOnce / 2)
    expect(refused).toEqual(refused.map(() => ({ status: 503, retryAfter: '1', type: 'server' })))
    // 23 are let in at the first count. How many more depends on how many callers have connected by the next one.
    expect(answers.length - refused.length).toBeGreaterThan(20)
  }
})

test('no provider is blamed for it, and the next call is answered at once', async () => {
  expect((await ask()).status).toBe(200)
  expect(gateway.printed()).not.toContain('a deployment fails')
})

test('the start says that the limit is small', () => {
  expect(greeting + gateway.printed()).toContain(`this process may have ${openFilesMax} open files`)
})

test('a probe is answered while calls are refused', async () => {
  const [calls, health] = await Promise.all([
    Promise.allSettled(Array.from({ length: 300 }, ask)),
    fetch(new URL('/healthz', gateway.baseUrl)),
  ])
  expect([calls.length, health.status]).toEqual([300, 200])
})
