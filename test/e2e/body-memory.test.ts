import { afterAll, expect, test } from 'bun:test'
import { prepareGateway, writeConfig } from '../story/real-gateway.ts'

// Large bodies all at once, in a process whose bodies share 400 MB: it answers all of them, a few at a time.

const key = 'sk-hr-v1-0123456789abcdef0123456789abcdef'
const bodies = 12
const bodyBytes = 60_000_000
/**
 * For most of the time: what the process takes itself, the memory that bodies share, and what the runtime has not given back
 * yet: 460 to 590 MB, and 830 to 890 without the bound. The largest amount at one moment says less, because the runtime
 * collects late on a busy machine.
 */
const residentBytesMax = 700_000_000

let atOnce = 0
let atOnceMost = 0
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    atOnce += 1
    atOnceMost = Math.max(atOnceMost, atOnce)
    let size = 0
    for await (const chunk of request.body ?? []) size += chunk.length
    await Bun.sleep(150)
    atOnce -= 1
    const message = { role: 'assistant', content: String(size) }
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
    return Response.json({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    })
  },
})
const providers = [
  {
    preset: 'custom',
    id: 'acme',
    base_url: `http://127.0.0.1:${upstream.port}/v1`,
    discover: false,
    models: [{ id: 'acme/large' }],
  },
]
const gateway = prepareGateway()
afterAll(async () => {
  await gateway.remove()
  await upstream.stop(true)
})

/** Starts it with a bound of 400 MB; a version that knows no such bound without. */
async function start(): Promise<void> {
  const env = { HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_LOG_LEVEL: 'error' }
  writeConfig(gateway.folder, { providers, body_memory_mb: 400 })
  await gateway.start(env).catch(() => {
    writeConfig(gateway.folder, { providers })
    return gateway.start(env)
  })
}

function ask(body: string): Promise<Response> {
  return fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  })
}

test('large bodies that come all at once share what memory they may have, and each is answered', async () => {
  await start()
  const text = 'x'.repeat(bodyBytes)
  const body = JSON.stringify({ model: 'acme/large', messages: [{ role: 'user', content: text }] })
  const resident: number[] = []
  const sampling = setInterval(() => resident.push(gateway.residentBytes()), 50)
  const statuses = await Promise.all(
    Array.from({ length: bodies }, async () => {
      const response = await ask(body)
      await response.text()
      return response.status
    }),
  )
  clearInterval(sampling)
  expect(statuses).toEqual(Array.from({ length: bodies }, () => 200))
  expect(atOnceMost).toBeLessThanOrEqual(2)
  const middle = resident.toSorted((left, right) => left - right)[resident.length >> 1]
  expect(middle).toBeLessThan(residentBytesMax)
}, 60_000)
