/**
 * Proof 2: a batch of 1,000 items against a provider of which 30 % of the items meet a fault, with the gateway killed ten
 * times on the way, on each database. Prints figures; exits with 1 when a result, a count or a nanocredit is wrong.
 */
import { whyNoPostgres } from '../support/postgres.ts'
import { type EndedBatch, readBatch, sumOf, usagesOf } from './batch-client.ts'
import { createWorld, inferenceKey, model, type World } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

const itemCount = 1_000
const killCount = 10
/** How long a life is, drawn between these: shorter and longer than it takes for results to become durable. */
const lifeMs = { least: 300, most: 3_500 }
const waitMsMax = 240_000

/** Of every ten items one fails for good, and two meet a passing fault once. */
const permanentFaults = ['status=400', 'context_length', 'status=422;message=refused']
const passingFaults = ['status=500', 'reset', 'malformed_json', 'truncate_json', 'status=502', 'empty_body']
/** Few, because the gateway slows down for them, as it should. */
const refusals = ['status=503', 'status=429;retry_after_ms=200', 'overloaded']

function kindOf(index: number): 'permanent' | 'passing' | 'sound' {
  if (index % 10 === 3) return 'permanent'
  return index % 10 === 5 || index % 10 === 8 ? 'passing' : 'sound'
}

const nameOf = (index: number): string => `item-${String(index).padStart(4, '0')}`

function faultOf(index: number): string {
  const passing = index % 100 < 10 ? refusals : passingFaults
  const faults = kindOf(index) === 'permanent' ? permanentFaults : passing
  return faults[Math.floor(index / 10) % faults.length] ?? ''
}

function faultRules(): Record<string, unknown>[] {
  const rules: Record<string, unknown>[] = [{ match: {}, fault: 'latency=100..700' }]
  for (let index = 0; index < itemCount; index++) {
    const kind = kindOf(index)
    if (kind === 'sound') continue
    const match = { body_contains: `${nameOf(index)} ` }
    rules.push({ match, fault: faultOf(index), ...(kind === 'passing' ? { times: 1 } : {}) })
  }
  return rules
}

function batchBody(): string {
  const requests = Array.from({ length: itemCount }, (_, index) => ({
    custom_id: nameOf(index),
    body: {
      messages: [{ role: 'user', content: `${nameOf(index)} ${'word '.repeat(index % 20)}` }],
      max_tokens: 60,
    },
  }))
  return JSON.stringify({ endpoint: '/v1/chat/completions', model, requests })
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
async function runWithKills(world: World): Promise<{ id: string; kills: number }> {
  let gateway = await world.start()
  const id = await submit(gateway.baseUrl)
  for (let kills = 0; kills < killCount; kills++) {
    await Bun.sleep(lifeMs.least + ((kills * 7919) % 10) * ((lifeMs.most - lifeMs.least) / 9))
    const { status } = await readBatch(gateway.baseUrl, id)
    if (status === 'completed') return { id, kills }
    gateway.signal('SIGKILL')
    await gateway.ended
    gateway = await world.start()
  }
  return { id, kills: killCount }
}

function problemsOf(batch: EndedBatch, expectedFailed: number): string[] {
  const problems: string[] = []
  const expect = (isRight: boolean, problem: string) => void (isRight || problems.push(problem))
  expect(batch.status === 'completed', `status ${batch.status}`)
  expect(batch.results.length === itemCount, `${batch.results.length} results`)
  expect(
    new Set(batch.results.map((result) => result.custom_id)).size === itemCount,
    'a result is there twice',
  )
  const isInOrder = batch.results.every((result, index) => result.custom_id === nameOf(index))
  expect(isInOrder, 'results are not in input order')
  const wrong = batch.results.filter(
    (result, index) => (result.error !== null) !== (kindOf(index) === 'permanent'),
  )
  expect(
    wrong.length === 0,
    `${wrong.length} items ended otherwise than they had to: ${JSON.stringify(wrong[0])}`,
  )
  expect(batch.request_counts.failed === expectedFailed, `failed is ${batch.request_counts.failed}`)
  expect(
    batch.request_counts.completed === itemCount - expectedFailed,
    `completed ${batch.request_counts.completed}`,
  )
  return problems
}

/** The batch's usage against the sum of its items and against the ledger, to the nanocredit. */
async function moneyProblems(world: World, batch: EndedBatch): Promise<string[]> {
  const rows = await usagesOf(world.database, batch.id)
  const items = sumOf(batch.results)
  const problems: string[] = []
  const same = (what: string, left: unknown, right: unknown) =>
    void (left === right || problems.push(`${what}: ${left} and ${right}`))
  same('prompt tokens of batch and items', batch.usage?.prompt_tokens, items.promptTokens)
  same('completion tokens of batch and items', batch.usage?.completion_tokens, items.completionTokens)
  same('cost of batch and ledger', Math.round((batch.usage?.cost ?? -1) * 1e9), Number(rows.cost))
  same('cost of items and ledger', items.cost, Number(rows.cost))
  same('prompt tokens of items and ledger', items.promptTokens, rows.promptTokens)
  same('usages and completed items', rows.count, batch.request_counts.completed)
  same('captures and usages', rows.captures, rows.count)
  same('captured and cost', rows.captured, rows.cost)
  return problems
}

async function prove(name: DialectName): Promise<boolean> {
  const world = await createWorld({ database: name, credits: '10' })
  const startMs = performance.now()
  try {
    await world.setFaults(faultRules())
    const { id, kills } = await runWithKills(world)
    const gateway = await world.start()
    const batch = await readBatch(gateway.baseUrl, id, waitMsMax)
    const seconds = Math.round((performance.now() - startMs) / 1000)
    const expectedFailed = Array.from({ length: itemCount }, (_, index) => kindOf(index)).filter(
      (kind) => kind === 'permanent',
    ).length
    const problems = [...problemsOf(batch, expectedFailed), ...(await moneyProblems(world, batch))]
    if (kills < killCount) problems.push(`the batch ended after ${kills} kills`)
    gateway.signal('SIGTERM')
    await gateway.ended
    problems.push(...(await world.findings()))
    const asked = (await world.counters())['requests']
    const { completed, failed } = batch.request_counts
    const cost = batch.usage?.cost
    console.log(
      `${name}: ${batch.status} after ${kills} kills in ${seconds} s: ${batch.results.length} results, ${completed} completed, ${failed} failed, ${cost} credits in batch, items and ledger; the provider was asked ${asked} times`,
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
