/**
 * The flex lane under kills: a batch of 1,000 items at a provider whose flex tier refuses one request of fifty for want
 * of room, with the gateway killed ten times on the way, on each database. Prints figures; exits with 1 when an item has
 * not exactly one result and one capture, when anything but the flex price was paid, or when something stays held.
 */
import { whyNoPostgres } from '../support/postgres.ts'
import type { DialectName } from '../../src/storage/dialect.ts'
import { type EndedBatch, readBatch, sumOf, usagesOf } from './batch-client.ts'
import { createWorld, inferenceKey, type World } from './world.ts'

const itemCount = 1_000
const killCount = 10
const lifeMs = { least: 500, most: 3_000 }
const waitMsMax = 240_000
const model = 'openai/o4-mini'
/** Nanocredits for a token at the flex tier: 0.55 and 2.20 USD for a million. */
const price = { input: 550, output: 2_200 }
const refusedShare = 0.02

const nameOf = (index: number): string => `item-${String(index).padStart(4, '0')}`

function batchBody(): string {
  const requests = Array.from({ length: itemCount }, (_, index) => ({
    custom_id: nameOf(index),
    body: {
      messages: [{ role: 'user', content: `${nameOf(index)} ${'word '.repeat(index % 20)}` }],
      max_tokens: 400,
    },
  }))
  return JSON.stringify({ endpoint: '/v1/chat/completions', model, headrace: { lane: 'flex' }, requests })
}

async function submit(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
    body: batchBody(),
  })
  if (response.status !== 202) throw new Error(`not accepted: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { id: string }).id
}

/** A gateway that is killed and started again; resolves with how often that was before the batch ended. */
async function runWithKills(world: World): Promise<{ id: string; kills: number; done: number }> {
  let gateway = await world.start()
  const id = await submit(gateway.baseUrl)
  let done = 0
  for (let kills = 0; kills < killCount; kills++) {
    await Bun.sleep(lifeMs.least + ((kills * 7919) % 10) * ((lifeMs.most - lifeMs.least) / 9))
    const { status, request_counts: counts } = await readBatch(gateway.baseUrl, id)
    done = counts.completed
    if (status === 'completed') return { id, kills, done }
    gateway.signal('SIGKILL')
    await gateway.ended
    gateway = await world.start()
  }
  return { id, kills: killCount, done }
}

async function problemsOf(world: World, batch: EndedBatch): Promise<string[]> {
  const problems: string[] = []
  const same = (what: string, found: unknown, expected: unknown) =>
    void (found === expected || problems.push(`${what}: ${found} instead of ${expected}`))
  same('status', batch.status, 'completed')
  same('results', batch.results.length, itemCount)
  same('answered', batch.request_counts.completed, itemCount)
  same('different ids', new Set(batch.results.map(({ custom_id: id }) => id)).size, itemCount)
  const rows = await usagesOf(world.database, batch.id)
  same('captures', rows.captures, itemCount)
  same('usages', rows.count, itemCount)
  same('captured', rows.captured, rows.cost)
  const items = sumOf(batch.results)
  const byHand = items.promptTokens * price.input + items.completionTokens * price.output
  same('ledger at the flex price', Number(rows.cost), byHand)
  same('cost of the batch', Math.round((batch.usage?.cost ?? -1) * 1e9), byHand)
  return problems
}

async function prove(name: DialectName): Promise<boolean> {
  const world = await createWorld({
    database: name,
    credits: '10',
    providers: (url) => [
      {
        preset: 'openai',
        base_url: `${url}/v1`,
        api_key: 'simulated-key',
        discover: false,
        models: [{ id: model }],
      },
    ],
  })
  const startMs = performance.now()
  try {
    await world.setFaults([{ match: {}, fault: 'latency=100..700' }])
    await world.setProvider({ flex_refused: refusedShare })
    const { id, kills, done } = await runWithKills(world)
    // The kills are over; the rest need not wait for room again and again.
    await world.setProvider({ flex_refused: 0 })
    const gateway = await world.start()
    const batch = await readBatch(gateway.baseUrl, id, waitMsMax)
    const seconds = Math.round((performance.now() - startMs) / 1000)
    const problems = await problemsOf(world, batch)
    if (kills < killCount) problems.push(`the batch ended after ${kills} kills`)
    gateway.signal('SIGTERM')
    await gateway.ended
    problems.push(...(await world.findings()))
    const asked = (await world.counters())['requests']
    console.log(
      `${name}: ${batch.status} after ${kills} kills in ${seconds} s, ${done} items before the last: ${batch.results.length} results, ${batch.usage?.cost} credits at the flex price in batch, items and ledger; the provider was asked ${asked} times`,
    )
    for (const problem of problems.slice(0, 20)) console.log(`${name}: WRONG: ${problem}`)
    return problems.length === 0
  } finally {
    await world.remove()
  }
}

let isGood = await prove('sqlite')
const reason = whyNoPostgres()
if (reason === null) isGood = (await prove('postgres')) && isGood
else console.log(`postgres: WRONG: ${reason}`)
process.exit(isGood && reason === null ? 0 : 1)
