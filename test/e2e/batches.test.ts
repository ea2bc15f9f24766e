import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isThorough } from '../support/thorough.ts'

const key = 'sk-hr-v1-0123456789abcdef0123456789abcdef'
const root = join(import.meta.dir, '..', '..')
const model = 'openai/gpt-4.1-mini'

/** A real gateway with the simulator behind it, on a folder of its own that outlives its processes. */
class Gateway {
  readonly folder = mkdtempSync(join(tmpdir(), 'headrace-batches-'))
  #child: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | null = null
  url = ''

  async start(): Promise<void> {
    const child = Bun.spawn([process.execPath, 'src/main.ts', 'serve'], {
      cwd: root,
      env: {
        ...inherited(),
        HEADRACE_DATA: this.folder,
        HEADRACE_PORT: '0',
        HEADRACE_BOOTSTRAP_KEY: key,
        HEADRACE_LOG_LEVEL: 'error',
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    this.#child = child
    let text = ''
    const reader = child.stdout.getReader()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`the gateway did not start: ${text}`)
      text += new TextDecoder().decode(value)
      const match = /ready at (http:\S+)/.exec(text)
      if (!match) continue
      this.url = match[1] ?? ''
      break
    }
    void drain(reader)
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    this.#child?.kill(signal)
    await this.#child?.exited
    this.#child = null
  }

  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers }
    return fetch(`${this.url}${path}`, { ...init, headers })
  }

  query<T>(sql: string, ...values: string[]): T[] {
    const database = new Database(join(this.folder, 'headrace.db'), { readonly: true })
    try {
      return database.query(sql).all(...values) as T[]
    } finally {
      database.close()
    }
  }

  /** The payloads; the store's own id is none. */
  blobs(): string[] {
    const folder = join(this.folder, 'blobs')
    if (!existsSync(folder)) return []
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'store-id')
      .map((entry) => entry.name)
  }
}

async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

/** The tests' own environment without what would configure a gateway. */
function inherited(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('HEADRACE_') && !name.endsWith('_API_KEY'),
  )
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function batchOf(count: number): string {
  const requests = Array.from({ length: count }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `Say ${index}.` }], max_tokens: 20 },
  }))
  return JSON.stringify({ endpoint: '/v1/chat/completions', model, requests })
}

interface Polled {
  id: string
  status: string
  request_counts: { total: number; completed: number; failed: number }
  usage: { cost: number; total_tokens: number } | null
  results: { custom_id: string; response: unknown; error: unknown }[] | null
}

async function poll(gateway: Gateway, id: string, until: (batch: Polled) => boolean): Promise<Polled> {
  for (let attempt = 0; attempt < 1_500; attempt++) {
    const response = await gateway.ask(`/batches/${id}`)
    expect(response.status).toBe(200)
    const batch = (await response.json()) as Polled
    if (until(batch)) return batch
    await Bun.sleep(20)
  }
  throw new Error('what was polled for did not happen')
}

describe('a real gateway', () => {
  let gateway = new Gateway()
  afterEach(async () => {
    await gateway.kill()
    rmSync(gateway.folder, { recursive: true, force: true })
    gateway = new Gateway()
  })

  test('killed in the middle of a batch ends it once after every restart', async () => {
    // Two segments of a batch.
    const count = isThorough ? 1_500 : 1_050
    await gateway.start()
    const body = batchOf(count)
    const created = await gateway.ask('/batches', {
      method: 'POST',
      body,
      headers: { 'idempotency-key': 'one' },
    })
    expect(created.status).toBe(202)
    const { id } = (await created.json()) as Polled
    for (const share of [0.1, 0.5]) {
      await poll(gateway, id, (batch) => batch.request_counts.completed >= count * share)
      await gateway.kill()
      await gateway.start()
    }
    const ended = await poll(gateway, id, (batch) => batch.results !== null)
    expect(ended).toMatchObject({
      status: 'completed',
      request_counts: { total: count, completed: count, failed: 0 },
    })
    expect(ended.results?.map((result) => result.custom_id)).toEqual(
      Array.from({ length: count }, (_, n) => `item-${n}`),
    )
    const usages = gateway.query<{ custom_id: string; cost_nanocredits: number }>(
      'select custom_id, cost_nanocredits from usages where batch_id = ?',
      id,
    )
    expect(new Set(usages.map((usage) => usage.custom_id)).size).toBe(count)
    expect(usages).toHaveLength(count)
    const cost = usages.reduce((sum, usage) => sum + usage.cost_nanocredits, 0)
    expect(Math.round((ended.usage?.cost ?? 0) * 1e9)).toBe(cost)
    const again = await gateway.ask('/batches', {
      method: 'POST',
      body,
      headers: { 'idempotency-key': 'one' },
    })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(((await again.json()) as Polled).id).toBe(id)
    const lines = (await (await gateway.ask(`/batches/${id}/results`)).text()).trim().split('\n')
    expect(lines).toHaveLength(count)
  }, 120_000)

  test('says that a batch is too large to a client that is still writing it', async () => {
    await gateway.start()
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    let answer = ''
    const answered = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    socket.on('data', (bytes) => {
      answer += bytes.toString()
      if (answer.includes('\r\n\r\n')) answered.resolve()
    })
    socket.on('error', (error) => answered.reject(error))
    socket.on('close', () => ended.resolve())
    socket.write(
      `POST /v1/batches HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    const head = Buffer.from(`{"endpoint":"/v1/chat/completions","model":"${model}","pad":"`)
    const chunk = Buffer.alloc(1_000_000, 0x78)
    let sent = 0
    for (const bytes of [head, ...Array.from({ length: 205 }, () => chunk)]) {
      sent += bytes.length
      const flushed = Promise.withResolvers<void>()
      socket.write(`${bytes.length.toString(16)}\r\n`)
      socket.write(bytes)
      socket.write('\r\n', () => flushed.resolve())
      await Promise.race([flushed.promise, ended.promise])
    }
    await answered.promise
    expect(sent).toBeGreaterThan(204_000_000)
    expect(answer).toStartWith('HTTP/1.1 413')
    expect(answer).toContain('200,000,000 bytes')
    socket.destroy()
    expect(gateway.blobs()).toEqual([])
  }, 60_000)

  test('keeps nothing of an upload whose client hangs up', async () => {
    await gateway.start()
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    const text = batchOf(5_000)
    socket.write(
      `POST /v1/batches HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`,
    )
    const flushed = Promise.withResolvers<void>()
    socket.write(text.slice(0, text.length - 10), () => flushed.resolve())
    await flushed.promise
    for (let attempt = 0; attempt < 200 && gateway.blobs().length === 0; attempt++) await Bun.sleep(10)
    expect(gateway.blobs().length).toBeGreaterThan(0)
    socket.destroy()
    for (let attempt = 0; attempt < 500 && gateway.blobs().length > 0; attempt++) await Bun.sleep(10)
    expect(gateway.blobs()).toEqual([])
    expect(gateway.query('select batch_id from batches')).toEqual([])
  }, 30_000)

  test('asked to stop gives its work back and finishes it after the restart', async () => {
    const count = isThorough ? 1_200 : 300
    await gateway.start()
    const created = await gateway.ask('/batches', { method: 'POST', body: batchOf(count) })
    const { id } = (await created.json()) as Polled
    await poll(gateway, id, (batch) => batch.request_counts.completed > 0)
    await gateway.kill('SIGTERM')
    expect(gateway.query(`select ordinal from segments where state = 'running'`)).toEqual([])
    await gateway.start()
    const ended = await poll(gateway, id, (batch) => batch.results !== null)
    expect(ended.request_counts).toEqual({ total: count, completed: count, failed: 0 })
    expect(gateway.query('select generation_id from usages where batch_id = ?', id)).toHaveLength(count)
  }, 60_000)
})
