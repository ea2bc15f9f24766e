import { randomText } from '../../src/core/ids.ts'
import type { AcceptedBatch, NewBatch } from './accepted-batch.ts'
import type { World } from './world.ts'

/** The mount of the simulator that runs providers' own batches. */
export const jobMount = 'jobs'
/** A model that only the provider with batches of its own serves. */
const jobModel = 'openai/gpt-4o'
/** From so many items on `auto` takes a job. */
const manyItems = 100
/** Longer than a lease's renewal takes, so that a driver renews while it waits. */
const slowUploadMs = 9_500
const openJobsMax = 6
/** How old a sent request must be before it counts as lost, and how much time is then made to pass. */
const lostAfterMs = 3_000
const searchedMs = 700_000
const stageMsMax = 15_000
const sweptMsMax = 90_000
const minute = 60_000

/** What is made to happen to a batch while its provider runs it. */
type Story =
  | 'plain'
  | 'refused upload'
  | 'full queue'
  | 'lost answer'
  | 'missing lines'
  | 'cancelled'
  | 'late'
  | 'expired'
  | 'slow upload'

const onCreate = { path: '/v1/batches', method: 'POST' }
const onUpload = { path: '/v1/files', method: 'POST' }

const faultsOf: Partial<Record<Story, { match: object; fault: string }>> = {
  'refused upload': { match: onUpload, fault: 'status=503' },
  'full queue': { match: onCreate, fault: 'batch_failed=token_limit_exceeded' },
  'lost answer': { match: onCreate, fault: 'cut_after=0' },
  'missing lines': { match: onCreate, fault: 'batch_lines_lost=2' },
  'slow upload': { match: onUpload, fault: `latency=${slowUploadMs}` },
}

/** Stories that lead to a point; every other point is passed by all of them. */
const storiesOf: Readonly<Record<string, readonly Story[]>> = {
  'job.free': ['slow upload'],
  'job.renew': ['slow upload'],
  'job.again': ['full queue'],
  'job.wait': ['refused upload', 'lost answer'],
}
const allStories: readonly Story[] = [
  'plain',
  'missing lines',
  'cancelled',
  'late',
  'lost answer',
  'expired',
  'plain',
]

/** What the stories use of the callers. */
export interface JobCallers {
  createBatch(batch: NewBatch): Promise<AcceptedBatch | null>
  cancel(batch: AcceptedBatch): Promise<void>
}

/**
 * Batches that a provider runs as jobs of its own, on gateways that die. The waits of hours and minutes are made to pass
 * in the database; nothing else is touched.
 */
export class JobStories {
  readonly #world: World
  readonly #callers: JobCallers
  /** Stories so far. */
  told = 0
  #telling = 0
  #isAlone = false

  constructor(world: World, callers: JobCallers) {
    this.#world = world
    this.#callers = callers
  }

  /** The provider's entry in the configuration. */
  static provider(simulatorUrl: string): Record<string, unknown> {
    const models = [{ id: jobModel }]
    const address = `${simulatorUrl}/p/${jobMount}/v1`
    return { preset: 'openai', base_url: address, api_key: 'simulated-key', discover: false, models }
  }

  /** Makes the provider's jobs short. */
  async setUp(): Promise<void> {
    await this.#world.setProvider({ job_looks: 0 }, jobMount)
  }

  /** Tells a story that leads to this point, unless enough are being told. */
  async tell(point: string): Promise<void> {
    if (this.#isAlone) return
    this.#telling += 1
    try {
      const open = await this.#open()
      if (open >= openJobsMax) return
      const stories = storiesOf[point] ?? allStories
      this.told += 1
      const story = stories[this.told % stories.length]
      if (story === 'missing lines') {
        // No other job may meet its fault.
        if (open > 0 || this.#telling > 1) return
        this.#isAlone = true
      }
      if (story !== undefined) await this.#tell(story)
    } finally {
      this.#telling -= 1
      if (this.#telling === 0) this.#isAlone = false
    }
  }

  async #tell(story: Story): Promise<void> {
    const fault = faultsOf[story]
    if (fault !== undefined) await this.#world.setFaults([{ ...fault, times: 1 }], jobMount)
    // A lane by name ends with errors where its job has no answer, so these stories leave the choice to the gateway.
    const isAuto = story === 'missing lines' || story === 'late'
    const items = Array.from({ length: isAuto ? manyItems : 6 }, (_, index) => ({
      messages: [{ role: 'user', content: `job ${index}` }],
      max_tokens: 6,
    }))
    const lane = isAuto ? 'auto' : 'native'
    const batch = { items, model: jobModel, lane, idempotencyKey: randomText(16) } as const
    const created = await this.#callers.createBatch(batch)
    if (created !== null) await this.#go(story, created)
    if (story === 'missing lines') await this.#world.setFaults([], jobMount)
  }

  /** Makes the waits of jobs and of removals pass. */
  async hurry(): Promise<void> {
    const nowMs = Date.now()
    await this.#write(
      `update native_jobs set due_at_ms = 0 where state <> 'ended' and due_at_ms > $1 and lease_until_ms = 0`,
      [nowMs],
    )
    await this.#write(
      `update native_jobs set sent_at_ms = sent_at_ms - ${searchedMs}
       where state = 'creating' and lease_until_ms = 0 and sent_at_ms > $1 and sent_at_ms < $2`,
      [nowMs - searchedMs, nowMs - lostAfterMs],
    )
    await this.#write(
      `update upstream_resources set due_at_ms = 0
       where state = 'left' and owner_id is null and due_at_ms > $1 and left_at_ms < $2`,
      [nowMs, nowMs - lostAfterMs],
    )
  }

  /** What jobs left that they must not have left, one line each; gateways are alive. */
  async audit(): Promise<string[]> {
    const endMs = performance.now() + sweptMsMax
    for (;;) {
      const problems = await this.#leftovers()
      if (problems.length === 0 || performance.now() > endMs) return [...problems, ...(await this.#doubled())]
      await this.hurry()
      await Bun.sleep(500)
    }
  }

  async #go(story: Story, batch: AcceptedBatch): Promise<void> {
    if (story === 'cancelled') {
      await this.#untilState(batch, ['uploaded', 'creating', 'running'])
      await this.#callers.cancel(batch)
    }
    if (story === 'missing lines') await this.#untilState(batch, ['running', 'collecting', 'ended'])
    if (story !== 'late' && story !== 'expired') return
    if (!(await this.#untilState(batch, ['running']))) return
    // `late`: within the hour in which jobs are cancelled for their deadline.
    const expiresAtMs = story === 'late' ? Date.now() + 50 * minute : 1
    await this.#write(
      `update batches set expires_at_ms = $1 where batch_id = $2 and status = 'in_progress'`,
      [expiresAtMs, batch.id],
    )
  }

  async #untilState({ id }: AcceptedBatch, states: readonly string[]): Promise<boolean> {
    const endMs = performance.now() + stageMsMax
    while (performance.now() < endMs) {
      const rows = await this.#world.database.query<{ state: string }>(
        'select state from native_jobs where batch_id = $1 limit 10',
        [id],
      )
      if (rows.some(({ state }) => states.includes(state))) return true
      await Bun.sleep(20)
    }
    return false
  }

  async #open(): Promise<number> {
    const [row] = await this.#world.database.query<{ open: number }>(
      `select count(*) as open from batches
       where lane = 'native' and status not in ('completed', 'failed', 'expired', 'cancelled')`,
    )
    return Number(row?.open)
  }

  async #leftovers(): Promise<string[]> {
    const { database } = this.#world
    const jobs = await database.query(`select state from native_jobs where state <> 'ended' limit 1000`)
    const given = await database.query(`select ordinal from segments where state = 'given' limit 1000`)
    const resources = await database.query<{ kind: string; state: string; reason: string | null }>(
      'select kind, state, reason from upstream_resources limit 1000',
    )
    const counts = (await this.#world.counters(jobMount))['batches'] as Record<string, number>
    const left = [
      `${jobs.length} jobs have not ended`,
      `${given.length} segments belong to jobs`,
      `${resources.length} notes of what is left: ${JSON.stringify(resources[0])}`,
      `${counts['batches_running']} jobs run at the provider`,
      `${counts['files_left']} files are at the provider`,
    ]
    return left.filter((line) => !line.startsWith('0 '))
  }

  /**
   * A job that the provider has run belongs to a stored job, and no two belong to one: those that it refused as a whole are
   * sent again under another nonce.
   */
  async #doubled(): Promise<string[]> {
    const rows = await this.#world.database.query<{ nonce: string }>(
      'select nonce from native_jobs limit 10000',
    )
    const stored = new Set(rows.map(({ nonce }) => nonce))
    const made = (await this.#made()).filter(({ status }) => status !== 'failed')
    const nonces = made.map(({ metadata }) => metadata?.['headrace_job'] ?? '')
    const problems: string[] = []
    if (made.length === 0) problems.push('no job was run')
    const stray = nonces.filter((nonce) => !stored.has(nonce))
    if (stray.length > 0) problems.push(`${stray.length} of ${made.length} jobs belong to nobody`)
    if (new Set(nonces).size < nonces.length) problems.push('a job was created twice')
    return problems
  }

  async #made(): Promise<{ status: string; metadata: Record<string, string> | null }[]> {
    const made: { id: string; status: string; metadata: Record<string, string> | null }[] = []
    for (let after = ''; ;) {
      const response = await fetch(
        `${this.#world.simulator.url}/p/${jobMount}/v1/batches?limit=100${after}`,
        { headers: { authorization: 'Bearer simulated-key' } },
      )
      const page = (await response.json()) as { data: typeof made; has_more: boolean }
      made.push(...page.data)
      if (!page.has_more) return made
      after = `&after=${page.data.at(-1)?.id}`
    }
  }

  async #write(sql: string, params: (string | number)[]): Promise<void> {
    await this.#world.database.commit({ name: 'test.write', statements: [{ sql, params }] })
  }
}
