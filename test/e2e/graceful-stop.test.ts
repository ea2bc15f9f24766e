import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSimulator } from '../../simulator/server.ts'

const launcher = join(import.meta.dir, '../../bin/headrace.js')
const key = 'sk-hr-v1-0123456789abcdef0123456789abcdef'
const items = 150
const streamedTokens = 40
/** A restart that had to wait for a lease to run out would take longer than this. */
const resumeMsMax = 8_000
const pollMs = 20
const pollsMax = 1_000

const folder = mkdtempSync(join(tmpdir(), 'headrace-stop-'))
let simulator: Awaited<ReturnType<typeof startSimulator>>
let running: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | null = null

beforeAll(async () => {
  simulator = await startSimulator({ port: 0, quiet: true })
  const rules = [
    { match: { model: 'gpt-4o' }, fault: `tokens=${streamedTokens},chunk_delay=60` },
    { match: { model: 'gpt-4o-mini' }, fault: 'latency=150..400' },
  ]
  await fetch(`${simulator.url}/admin/faults`, { method: 'POST', body: JSON.stringify(rules) })
  mkdirSync(folder, { recursive: true })
  const provider = { preset: 'openai', base_url: `${simulator.url}/v1`, api_key: 'any', concurrency: 16 }
  writeFileSync(join(folder, 'headrace.config.json'), JSON.stringify({ providers: [provider] }))
})

afterAll(async () => {
  running?.kill('SIGKILL')
  await simulator.stop()
  rmSync(folder, { recursive: true, force: true })
})

function spawn(command: string): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
  const { PATH = '', HOME = '' } = process.env
  return Bun.spawn(['node', launcher, command], {
    cwd: folder,
    env: {
      PATH,
      HOME,
      HEADRACE_PORT: '0',
      HEADRACE_BOOTSTRAP_KEY: key,
      // Prepaid, so that there are slices of a budget to be given back.
      HEADRACE_BOOTSTRAP_CREDITS: '5',
      HEADRACE_LOG_LEVEL: 'error',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Starts the gateway and resolves with its base URL; what it prints later is let go. */
async function start(): Promise<{ gateway: Bun.Subprocess<'ignore', 'pipe', 'pipe'>; url: string }> {
  const gateway = spawn('serve')
  running = gateway
  void new Response(gateway.stderr).text()
  const ready = Promise.withResolvers<string>()
  void (async () => {
    let output = ''
    for await (const piece of gateway.stdout) {
      output += new TextDecoder().decode(piece)
      const match = /ready at (http:\S+)/.exec(output)
      if (match?.[1] !== undefined) ready.resolve(match[1])
    }
    ready.reject(new Error(`the gateway ended: ${output}`))
  })()
  return { gateway, url: await ready.promise }
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

interface Polled {
  status: string
  request_counts: { total: number; completed: number; failed: number }
}

async function pollBatch(url: string, isThere: (batch: Polled) => boolean): Promise<Polled> {
  for (let count = 0; count < pollsMax; count++) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    const batch = (await response.json()) as Polled
    if (isThere(batch)) return batch
    await Bun.sleep(pollMs)
  }
  throw new Error('what was polled for did not happen')
}

/** Asks until the answer is no longer 200: a signal takes a moment to arrive. */
async function untilRefused(url: string): Promise<Response> {
  for (let count = 0; count < pollsMax; count++) {
    const response = await fetch(url)
    if (response.status !== 200) return response
    await Bun.sleep(pollMs)
  }
  throw new Error('new requests were never refused')
}

function query<T>(sql: string): T[] {
  const database = new Database(join(folder, 'data', 'headrace.db'), { readonly: true })
  try {
    return database.query(sql).all() as T[]
  } finally {
    database.close()
  }
}

test('a gateway asked to stop finishes what runs, refuses what comes, and leaves the rest to the next one', async () => {
  const first = await start()
  const requests = Array.from({ length: items }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `Say ${index}.` }], max_tokens: 8 },
  }))
  const created = await post(`${first.url}/batches`, {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    // A job of the provider's would go on without the gateway.
    headrace: { lane: 'emulated' },
    requests,
  })
  expect(created.status).toBe(202)
  const { id } = (await created.json()) as { id: string }
  await pollBatch(`${first.url}/batches/${id}`, (batch) => batch.request_counts.completed > 0)

  const streamed = await post(`${first.url}/chat/completions`, {
    model: 'openai/gpt-4o',
    stream: true,
    messages: [{ role: 'user', content: 'Tell me more.' }],
  })
  expect(streamed.status).toBe(200)
  first.gateway.kill('SIGTERM')

  const refused = await untilRefused(`${first.url}/models`)
  expect(refused.status).toBe(503)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({
    error: { code: 503, message: expect.stringContaining('shutting down') },
  })

  // It lives, and takes nothing on.
  expect((await fetch(`${first.url}/healthz`.replace('/v1/', '/'))).status).toBe(200)
  expect((await fetch(`${first.url}/readyz`.replace('/v1/', '/'))).status).toBe(503)

  const text = await streamed.text()
  const chunks = text.split('\n').filter((line) => line.startsWith('data: {'))
  expect(chunks.length).toBeGreaterThanOrEqual(streamedTokens)
  expect(text).toContain('"finish_reason":"stop"')
  expect(text.trimEnd()).toEndWith('data: [DONE]')
  expect(await first.gateway.exited).toBe(0)

  expect(query(`select ordinal from segments where state = 'running'`)).toEqual([])
  expect(query(`select lease_id from leases where state <> 'closed'`)).toEqual([])
  expect(query(`select budget_id from budgets where kind = 'credits'`)).toHaveLength(1)
  expect(
    query(`select cost_nanocredits from usages where model = 'openai/gpt-4o' and status = 'completed'`),
  ).toHaveLength(1)
  const done =
    query<{ count: number }>('select count(*) as count from usages where batch_id is not null')[0]?.count ?? 0
  expect(done).toBeGreaterThan(0)
  expect(done).toBeLessThan(items)
  const doctor = spawn('doctor')
  const said = await new Response(doctor.stdout).text()
  expect(said).toContain('✓ money')
  expect(said).not.toContain('✗')
  expect(await doctor.exited).toBe(0)

  const restartedAtMs = performance.now()
  const second = await start()
  await pollBatch(`${second.url}/batches/${id}`, (batch) => batch.request_counts.completed > done)
  expect(performance.now() - restartedAtMs).toBeLessThan(resumeMsMax)
  const ended = await pollBatch(`${second.url}/batches/${id}`, (batch) => batch.status === 'completed')
  expect(ended.request_counts).toEqual({ total: items, completed: items, failed: 0 })
  // Nothing that was answered was asked again.
  const counters = (await (await fetch(`${simulator.url}/admin/counters?requests=0`)).json()) as {
    by_model: Record<string, number>
  }
  expect(counters.by_model['gpt-4o-mini']).toBe(items)
  second.gateway.kill('SIGTERM')
  expect(await second.gateway.exited).toBe(0)
}, 60_000)
