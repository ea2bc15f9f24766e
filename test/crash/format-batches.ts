/**
 * Proof 4.5: a batch for every endpoint on every upstream that has it, all at once, with the gateway killed ten times on the
 * way, on each database; then bodies, counts, sums and the ledger. Prints figures; exits with 1 when anything is wrong.
 */
import { whyNoPostgres } from '../support/postgres.ts'
import { shapeProblems } from '../support/result-shapes.ts'
import { isTerminalStatus, readBatch, usagesOf, type LedgerOfBatch } from './batch-client.ts'
import { bodyOf, formatBatches, itemCount, kindOf, nameOf, type FormatBatch } from './batch-items.ts'
import { createWorld, inferenceKey, type World } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

const killCount = 10
/** How long a life is, drawn between these: shorter and longer than it takes for results to become durable. */
const lifeMs = { least: 300, most: 2_300 }
const waitMsMax = 300_000
const messagesMount = 'claude'

interface Submitted extends FormatBatch {
  id: string
}

async function submit(baseUrl: string, each: FormatBatch): Promise<Submitted> {
  const requests = Array.from({ length: itemCount }, (_, index) => ({
    custom_id: nameOf(each, index),
    body: bodyOf(each, index),
  }))
  const response = await fetch(`${baseUrl}/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      endpoint: each.endpoint,
      model: each.model,
      headrace: { lane: 'emulated' },
      requests,
    }),
  })
  if (response.status !== 202)
    throw new Error(`${each.name} was not accepted: ${response.status} ${await response.text()}`)
  return { ...each, id: ((await response.json()) as { id: string }).id }
}

/** What the provider does to one item of a batch. */
function rulesOf(each: FormatBatch, index: number): Record<string, unknown>[] {
  const match = { body_contains: `${nameOf(each, index)} ` }
  switch (kindOf(index)) {
    case 'permanent':
      return [{ match, fault: 'status=400;message=Turnips%20are%20not%20served' }]
    case 'passing':
      return [{ match, fault: 'status=500', times: 1 }]
    case 'sound':
      return []
  }
}

async function setFaults(world: World): Promise<void> {
  const mounts = { chat: 'default', messages: messagesMount } as const
  for (const [upstream, mount] of Object.entries(mounts)) {
    const rules = formatBatches
      .filter((each) => each.upstream === upstream)
      .flatMap((each) => Array.from({ length: itemCount }, (_, index) => rulesOf(each, index)).flat())
    const response = await fetch(`${world.simulator.url}/admin/faults`, {
      method: 'POST',
      body: JSON.stringify({ mount, rules: [{ fault: 'latency=300..1200' }, ...rules] }),
    })
    if (!response.ok) throw new Error(await response.text())
  }
}

/** A gateway that is killed and started again; of each batch how many kills it has lived through. */
async function runWithKills(world: World): Promise<{ batches: Submitted[]; kills: Map<string, number> }> {
  let gateway = await world.start()
  const batches = await Promise.all(formatBatches.map((each) => submit(gateway.baseUrl, each)))
  const kills = new Map(batches.map(({ id }) => [id, 0]))
  for (let kill = 0; kill < killCount; kill++) {
    await Bun.sleep(lifeMs.least + ((kill * 7919) % 10) * ((lifeMs.most - lifeMs.least) / 9))
    for (const { id } of batches) {
      const { status } = await readBatch(gateway.baseUrl, id)
      if (!isTerminalStatus(status)) kills.set(id, (kills.get(id) ?? 0) + 1)
    }
    gateway.signal('SIGKILL')
    await gateway.ended
    gateway = await world.start()
  }
  return { batches, kills }
}

interface Usage {
  prompt_tokens?: number
  completion_tokens?: number
  input_tokens?: number
  output_tokens?: number
  cache_read_input_tokens?: number
  cache_creation_input_tokens?: number
  cost?: number
}

interface Result {
  custom_id: string
  response: { status_code: number; body: { model: string; usage: Usage } } | null
  error: { type: string; message: string; error_type?: string } | null
}

interface Ended {
  status: string
  request_counts: { total: number; completed: number; failed: number }
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number; cost: number }
  results: Result[]
}

/** Tokens of the input with what a cache had, whatever the format calls them. */
function inputOf(usage: Usage): number {
  const cache = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
  return (usage.prompt_tokens ?? usage.input_tokens ?? 0) + cache
}

const nanocreditsOf = (cost: number | undefined): number => Math.round((cost ?? 0) * 1e9)

function judgeResults(each: Submitted, ended: Ended): string[] {
  const problems: string[] = []
  if (ended.status !== 'completed') problems.push(`status ${ended.status}`)
  if (ended.results.length !== itemCount) problems.push(`${ended.results.length} results`)
  for (const [index, { custom_id: id, response, error }] of ended.results.entries()) {
    if (id !== nameOf(each, index)) problems.push(`result ${index} is ${id}`)
    if (kindOf(index) !== 'permanent') {
      if (response?.status_code !== 200)
        problems.push(`${id}: ${JSON.stringify(error ?? response).slice(0, 300)}`)
      else if (response.body.model !== each.model) problems.push(`${id}: its model is ${response.body.model}`)
      continue
    }
    const isRight =
      error?.error_type === 'invalid_request' && error.message.includes('Turnips are not served')
    if (!isRight) problems.push(`${id}: its error is ${JSON.stringify(error)}`)
  }
  const permanent = ended.results.filter((_, index) => kindOf(index) === 'permanent').length
  const { total, completed, failed } = ended.request_counts
  if (total !== itemCount || failed !== permanent || completed !== itemCount - permanent)
    problems.push(`counts are ${total}, ${completed}, ${failed}`)
  return problems
}

function judgeMoney(ended: Ended, ledger: LedgerOfBatch): string[] {
  const usages = ended.results.flatMap(({ response }) => (response ? [response.body.usage] : []))
  const sum = (of: (usage: Usage) => number) => usages.reduce((total, usage) => total + of(usage), 0)
  const output = sum((usage) => usage.completion_tokens ?? usage.output_tokens ?? 0)
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total, cost } = ended.usage
  const rows: [what: string, found: unknown, wanted: unknown][] = [
    ['input of batch and items', prompt, sum(inputOf)],
    ['output of batch and items', completion, output],
    ['total of the batch', total, prompt + completion],
    ['input of batch and ledger', prompt, ledger.promptTokens],
    ['cost of batch and ledger', nanocreditsOf(cost), Number(ledger.cost)],
    ['cost of items and ledger', sum((usage) => nanocreditsOf(usage.cost)), Number(ledger.cost)],
    ['usages and completed items', ledger.count, ended.request_counts.completed],
    ['captures and usages', ledger.captures, ledger.count],
    ['captured and cost', ledger.captured, ledger.cost],
    ['costs nothing', ledger.cost === 0n, false],
  ]
  return rows.flatMap(([what, found, wanted]) =>
    found === wanted ? [] : [`${what}: ${String(found)}, not ${String(wanted)}`],
  )
}

/** After an orderly stop nobody holds anything, and every batch has given back what it had. */
async function heldProblems({ database }: World): Promise<string[]> {
  const leases = await database.query<{ lease_id: string }>(
    "select lease_id from leases where state <> 'closed' and held_nanocredits > 0 limit 100",
  )
  const budgets = await database.query<{ budget_id: string }>(
    "select budget_id from budgets where kind = 'batch' and closed = 0 limit 100",
  )
  return [
    ...leases.map(({ lease_id: id }) => `${id} still holds`),
    ...budgets.map(({ budget_id: id }) => `${id} is still open`),
  ]
}

async function prove(name: DialectName): Promise<boolean> {
  const world = await createWorld({
    database: name,
    credits: '100',
    providers: (url) => [
      { preset: 'sandbox', base_url: `${url}/v1`, api_key: 'sandbox', concurrency: 400 },
      {
        preset: 'anthropic',
        base_url: `${url}/p/${messagesMount}/v1`,
        api_key: 'simulated',
        concurrency: 400,
        discover: false,
        models: [{ id: 'anthropic/claude-sonnet-4-5' }],
      },
    ],
  })
  const startMs = performance.now()
  try {
    await setFaults(world)
    const { batches, kills } = await runWithKills(world)
    const gateway = await world.start()
    const problems: string[] = []
    const figures: string[] = []
    for (const each of batches) {
      const ended = await readBatch(gateway.baseUrl, each.id, waitMsMax)
      const own = ended as unknown as Ended & Record<string, unknown>
      const found = [
        ...shapeProblems(own),
        ...judgeResults(each, own),
        ...judgeMoney(own, await usagesOf(world.database, each.id)),
      ]
      if (kills.get(each.id) !== killCount) found.push(`ended after ${kills.get(each.id)} kills`)
      problems.push(...found.map((problem) => `${each.name}: ${problem}`))
      figures.push(
        `${each.name}: ${own.request_counts.completed} + ${own.request_counts.failed}, ${own.usage.cost} credits`,
      )
    }
    gateway.signal('SIGTERM')
    await gateway.ended
    problems.push(...(await heldProblems(world)), ...(await world.findings()))
    const seconds = Math.round((performance.now() - startMs) / 1000)
    console.log(
      `${name}: ${batches.length} batches of ${itemCount} items through ${killCount} kills in ${seconds} s, ${problems.length} problems`,
    )
    for (const figure of figures) console.log(`${name}: ${figure}`)
    for (const problem of problems.slice(0, 20)) console.log(`${name}: WRONG: ${problem}`)
    return problems.length === 0
  } finally {
    await world.remove()
  }
}

let isGood = await prove('sqlite')
const reason = whyNoPostgres()
if (reason === null) isGood = (await prove('postgres')) && isGood
else console.log(`postgres: not run: ${reason}`)
console.log('embeddings on the upstream of messages: there are none')
process.exit(isGood ? 0 : 1)
