import { newId, randomText } from '../../src/core/ids.ts'
import type { AcceptedBatch, NewBatch } from './accepted-batch.ts'
import { isTerminalStatus } from './batch-client.ts'
import { crashedServices, JobStories } from './job-stories.ts'
import { addKey, addOrganization } from './people.ts'
import { jobPoints } from './sites.ts'
import { inferenceKey, model, organizationId, toldDestination, type World } from './world.ts'

/** Longer than a lease's renewal takes, so that a worker renews while it waits. */
const slowItemMs = 9_500
const openBatchesMax = 12
const waitingBatchesMax = 5
/** Repetitions of one upload while gateways die under it. */
const uploadTriesMax = 25
const requestMsMax = 15_000
const embeddingModel = 'openai/text-embedding-3-small'
const speechModel = 'openai/tts-1'
const day = 86_400_000
/** Questions that are asked again and again. */
const cachedQuestions = 5

/** Fault rules that the workload's items are named after. */
export const workloadFaults = [
  { match: { body_contains: 'slow-item' }, fault: `latency=${slowItemMs}` },
  { match: { body_contains: 'streamed' }, fault: 'chunk_delay=5' },
  { match: { path: '/audio/speech' }, fault: 'tone' },
]

/**
 * Callers of gateways that die: each action asks one that is alive now, takes every answer down, and counts a broken
 * connection as no answer. Nothing here knows when a gateway is going to die.
 */
export class Workload {
  /** Generation ids of calls whose whole answer was received. */
  readonly answered: string[] = []
  readonly batches = new Map<string, AcceptedBatch>()
  /** Idempotency keys under which a batch was sent again and again until it was accepted. */
  readonly idempotencyKeys: string[] = []
  /** Organizations whose batches wait for credits. */
  readonly poor: string[] = []
  /** What a gateway answered that it must not. */
  readonly complaints: string[] = []
  /** What was asked and answered, by generation, of calls whose answers are kept. */
  readonly #said = new Map<string, { question: string; text: string }>()
  callsStarted = 0
  readonly #world: World
  readonly #pickUrl: () => string | null
  readonly jobs: readonly JobStories[]
  #brokeKey: string | null = null
  #jobsTold = 0

  constructor(world: World, pickUrl: () => string | null) {
    this.#world = world
    this.#pickUrl = pickUrl
    const callers = {
      createBatch: (batch: NewBatch) => this.createBatch(batch),
      cancel: (batch: AcceptedBatch) => this.#cancel(batch),
    }
    this.jobs = crashedServices.map((service) => new JobStories(world, callers, service))
  }

  /** Does what makes a gateway pass this commit point, now or soon. */
  async provoke(point: string): Promise<void> {
    const usual = jobPoints.has(point) ? () => this.#tell(point) : () => this.chat()
    const act = this.#actions[point] ?? usual
    await act().catch((error: unknown) => {
      if (!isBrokenConnection(error)) this.complaints.push(`${point}: ${String(error)}`)
    })
  }

  /** A batch that a provider runs as jobs, at the providers in turn. */
  async #tell(point: string): Promise<void> {
    this.#jobsTold += 1
    await this.jobs[this.#jobsTold % this.jobs.length]?.tell(point)
  }

  /** A live call of a kind that turns. */
  async live(): Promise<void> {
    const kinds = [() => this.chat(), () => this.stream(), () => this.speech()]
    await kinds[this.callsStarted % kinds.length]?.().catch(() => undefined)
  }

  async chat(key = inferenceKey): Promise<void> {
    const body = { model, messages: [{ role: 'user', content: 'crash' }], max_tokens: 6 }
    const response = await this.#call('/chat/completions', body, key)
    if (response.ok && 'choices' in ((await response.json()) as object)) this.#note(response)
  }

  /** A call whose answer may be that of an earlier one: then it is the same, to the same question, and free. */
  async cached(headers: Record<string, string> = {}): Promise<void> {
    const question = `cached ${this.callsStarted % cachedQuestions}`
    const body = { model, messages: [{ role: 'user', content: question }], max_tokens: 6 }
    const asked = { 'x-openrouter-cache': 'true', ...headers }
    const response = await this.#call('/chat/completions', body, inferenceKey, asked)
    if (!response.ok) return
    const { choices, usage } = (await response.json()) as CachedAnswer
    const text = choices[0]?.message.content ?? ''
    this.#note(response)
    this.#said.set(response.headers.get('x-generation-id') ?? '', { question, text })
    const source = response.headers.get('x-openrouter-cache-source-id')
    if (source === null) return
    if (usage.cost !== 0) this.complaints.push(`an answer that was given again cost ${usage.cost}`)
    const earlier = this.#said.get(source)
    if (earlier !== undefined && (earlier.question !== question || earlier.text !== text))
      this.complaints.push(`"${question}" was answered with another answer than that of ${source}`)
  }

  async stream(): Promise<void> {
    const body = { model, messages: [{ role: 'user', content: 'streamed' }], max_tokens: 6, stream: true }
    const response = await this.#call('/chat/completions', body)
    const text = await response.text()
    if (response.ok && text.includes('data: [DONE]') && !text.includes('"error"')) this.#note(response)
  }

  async speech(): Promise<void> {
    const body = { model: speechModel, input: 'Crash.', voice: 'alloy', response_format: 'pcm' }
    const response = await this.#call('/audio/speech', body)
    await response.arrayBuffer()
    if (response.ok) this.#note(response)
  }

  /** Creates a batch; with an idempotency key again and again until somebody lives long enough to say so. */
  async createBatch(batch: NewBatch): Promise<AcceptedBatch | null> {
    if (!batch.idempotencyKey) return this.#tryBatch(batch)
    this.idempotencyKeys.push(batch.idempotencyKey)
    for (let tries = 0; tries < uploadTriesMax; tries++) {
      const created = await this.#tryBatch(batch).catch(() => null)
      if (created) return created
      await Bun.sleep(250)
    }
    return null
  }

  readonly #actions: Readonly<Record<string, () => Promise<unknown>>> = {
    // Statistics are saved when there are new ones, and several processes share the calls.
    'model_stats.save': async () => {
      await Promise.all(Array.from({ length: 6 }, () => this.chat()))
    },
    'budget.ensure': async () => this.chat((await addKey(this.#world.database, 1_000_000_000n)).key),
    'budget.recall': () => this.#tooDear(),
    'idempotency.claim': () => this.#small(),
    'idempotency.take_over': () => this.#takeOver(),
    'idempotency.release': () => this.#refused(),
    'blob.segment': () => this.#small(),
    'batch.accept': () => this.#small(),
    'batch.start': () => this.#small(),
    'segment.lease': () => this.#small(),
    'part.commit': () => this.#small(),
    'blob.merged': () => this.#small(),
    'segment.merge': () => this.#small(),
    'batch.finalizing': () => this.#small(),
    'batch.finalize': () => this.#small(),
    'batch.enlarge': () => this.#openEnded(),
    'segment.free': () => this.#slow(),
    'segment.renew': () => this.#slow(),
    'segment.return': () => this.#poor(),
    'batch.wait': () => this.#poor(),
    'blob.part': () => this.#embeddings(),
    'batch.cancel': () => this.#cancelled(),
    'batch.expire': () => this.#expired(),
    'batch.delete': () => this.#deleted(),
    'batch.purge': () => this.#purged(),
    'blob.delete': () => this.#purged(),
    'blob.orphan': () => this.#orphan(),
    'broadcast.trim': () => this.#outdated(),
    'cache.keep': () => this.cached(),
    'cache.drop': async () => {
      await this.cached()
      await this.cached({ 'x-openrouter-cache-clear': 'true' })
    },
    'cache.trim': async () => {
      await this.cached()
      await this.#write('update cached_answers set expires_at_ms = 1', [])
    },
  }

  async #small(): Promise<unknown> {
    if (await this.#isBusy()) return
    const items = Array.from({ length: 6 }, (_, index) => chatItem(`small ${index}`))
    return this.createBatch({ items, idempotencyKey: randomText(16) })
  }

  /** Its worst case is far above its estimate. */
  async #openEnded(): Promise<unknown> {
    if (await this.#isBusy()) return
    return this.createBatch({ items: [{ messages: [{ role: 'user', content: 'open' }] }] })
  }

  async #slow(): Promise<AcceptedBatch | null> {
    if (await this.#isBusy()) return null
    return this.createBatch({ items: [chatItem('slow-item')] })
  }

  /** Answers of numbers, which hardly compress: the part is too large for its row. */
  async #embeddings(): Promise<unknown> {
    if (await this.#isBusy()) return
    const items = Array.from({ length: 16 }, () => ({ input: randomText(20) }))
    return this.createBatch({ items, endpoint: '/v1/embeddings', model: embeddingModel })
  }

  /** Has the estimate and not the worst case, so it waits for credits. */
  async #poor(): Promise<unknown> {
    if ((await this.#countOpen('error_json is not null')) >= waitingBatchesMax) {
      // Forgotten that it waits, so that it is noted again.
      await this.#write(`update batches set error_json = null where status = 'in_progress'`, [])
      return
    }
    if (await this.#isBusy()) return
    const { key, organizationId: id } = await addOrganization(this.#world.database, 2_000_000n)
    this.poor.push(id)
    return this.createBatch({ items: [{ messages: [{ role: 'user', content: 'poor' }] }], key })
  }

  async #tooDear(): Promise<void> {
    this.#brokeKey ??= (await addOrganization(this.#world.database, 1n)).key
    const items = Array.from({ length: 3 }, () => chatItem('dear'))
    const response = await this.#post('/batches', batchBody({ items }, idsOf(items)), this.#brokeKey)
    if (response.status !== 402 && response.status < 500)
      this.complaints.push(`a batch without credits: ${response.status}`)
  }

  async #refused(): Promise<void> {
    const body = { endpoint: '/v1/chat/completions', model, requests: [] }
    await this.#post('/batches', body, inferenceKey, { 'idempotency-key': randomText(16) })
  }

  /** A claim that somebody made and never ended, old enough to be anybody's. */
  async #takeOver(): Promise<unknown> {
    const key = randomText(16)
    const claim = JSON.stringify([organizationId, 'POST /batches', key])
    const claimId = new Bun.CryptoHasher('sha256').update(claim).digest('hex')
    await this.#write(
      `insert into idempotency_keys (claim_id, organization_id, route, owner_id, state, created_at_ms, expires_at_ms)
        values ($1, $2, 'POST /batches', 'gone#1', 'claimed', 1, 1)`,
      [claimId, organizationId],
    )
    return this.createBatch({ items: [chatItem('taken over')], idempotencyKey: key })
  }

  async #cancelled(): Promise<void> {
    const batch = await this.#slow()
    if (batch) await this.#cancel(batch)
  }

  async #cancel({ id }: AcceptedBatch): Promise<void> {
    await (await this.#post(`/batches/${id}/cancel`, undefined)).text()
  }

  async #expired(): Promise<void> {
    const batch = await this.#slow()
    if (batch) await this.#write('update batches set expires_at_ms = 1 where batch_id = $1', [batch.id])
  }

  async #deleted(): Promise<AcceptedBatch | null> {
    const rows = await this.#world.database.query<{ batch_id: string; status: string }>(
      `select batch_id, status from batches where deleted_at_ms is null and lane <> 'native' order by created_at_ms limit 100`,
    )
    const ended = rows.find(({ batch_id, status }) => isTerminalStatus(status) && this.batches.has(batch_id))
    const batch = ended ? this.batches.get(ended.batch_id) : undefined
    if (!batch) {
      await this.#small()
      return null
    }
    batch.isDeleted = true
    const url = `${this.#url()}/batches/${batch.id}`
    await fetch(url, { method: 'DELETE', headers: { authorization: `Bearer ${batch.key}` } })
    return batch
  }

  /** A batch deleted yesterday: the next start clears it away. */
  async #purged(): Promise<void> {
    const batch = await this.#deleted()
    if (!batch) return
    await this.#write(
      'update batches set deleted_at_ms = deleted_at_ms - $1 where batch_id = $2 and deleted_at_ms is not null',
      [2 * day, batch.id],
    )
  }

  /** A blob of three days ago without a row; those noted before are due. */
  async #orphan(): Promise<void> {
    const key = `segments/${newId('batch', 1)}/${newId('b', Date.now() - 3 * day)}`
    await this.#world.blobs.put(key, Buffer.from('orphan'))
    await this.#write('update blob_deletions set due_at_ms = 1', [])
  }

  /** A generation that was given up more than a week ago. */
  async #outdated(): Promise<void> {
    await this.#write(
      `insert into broadcasts (destination, generation_id, state, created_at_ms, payload_json)
        values ($1, $2, 'failed', 1, '{}')`,
      [toldDestination, `gen-outdated-${randomText(12)}`],
    )
  }

  async #write(sql: string, params: (string | number)[]): Promise<void> {
    await this.#world.database.commit({ name: 'test.write', statements: [{ sql, params }] })
  }

  /** Enough batches run; what is wanted comes from them, too. Those that wait for credits are in nobody's way. */
  async #isBusy(): Promise<boolean> {
    return (await this.#countOpen('error_json is null')) >= openBatchesMax
  }

  async #countOpen(condition: string): Promise<number> {
    const [row] = await this.#world.database.query<{ open: number }>(
      `select count(*) as open from batches
       where status not in ('completed', 'failed', 'expired', 'cancelled') and ${condition}`,
    )
    return Number(row?.open)
  }

  async #tryBatch(batch: NewBatch): Promise<AcceptedBatch | null> {
    const { key = inferenceKey, idempotencyKey } = batch
    const customIds = idsOf(batch.items)
    const headers = idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}
    const response = await this.#post('/batches', batchBody(batch, customIds), key, headers)
    const text = await response.text()
    if (response.status !== 202) {
      if (response.status < 500 && response.status !== 409)
        this.complaints.push(`create: ${response.status} ${text.slice(0, 300)}`)
      return null
    }
    const { id } = JSON.parse(text) as { id: string }
    const accepted = { id, key, customIds, isDeleted: false }
    this.batches.set(id, accepted)
    return accepted
  }

  async #call(
    path: string,
    body: unknown,
    key = inferenceKey,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    this.callsStarted += 1
    return this.#post(path, body, key, headers)
  }

  #post(
    path: string,
    body: unknown,
    key = inferenceKey,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${this.#url()}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMsMax),
    })
  }

  #url(): string {
    const url = this.#pickUrl()
    if (url === null) throw new TypeError('nobody is alive')
    return url
  }

  #note(response: Response): void {
    this.answered.push(response.headers.get('x-generation-id') ?? '')
  }
}

interface CachedAnswer {
  choices: { message: { content: string } }[]
  usage: { cost: number }
}

const chatItem = (content: string): Record<string, unknown> => ({
  messages: [{ role: 'user', content }],
  max_tokens: 6,
})

function idsOf(items: readonly unknown[]): string[] {
  return items.map((_, index) => `id-${index}`)
}

function batchBody(batch: NewBatch, customIds: readonly string[]): Record<string, unknown> {
  const requests = batch.items.map((body, index) => ({ custom_id: customIds[index], body }))
  const headrace = batch.lane === undefined ? {} : { headrace: { lane: batch.lane } }
  return {
    endpoint: batch.endpoint ?? '/v1/chat/completions',
    model: batch.model ?? model,
    ...headrace,
    requests,
  }
}

/** The gateway died, or nobody was there: what this suite is about, and no mistake. */
function isBrokenConnection(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof Error &&
      /socket|connect|timed out|closed|ECONN/i.test(`${error.name} ${error.message}`))
  )
}
