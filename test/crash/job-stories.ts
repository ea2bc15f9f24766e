import { randomText } from '../../src/core/ids.ts'
import type { AcceptedBatch, NewBatch } from './accepted-batch.ts'
import type { World } from './world.ts'

/** A provider's batch service, and its mount of the simulator. */
interface CrashedService {
  preset: 'openai' | 'anthropic'
  mount: string
  /** A model that only this provider serves. */
  model: string
  /** The path of the request that creates a job. */
  createPath: string
  /** The step that a slow answer prolongs for so long that its lease is renewed. */
  slow: { path?: string; path_contains?: string; method: string }
  /** The member of the simulator's counters, and what of it must be gone in the end. */
  counters: string
  left: string
  /** Points that its jobs do not pass. */
  without: readonly string[]
  /** Stories that cannot be told of it. */
  untold: readonly Story[]
}

/** Where a job is looked for by its number of items, stories at the same time have different ones. */
const itemCounts = 40
/** From so many items on `auto` takes a job. */
const manyItems = 100
/** Longer than a lease's renewal takes, so that a driver renews while it waits. */
const slowStepMs = 9_500
const openJobsMax = 6
/** How old a sent request must be before it counts as lost, and how much time is then made to pass. */
const lostAfterMs = 3_000
const searchedMs = 700_000
/** What a hurried removal counts at most: more than the looks for a thing whose id never came, fewer than give it up. */
const hurriedTries = 10
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
  | 'slow step'

export const crashedServices: readonly CrashedService[] = [
  {
    preset: 'openai',
    mount: 'jobs',
    model: 'openai/gpt-4o',
    createPath: '/v1/batches',
    slow: { path: '/v1/files', method: 'POST' },
    counters: 'batches',
    left: 'files_left',
    without: [],
    untold: [],
  },
  {
    preset: 'anthropic',
    mount: 'messages',
    model: 'anthropic/claude-haiku-4-5',
    createPath: '/v1/messages/batches',
    // A creating request that outlives its process could make its batch after all searches for it.
    slow: { path_contains: '/results', method: 'GET' },
    counters: 'message_batches',
    left: 'batches_left',
    without: ['job.upload', 'job.uploaded', 'job.again'],
    untold: ['full queue', 'refused upload'],
  },
]

function faultsOf(
  story: Story,
  { createPath, slow }: CrashedService,
): { match: object; fault: string } | null {
  const onCreate = { path: createPath, method: 'POST' }
  if (story === 'refused upload') return { match: { path: '/v1/files', method: 'POST' }, fault: 'status=503' }
  if (story === 'full queue') return { match: onCreate, fault: 'batch_failed=token_limit_exceeded' }
  if (story === 'lost answer') return { match: onCreate, fault: 'cut_after=0' }
  if (story === 'missing lines') return { match: onCreate, fault: 'batch_lines_lost=2' }
  return story === 'slow step' ? { match: slow, fault: `latency=${slowStepMs}` } : null
}

/** Stories that lead to a point; every other point is passed by all of them. */
const storiesOf: Readonly<Record<string, readonly Story[]>> = {
  'job.free': ['slow step'],
  'job.renew': ['slow step'],
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
  readonly #service: CrashedService
  /** Stories so far. */
  told = 0
  #telling = 0
  #isAlone = false

  constructor(world: World, callers: JobCallers, service: CrashedService) {
    this.#world = world
    this.#service = service
    this.#callers = callers
  }

  /** The provider's entry in the configuration. */
  static provider({ preset, mount, model }: CrashedService, simulatorUrl: string): Record<string, unknown> {
    const models = [{ id: model }]
    const address = `${simulatorUrl}/p/${mount}/v1`
    return { preset, base_url: address, api_key: 'simulated-key', discover: false, models }
  }

  /** Makes the provider's jobs short. */
  async setUp(): Promise<void> {
    await this.#world.setProvider({ job_looks: 0 }, this.#service.mount)
  }

  /** Tells a story that leads to this point, unless enough are being told. */
  async tell(point: string): Promise<void> {
    if (this.#isAlone || this.#service.without.includes(point)) return
    this.#telling += 1
    try {
      const open = await this.#open()
      if (open >= openJobsMax) return
      const stories = (storiesOf[point] ?? allStories).filter((each) => !this.#service.untold.includes(each))
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
    const { model, mount } = this.#service
    const fault = faultsOf(story, this.#service)
    if (fault !== null) await this.#world.setFaults([{ ...fault, times: 1 }], mount)
    // A lane by name ends with errors where its job has no answer, so these stories leave the choice to the gateway.
    const isAuto = story === 'missing lines' || story === 'late'
    const items = Array.from({ length: (isAuto ? manyItems : 6) + (this.told % itemCounts) }, (_, index) => ({
      messages: [{ role: 'user', content: `job ${index}` }],
      max_tokens: 6,
    }))
    const lane = isAuto ? 'auto' : 'native'
    const batch = { items, model, lane, idempotencyKey: randomText(16) } as const
    const created = await this.#callers.createBatch(batch)
    if (created !== null) await this.#go(story, created)
    if (story === 'missing lines') await this.#world.setFaults([], mount)
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
    // Tries must not run out in the seconds that stand for two days.
    await this.#write(
      `update upstream_resources set due_at_ms = 0, tries = case when tries > ${hurriedTries} then ${hurriedTries} else tries end
       where state = 'left' and owner_id is null and due_at_ms > $1 and left_at_ms < $2`,
      [nowMs, nowMs - lostAfterMs],
    )
  }

  /** What jobs left that they must not have left, one line each; gateways are alive. */
  async audit(kills: number): Promise<string[]> {
    const endMs = performance.now() + sweptMsMax
    for (;;) {
      const problems = await this.#leftovers()
      if (problems.length === 0 || performance.now() > endMs)
        return [...problems, ...(await this.#doubled(kills))]
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
       where lane = 'native' and model = $1 and status not in ('completed', 'failed', 'expired', 'cancelled')`,
      [this.#service.model],
    )
    return Number(row?.open)
  }

  async #leftovers(): Promise<string[]> {
    const { database } = this.#world
    const jobs = await database.query(
      `select job_id, batch_id, endpoint_id, state, tries, sent_at_ms, due_at_ms, owner_id, lease_until_ms, now_ms() as at_ms
       from native_jobs where state <> 'ended' limit 1000`,
    )
    const given = await database.query(`select ordinal from segments where state = 'given' limit 1000`)
    const resources = await database.query('select * from upstream_resources order by resource_id limit 1000')
    const counts = await this.#counts()
    const left = [
      `${jobs.length} jobs have not ended: ${shown(jobs)}`,
      `${given.length} segments belong to jobs`,
      `${resources.length} notes of what is left: ${shown(resources)}`,
      `${counts['batches_running']} jobs run at the provider`,
      `${counts[this.#service.left]} ${this.#service.left} at the provider`,
    ]
    return left.filter((line) => !line.startsWith('0 '))
  }

  /**
   * A job that the provider has run belongs to a stored job, and no two belong to one: those that it refused as a whole are
   * sent again under another nonce. Where jobs have no mark, a kill may leave one of them to nobody.
   */
  async #doubled(kills: number): Promise<string[]> {
    if (this.#service.preset !== 'openai') return this.#strays(kills)
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

  async #strays(kills: number): Promise<string[]> {
    const [row] = await this.#world.database.query<{ jobs: number }>(
      'select count(*) as jobs from native_jobs where upstream_id is not null and endpoint_id like $1',
      [`${this.#service.preset}%`],
    )
    const { batches_made: made = 0 } = await this.#counts()
    const strays = made - Number(row?.jobs)
    if (made === 0) return ['no job was run']
    return strays <= kills ? [] : [`${strays} of ${made} jobs belong to nobody, after ${kills} kills`]
  }

  async #counts(): Promise<Record<string, number>> {
    const { mount, counters } = this.#service
    return (await this.#world.counters(mount))[counters] as Record<string, number>
  }

  async #made(): Promise<{ status: string; metadata: Record<string, string> | null }[]> {
    const made: { id: string; status: string; metadata: Record<string, string> | null }[] = []
    for (let after = ''; ;) {
      const response = await fetch(
        `${this.#world.simulator.url}/p/${this.#service.mount}/v1/batches?limit=100${after}`,
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

/** The first rows as JSON, for the line that tells of them. */
function shown(rows: readonly object[]): string {
  return JSON.stringify(rows.slice(0, 3), (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}
