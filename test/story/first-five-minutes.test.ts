import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSimulator } from '../../simulator/server.ts'
import { prepareGateway, writeConfig } from './real-gateway.ts'

// A new user's first five minutes, with real processes; each test goes on where the last one ended.

const items = 40
const gateway = prepareGateway()
const simulator = await startSimulator({ quiet: true })
let key = ''
let managementKey = ''
let batchId = ''

afterAll(async () => {
  await gateway.remove()
  await simulator.stop()
})

const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })

interface BatchView {
  id: string
  status: string
  request_counts: { total: number; completed: number; failed: number }
  usage: { cost: number; prompt_tokens: number; completion_tokens: number; total_tokens: number } | null
  results: { custom_id: string; response: unknown; error: unknown }[] | null
}

async function loadBatch(): Promise<BatchView> {
  const response = await fetch(`${gateway.baseUrl}/batches/${batchId}`, { headers: headers() })
  expect(response.status).toBe(200)
  return (await response.json()) as BatchView
}

/** Chat calls that the provider has been asked so far. */
async function countCalls(): Promise<number> {
  const response = await fetch(`${simulator.url}/admin/counters?requests=0`)
  const { by_path: byPath } = (await response.json()) as { by_path: Record<string, number> }
  return byPath['/v1/chat/completions'] ?? 0
}

/** Waits, for a bounded time, for an action of other processes. */
async function until<T>(read: () => Promise<T>, isIt: (value: T) => boolean): Promise<T> {
  const endMs = performance.now() + 20_000
  for (;;) {
    const value = await read()
    if (isIt(value)) return value
    if (performance.now() > endMs) throw new Error(`never came: ${JSON.stringify(value)}`)
    await Bun.sleep(20)
  }
}

test('the first start shows both keys and says that a simulator answers', async () => {
  const printed = await gateway.start()
  key = /inference key +(\S+)/.exec(printed)?.[1] ?? ''
  managementKey = /management key +(\S+)/.exec(printed)?.[1] ?? ''
  expect(key).toStartWith('sk-hr-v1-')
  expect(managementKey).toStartWith('sk-hr-v1-')
  expect(printed).toContain(gateway.baseUrl)
  expect(printed).toContain('SIMULATOR')
})

test('headrace try runs every operation and shows time, cost and a ledger that balances', async () => {
  const { code, output, errors } = await gateway.run(['try'])
  expect(`${output}${errors}`).toContain('Everything worked.')
  expect(code).toBe(0)
  for (const title of [
    'Chat, streamed',
    'Embeddings',
    'Rerank',
    'Completions',
    'Text to speech',
    'Speech to text',
    'Organization settings',
    'Batch',
  ]) {
    expect(output).toContain(title)
  }
  expect(output).toContain('off → on → off')
  expect(output).toContain('12 answered, 0 failed')
  expect(
    output.match(/ledger held \$[\d.]+, captured \$[\d.]+, released \$[\d.]+; \d+ postings, sum 0/g),
  ).toHaveLength(7)
  const audio = /play +\S+ (\S+\.wav)/.exec(output)?.[1] ?? ''
  expect(readFileSync(audio).subarray(0, 4).toString()).toBe('RIFF')
})

test('the keys that try made for itself are disabled afterwards', async () => {
  const { output } = await gateway.run(['keys'])
  const own = output.split('\n').filter((line) => line.includes('headrace try'))
  expect(own).toHaveLength(2)
  for (const line of own) expect(line).toContain('disabled')
})

test('leaving try with Ctrl-C disables its keys as well', async () => {
  const left = await gateway.run(['try'], {}, { signal: 'SIGINT', after: '2  Embeddings' })
  expect(left.output).not.toContain('Everything worked')
  expect(left.code).toBe(130)
  const { output } = await gateway.run(['keys'])
  const own = output.split('\n').filter((line) => line.includes('headrace try'))
  expect(own).toHaveLength(4)
  for (const line of own) expect(line).toContain('disabled')
})

test('with keys in the environment try asks the API for the costs', async () => {
  const env = { HEADRACE_API_KEY: key, HEADRACE_MANAGEMENT_KEY: managementKey }
  const { code, output } = await gateway.run(['try'], env)
  expect(code).toBe(0)
  expect(output).toContain('keys from HEADRACE_API_KEY')
  expect(output).toMatch(/first words .* · cost \$\d/)
})

test('a second start keeps everything and prints no secret', async () => {
  await gateway.end('SIGTERM')
  // From here on a slow simulator of the test answers, so that the gateway can be killed in the middle of a
  // batch.
  writeConfig(gateway.folder, {
    providers: [{ preset: 'sandbox', base_url: `${simulator.url}/v1`, api_key: 'any', concurrency: 4 }],
  })
  const printed = await gateway.start()
  expect(printed).not.toContain('sk-hr-v1-')
})

test('a batch survives the gateway being killed in its middle, every item answered once', async () => {
  await fetch(`${simulator.url}/admin/faults`, {
    method: 'POST',
    body: JSON.stringify([{ match: { path: '/chat/completions' }, fault: 'latency=400..500' }]),
  })
  const requests = Array.from({ length: items }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `Say ${index}.` }] },
  }))
  const body = { endpoint: '/v1/chat/completions', model: 'openai/gpt-4o-mini', requests }
  const accepted = await fetch(`${gateway.baseUrl}/batches`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify(body),
  })
  expect(accepted.status).toBe(202)
  batchId = ((await accepted.json()) as BatchView).id
  const middle = await until(loadBatch, ({ request_counts: { completed } }) => completed > 0)
  expect(middle.request_counts.completed).toBeLessThan(items)
  await gateway.end('SIGKILL')
  const callsBefore = await countCalls()

  expect(await gateway.start()).not.toContain('sk-hr-v1-')
  const watched = await gateway.run(['batch', 'watch', batchId], { HEADRACE_API_KEY: key })
  expect(watched.output).toContain(`completed: ${items} answered, 0 failed`)
  expect(watched.code).toBe(0)
  const batch = await loadBatch()
  expect(batch.request_counts).toEqual({ total: items, completed: items, failed: 0 })
  expect(batch.results?.map((result) => result.custom_id)).toEqual(
    requests.map((request) => request.custom_id),
  )
  expect(batch.results?.every(({ response, error }) => response !== null && error === null)).toBe(true)
  // Nothing that was committed before the kill is asked for again.
  expect((await countCalls()) - callsBefore).toBeLessThanOrEqual(items - middle.request_counts.completed)
})

test("the batch's usage is the sum of its captures, one per item, and the postings balance", async () => {
  const { usage } = await loadBatch()
  const database = new Database(gateway.databasePath, { readonly: true, safeIntegers: true })
  const usages = database
    .query(
      `select count(*) as n, count(distinct custom_id) as items, sum(cost_nanocredits) as cost,
        sum(input_tokens) as input, sum(output_tokens) as output from usages where batch_id = ?`,
    )
    .get(batchId) as { n: bigint; items: bigint; cost: bigint; input: bigint; output: bigint }
  expect(usages).toMatchObject({ n: BigInt(items), items: BigInt(items) })
  expect(Math.round((usage?.cost ?? 0) * 1e9)).toBe(Number(usages.cost))
  expect(usages.cost).toBeGreaterThan(0n)
  expect([usage?.prompt_tokens, usage?.completion_tokens]).toEqual([
    Number(usages.input),
    Number(usages.output),
  ])
  const postings = database
    .query(
      `select count(distinct transaction_id) as transactions, sum(amount_nanocredits) as sum from postings
       where transaction_id in (select generation_id from usages where batch_id = ?)`,
    )
    .get(batchId)
  expect(postings).toEqual({ transactions: BigInt(items), sum: 0n })
  database.close()
})

test('headrace batch run takes a file to its results', async () => {
  const file = join(gateway.folder, 'items.jsonl')
  const line = {
    custom_id: 'only',
    body: { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hi.' }] },
  }
  writeFileSync(file, `${JSON.stringify(line)}\n`)
  const { code, output, errors } = await gateway.run(['batch', 'run', file, '--yes'], {
    HEADRACE_API_KEY: key,
  })
  expect(errors).toBe('')
  expect(code).toBe(0)
  expect(output).toMatch(/estimated cost \$0\.\d+, \$0\.\d+ at most/)
  const [result = ''] = readFileSync(`${file}.results.jsonl`, 'utf8').split('\n')
  expect(JSON.parse(result)).toMatchObject({ custom_id: 'only', error: null })
})

test('doctor finds no fault after all earlier tests', async () => {
  const { code, output } = await gateway.run(['doctor'])
  expect(output).toContain('nothing is wrong')
  expect(code).toBe(0)
})
