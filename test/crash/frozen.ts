import { readBatch, usagesOf } from './batch-client.ts'
import { addOrganization, liftRates } from './people.ts'
import { createWorld, inferenceKey, model, type World } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/** A frozen process is thawed after this long, whatever it had under way. */
export const frozenMs = 90_000

/** What was promised and what came of it. */
export interface FrozenResult {
  figures: string[]
  problems: string[]
}

const post = (baseUrl: string, path: string, body: unknown, key: string): Promise<Response> =>
  fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const chatBody = (content: string, maxTokens: number, stream = false) => ({
  model,
  messages: [{ role: 'user', content }],
  max_tokens: maxTokens,
  stream,
})

/**
 * Stops a process for 90 s with a stream and a batch under way. The other one has to get the credits that the frozen one
 * does not hold and the batch; the frozen one has to end its stream with one capture, add nothing to the batch, and grant
 * nothing from its old lease.
 */
export async function proveFrozen(name: DialectName): Promise<FrozenResult> {
  const world = await createWorld({ database: name, credits: '100' })
  try {
    return await new Freeze(world).run()
  } finally {
    await world.remove()
  }
}

class Freeze {
  readonly #world: World
  readonly #figures: string[] = []
  readonly #problems: string[] = []

  constructor(world: World) {
    this.#world = world
  }

  async run(): Promise<FrozenResult> {
    const world = this.#world
    await world.setFaults([
      { match: { body_contains: 'long stream' }, fault: 'tokens=60,chunk_delay=250' },
      { match: { body_contains: 'batch item' }, fault: 'latency=4000' },
    ])
    const frozen = await world.start()
    await liftRates(world.database)
    // 2,000,000 nanocredits: enough for the stream and some more, so that who holds the rest shows.
    const { key, organizationId } = await addOrganization(world.database, 2_000_000n)
    const stream = await post(frozen.baseUrl, '/chat/completions', chatBody('long stream', 60, true), key)
    const streamed = stream.text().catch((error: unknown) => String(error))
    const batchId = await this.#startBatch(frozen.baseUrl)
    const other = await world.start()
    frozen.signal('SIGSTOP')
    const stoppedMs = performance.now()
    await this.#spendTheRest(other.baseUrl, { key, stoppedMs })
    await this.#finishBatch(other.baseUrl, { batchId, stoppedMs })
    await Bun.sleep(Math.max(0, frozenMs - (performance.now() - stoppedMs)))
    const late = post(frozen.baseUrl, '/chat/completions', chatBody('late', 1_000), key)
    frozen.signal('SIGCONT')
    const text = await streamed
    await this.#judgeStream(text, stream.headers.get('x-generation-id') ?? '')
    this.#figures.push(`${world.name}: a call waiting at the thawed process: ${(await late).status}`)
    await (await late).text()
    await Bun.sleep(3_000)
    for (const each of [frozen, other]) each.signal('SIGTERM')
    await Promise.all([frozen.ended, other.ended])
    this.#problems.push(...(await world.findings()))
    await this.#judgeBalance(organizationId)
    return { figures: this.#figures, problems: this.#problems }
  }

  async #startBatch(baseUrl: string): Promise<string> {
    const requests = Array.from({ length: 10 }, (_, index) => ({
      custom_id: `item-${index}`,
      body: { messages: [{ role: 'user', content: 'batch item' }], max_tokens: 5 },
    }))
    const body = { endpoint: '/v1/chat/completions', model, requests }
    const response = await post(baseUrl, '/batches', body, inferenceKey)
    if (response.status !== 202) throw new Error(`not accepted: ${await response.text()}`)
    const { id } = (await response.json()) as { id: string }
    const endMs = performance.now() + 10_000
    while ((await this.#segmentOwner(id)) === null && performance.now() < endMs) await Bun.sleep(50)
    return id
  }

  async #segmentOwner(batchId: string): Promise<string | null> {
    const [row] = await this.#world.database.query<{ owner_id: string | null }>(
      'select owner_id from segments where batch_id = $1',
      [batchId],
    )
    return row?.owner_id ?? null
  }

  /** How long until the other process may spend what the frozen one does not hold. */
  async #spendTheRest(
    baseUrl: string,
    { key, stoppedMs }: { key: string; stoppedMs: number },
  ): Promise<void> {
    let refusals = 0
    while (performance.now() - stoppedMs < frozenMs / 2) {
      // Worth all but one such hold of the balance, so it cannot be had while the frozen process has the rest in its slice.
      const response = await post(baseUrl, '/chat/completions', chatBody('rest', 3_200), key)
      await response.text()
      if (response.status === 200) {
        const seconds = ((performance.now() - stoppedMs) / 1000).toFixed(1)
        this.#figures.push(
          `${this.#world.name}: frozen with a stream open; another process had the unheld credits after ${seconds} s (${refusals} refusals before)`,
        )
        return
      }
      refusals += 1
      await Bun.sleep(200)
    }
    this.#problems.push('what the frozen process did not hold never came back')
  }

  async #finishBatch(
    baseUrl: string,
    { batchId, stoppedMs }: { batchId: string; stoppedMs: number },
  ): Promise<void> {
    const batch = await readBatch(baseUrl, batchId, frozenMs)
    const seconds = ((performance.now() - stoppedMs) / 1000).toFixed(1)
    this.#figures.push(
      `${this.#world.name}: its batch was taken over and ${batch.status} after ${seconds} s with ${batch.request_counts.completed} of 10 items`,
    )
    this.#batchId = batchId
  }

  #batchId = ''

  async #judgeStream(text: string, generationId: string): Promise<void> {
    const [row] = await this.#world.database.query<{ usages: number; postings: number }>(
      `select (select count(*) from usages where generation_id = $1) as usages,
         (select count(*) from postings where transaction_id = $1) as postings`,
      [generationId],
    )
    const isWhole = text.includes('data: [DONE]')
    this.#figures.push(
      `${this.#world.name}: after ${frozenMs / 1000} s frozen the stream ended ${isWhole ? 'whole' : 'cut'}, with ${row?.usages} usage row`,
    )
    if (Number(row?.usages) !== 1) this.#problems.push(`the stream has ${row?.usages} usages`)
    if (Number(row?.postings) !== 2) this.#problems.push(`the stream has ${row?.postings} postings`)
    if (!isWhole) this.#problems.push(`the stream was cut: ${text.slice(-300)}`)
  }

  async #judgeBalance(organizationId: string): Promise<void> {
    const { database, name } = this.#world
    const [row] = await database.query<{ balance: bigint }>(
      `select cast(sum(amount_nanocredits) as bigint) as balance from postings where account = $1`,
      [`organization:${organizationId}`],
    )
    this.#figures.push(`${name}: balance afterwards ${row?.balance} nanocredits`)
    if ((row?.balance ?? -1n) < 0n) this.#problems.push(`the balance is ${row?.balance}: granted twice`)
    const ledger = await usagesOf(database, this.#batchId)
    if (ledger.count !== 10) this.#problems.push(`the batch has ${ledger.count} usages of 10 items`)
  }
}
