import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Simulator, startSimulator } from '../../simulator/server.ts'
import { type BatchCommitPoint, jobCommitPoints } from '../../src/batches/batch-commit-points.ts'
import type { LaneChoice } from '../../src/canonical/batch.ts'
import { eachDatabase } from '../support/databases.ts'
import { isThorough } from '../support/thorough.ts'
import {
  batchOf,
  create,
  itemCost,
  resolveBatch,
  type ResultItem,
  resultsOf,
  upload,
  World,
} from './batches-world.ts'
import { principalOf } from './billing-fixtures.ts'
import { type SimulatedService, simulatedServices } from './native-jobs.ts'
import { admin, countsOf, Machine, ruleAt } from './native-machine.ts'

const principal = principalOf({ organizationId: 'org_a' })
const items = 5
const granted = itemCost * 1_000n

/** What happens to a batch at its provider, and how it must end. */
interface Story {
  lane: LaneChoice
  faults: readonly object[]
  status: string
  /** Items answered by the job, answered by the live path, and ended with an error of these types. */
  byJob: number
  live: number
  errors: readonly string[]
  change?: Record<string, unknown>
  cancel?: true
  /** Nobody looks at the job for hours after it was cancelled. */
  isLeftAlone?: true
  hoursPass?: number
  /** What its organization has; enough for everything when left out. */
  credits?: bigint
  /** The operator removes the endpoint while the job runs. */
  isRemoved?: true
  /** Its provider says that it does not know the job, which may run all the same. */
  isUnknown?: true
  /** What its results lack at first is there for a process that reads them again. */
  isLate?: true
}

/** Whenever a job is created: who dies before the first one is noted may create another. */
const onCreate = (fault: string) => [{ match: { path: '/v1/batches', method: 'POST' }, fault }]
const whole = { lane: 'native', status: 'completed', byJob: items, live: 0, errors: [] } as const

const stories: Record<string, Story> = {
  completes: { ...whole, faults: [] },
  'has doubled and foreign lines': {
    ...whole,
    faults: onCreate('batch_lines_doubled=2,batch_lines_foreign=2'),
  },
  'has a refused line': {
    ...whole,
    faults: onCreate('batch_lines_failed=1'),
    byJob: 4,
    errors: ['invalid_request'],
  },
  'lacks lines': {
    ...whole,
    faults: onCreate('batch_lines_lost=1,batch_lines_malformed=1'),
    byJob: 3,
    errors: ['provider_failed', 'provider_failed'],
  },
  'lacks lines, which are run live': {
    ...whole,
    lane: 'auto',
    faults: onCreate('batch_lines_lost=1,batch_lines_malformed=1'),
    byJob: 3,
    live: 2,
  },
  'expires at its provider': {
    ...whole,
    faults: onCreate('batch_end=expired'),
    byJob: 3,
    errors: ['batch_expired', 'batch_expired'],
  },
  'fails at its provider': {
    ...whole,
    faults: onCreate('batch_failed=invalid_request'),
    byJob: 0,
    errors: Array.from({ length: items }, () => 'provider_failed'),
  },
  'fails at its provider, and is run live': {
    ...whole,
    lane: 'auto',
    faults: onCreate('batch_failed=invalid_request'),
    byJob: 0,
    live: items,
  },
  'is too much for the queue at first': {
    ...whole,
    faults: onCreate('batch_failed=token_limit_exceeded').map((rule) => ({ ...rule, times: 1 })),
  },
  'has an item that cannot be encoded': {
    ...whole,
    faults: [],
    change: { content: 'cannot be encoded' },
    byJob: 4,
    errors: ['invalid_request'],
  },
  'has an item that may cost more than its share': {
    ...whole,
    faults: [],
    change: { content: 'may cost most' },
  },
  'is cancelled': {
    ...whole,
    faults: onCreate('batch_looks=6'),
    cancel: true,
    status: 'cancelled',
    byJob: 3,
    errors: ['batch_cancelled', 'batch_cancelled'],
  },
  'is cancelled, and looked at hours later': {
    ...whole,
    faults: onCreate('batch_looks=6'),
    cancel: true,
    isLeftAlone: true,
    status: 'cancelled',
    byJob: 3,
    errors: ['batch_cancelled', 'batch_cancelled'],
  },
  'is refused': {
    ...whole,
    faults: onCreate('status=400'),
    byJob: 0,
    errors: Array.from({ length: items }, () => 'provider_failed'),
  },
  'meets every trouble on its way': {
    ...whole,
    faults: [
      { match: { path: '/v1/files', method: 'POST' }, fault: 'status=503', times: 1 },
      { match: { path: '/v1/batches', method: 'POST' }, fault: 'status=429;retry_after=9', times: 1 },
      { match: { path_contains: '/batches/', method: 'GET' }, fault: 'status=429;retry_after=9', times: 1 },
      { match: { path: '/content' }, fault: 'status=500', times: 1 },
    ],
  },
  'loses the answer to its creation': {
    ...whole,
    faults: [{ match: { path: '/v1/batches', method: 'POST' }, fault: 'cut_after=0', times: 1 }],
  },
  'is never seen after its creation': {
    ...whole,
    faults: [{ match: { path: '/v1/batches', method: 'POST' }, fault: 'reset', times: 1 }],
  },
  'loses its endpoint': {
    ...whole,
    faults: [],
    isRemoved: true,
    hoursPass: 23.9,
    status: 'expired',
    byJob: 0,
    errors: Array.from({ length: items }, () => 'batch_expired'),
  },
  'loses its endpoint, and is run live': {
    ...whole,
    lane: 'auto',
    faults: [],
    isRemoved: true,
    hoursPass: 23.2,
    byJob: 0,
    live: items,
  },
  'is cancelled without its endpoint': {
    ...whole,
    faults: [],
    isRemoved: true,
    cancel: true,
    status: 'cancelled',
    byJob: 0,
    errors: Array.from({ length: items }, () => 'batch_cancelled'),
  },
  'has less money than one of its items may cost, and is refused': {
    ...whole,
    lane: 'auto',
    faults: onCreate('batch_failed=invalid_request'),
    change: { content: 'may cost most' },
    credits: itemCost * 12n,
    byJob: 0,
    live: items,
  },
  'is not known at first': {
    ...whole,
    faults: [{ match: { path_contains: '/batches/', method: 'GET' }, fault: 'status=404', times: 2 }],
  },
  'is not known for a moment after an outage': {
    ...whole,
    faults: [
      { match: { path_contains: '/batches/', method: 'GET' }, fault: 'status=503', times: 7 },
      { match: { path_contains: '/batches/', method: 'GET' }, fault: 'status=404', after: 7, times: 1 },
    ],
  },
  'is not known': {
    ...whole,
    faults: [{ match: { path_contains: '/batches/', method: 'GET' }, fault: 'status=404' }],
    isUnknown: true,
    byJob: 0,
    errors: Array.from({ length: items }, () => 'provider_failed'),
  },
  'has results that nobody may read': {
    ...whole,
    faults: ['/content', '/results'].map((path) => ({
      match: { path_contains: path },
      fault: 'status=403',
    })),
    hoursPass: 24.5,
    status: 'expired',
    byJob: 0,
    errors: Array.from({ length: items }, () => 'batch_expired'),
  },
  'cannot be looked for when the answer to its creation is lost': {
    ...whole,
    faults: [
      { match: { path: '/v1/batches', method: 'POST' }, fault: 'reset', times: 1 },
      { match: { path: '/v1/batches', method: 'GET' }, fault: 'status=403' },
    ],
    hoursPass: 24.5,
    status: 'expired',
    byJob: 0,
    errors: Array.from({ length: items }, () => 'batch_expired'),
  },
  'never ends': {
    ...whole,
    faults: onCreate('job_endless'),
    hoursPass: 22.9,
    byJob: 3,
    errors: ['batch_expired', 'batch_expired'],
  },
}

/** The line that its results lack at first is there when they are read again. */
const lateStory: Story = {
  ...whole,
  faults: onCreate('batch_lines_late=1'),
  byJob: 4,
  errors: ['provider_failed'],
  isLate: true,
}

interface Death {
  point: BatchCommitPoint
  when: 'before' | 'after'
}

/**
 * The deaths that the story in this place of so many meets. In the proof each story meets a death before and after every
 * point; otherwise each point is met once, by one of the stories.
 */
function deathsAt(
  points: readonly BatchCommitPoint[],
  { place, stories: count }: { place: number; stories: number },
): Death[] {
  return points.flatMap((point, index): Death[] => {
    const both: Death[] = [
      { point, when: 'before' },
      { point, when: 'after' },
    ]
    if (isThorough) return both
    return index % count === place ? both.slice(index % 2, (index % 2) + 1) : []
  })
}

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator({ seed: 7, quiet: true })
})
afterAll(() => simulator.stop())

function batchText({ lane, change }: Story): string {
  const text = batchOf(items, { headrace: { lane } })
  return change === undefined ? text : text.replace('question 4', String(change['content']))
}

async function live(machine: Machine, story: Story): Promise<void> {
  const { world, mount } = machine
  await admin(simulator.url, 'faults', {
    mount,
    rules: story.faults.map((rule) => ruleAt(machine.service, rule)),
  })
  await world.grant(machine.process, story.credits ?? granted)
  const { id } = await create(machine.process, upload(batchText(story), { principal }))
  let isCancelled = false
  for (let look = 0; ; look++) {
    expect(look).toBeLessThan(200)
    const { object } = await machine.persist((process) => process.batches.get(principal, id))
    if (object.finalized_at !== null) return check(machine, story, object)
    await machine.persist(async (process) => {
      await process.batches.rounds.renew()
      await process.batches.rounds.look()
      await process.batches.rounds.renew()
      await process.batches.rounds.settled()
    })
    await world.advance(10_000)
    if (story.hoursPass !== undefined && look === 12) await world.advance(story.hoursPass * 3_600_000)
    const { batches_made: made = 0 } = await countsOf(simulator.url, machine)
    if (story.isRemoved && made > 0) machine.isConfigured = false
    if (story.cancel && !isCancelled && made > 0 && look >= 4) {
      isCancelled = true
      await machine.persist((process) => process.batches.cancel(principal, id))
      if (story.isLeftAlone) await world.advance(3 * 3_600_000)
    }
  }
}

async function check(machine: Machine, story: Story, object: { id: string; status: string }): Promise<void> {
  const { process, world } = machine
  await process.billing.rounds.reap()
  // Whoever cancels after a crash may find the job not begun, or at its end.
  const isOpen = story.cancel === true && machine.deaths > 0
  if (!isOpen) expect(object.status).toBe(story.status)
  const results = await resultsOf(process, principal, object.id)
  expect(results.map(({ custom_id: customId }) => customId)).toEqual(
    Array.from({ length: items }, (_, n) => `item-${n}`),
  )
  const ofJob = ({ response }: ResultItem) => {
    const body = response?.body as { object?: string; type?: string } | undefined
    return body?.object === 'chat.completion' || body?.type === 'message'
  }
  const answered = results.filter(({ response }) => response !== null)
  const errors = results.flatMap(({ error }) => error?.type ?? []).toSorted()
  const byJob = answered.filter(ofJob).length
  // An item whose error was not durable when the process died has the line that came meanwhile.
  const hasComeLate = story.isLate === true && machine.deaths > 0 && byJob === items
  if (isOpen) expect(errors.filter((type) => type !== 'batch_cancelled')).toEqual([])
  else expect(errors).toEqual(hasComeLate ? [] : [...story.errors])
  const expected = hasComeLate ? items : story.byJob
  expect([isOpen ? story.byJob : byJob, answered.length - byJob]).toEqual([expected, story.live])
  expect(new Set(process.started).size).toBeLessThanOrEqual(story.live)
  // One capture for each answered item, and nothing is held.
  const captured = await process.database.query<{ custom_id: string }>(
    'select custom_id from usages where batch_id = $1 order by custom_id',
    [object.id],
  )
  expect(captured.map((row) => row.custom_id)).toEqual(answered.map((result) => result.custom_id))
  const [budget] = await process.database.query<{ left_nanocredits: bigint }>(
    `select limit_nanocredits - granted_nanocredits as left_nanocredits from budgets where budget_id = 'credits:org_a'`,
  )
  expect(budget?.left_nanocredits).toBe((story.credits ?? granted) - BigInt(answered.length) * itemCost)
  expect(await world.findings(process)).toEqual([])
  // Every job has ended, and what was made at the provider waits for its removal or is gone.
  const open = await process.database.query(`select state from native_jobs where state <> 'ended'`)
  expect(open).toEqual([])
  expect(await process.database.query(`select kind from upstream_resources where state = 'used'`)).toEqual([])
  const counts = await countsOf(simulator.url, machine)
  if (story.isUnknown) {
    const kind = `${machine.service.jobs.name}.batch`
    const left = await process.database.query(`select state from upstream_resources where kind = $1`, [kind])
    return expect(left).toContainEqual({ state: 'left' })
  }
  const isSearchable = machine.service.jobs.uncertainCreate === 'searchable'
  // Where the endpoint is gone, nobody can cancel what runs; what nobody can name is cancelled by the sweeper alone.
  if (!story.isRemoved && isSearchable) expect(counts['batches_running']).toBe(0)
  // No item is sent twice, but those of a job that the provider ended as a whole.
  expect(counts['lines_run']).toBeLessThanOrEqual(items)
}

/** A job of the same batch that is intended too, and later. */
async function intendAnother({ process }: Machine, batchId: string): Promise<void> {
  const sql = `insert into native_jobs (job_id, batch_id, nonce, endpoint_id, deployment_id, credential_id, price_json, state,
      created_at_ms)
    values ('job_another', $1, 'another', 'sim/gpt-4o-mini', 'sim', 'operator:sim', '{"price":{},"longPrices":[]}', 'intended',
      now_ms() + 60000)`
  await process.database.commit({ name: 'test.intend', statements: [{ sql, params: [batchId] }] })
}

/** The status with which the batch ends. */
async function untilEnded({ world, process }: Machine, id: string, restMs = 10_000): Promise<string> {
  for (let look = 0; look < 100; look += 1) {
    const { object } = await process.batches.get(principal, id)
    if (object.finalized_at !== null) return object.status
    await process.batches.rounds.look()
    await process.batches.rounds.settled()
    await world.advance(restMs)
  }
  return 'none'
}

/** A job of as many lines whose id never came, and which is to be removed in an hour. */
async function loseOneOfEarlier({ mount, process }: Machine): Promise<void> {
  await noteLost(process, 0)

  const requests = Array.from({ length: items }, (_, place) => ({
    custom_id: `hearlier_${place}`,
    params: { model: 'claude-haiku-4-5', max_tokens: 20, messages: [{ role: 'user', content: 'Hello.' }] },
  }))
  const made = await fetch(`${simulator.url}/p/${mount}/v1/messages/batches`, {
    method: 'POST',
    headers: {
      'x-api-key': 'test',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ requests }),
  })
  expect(made.status).toBe(200)
}

/** A note of a job of as many lines whose id never came; it was asked for so long ago, and is removed in an hour. */
async function noteLost({ database }: Machine['process'], agoMs: number): Promise<void> {
  const sql = `insert into upstream_resources (resource_id, kind, deployment_id, credential_id, used_by, marker, state, due_at_ms,
      created_at_ms, left_at_ms)
    values ('res_earlier', 'anthropic.batch', 'sim', 'operator:sim', 'job_earlier', $1, 'left', now_ms() + 3600000,
      now_ms() - cast($2 as bigint), now_ms() - cast($2 as bigint))`
  await database.commit({ name: 'test.lose', statements: [{ sql, params: [String(items), agoMs] }] })
}

eachDatabase((_name, open) => {
  const machines: Machine[] = []
  afterEach(async () => {
    for (const machine of machines.splice(0)) {
      await machine.buried()
      await machine.world.close()
      // The simulator keeps a thousand mounts, and a whole campaign has more stories.
      await admin(simulator.url, 'reset', { mount: machine.mount })
    }
  })

  /** A machine with batches in the lane of jobs. */
  function machineOf(
    lane: LaneChoice,
    {
      service = simulatedServices.openai,
      dies = () => false,
    }: { service?: SimulatedService; dies?: (machine: Machine, death: Death) => boolean } = {},
  ): Machine {
    // A service without a mark has its lost jobs found by their time, which is that of the simulator.
    const isByTime = service.jobs.uncertainCreate === 'neither'
    const machine: Machine = new Machine(isByTime ? new World(open, Date.now()) : new World(open), {
      url: simulator.url,
      service,
      resolveBatch: async (question) => {
        const resolved = await resolveBatch(question)
        const [offer] = resolved.offers
        if (offer === undefined) throw new Error('the world offers its one lane')
        const offers = [{ ...offer, lane: 'native' as const }, offer]
        return { ...resolved, offers, lane: 'native', heldLane: lane === 'auto' ? 'emulated' : 'native' }
      },
      dies: (point, when) => dies(machine, { point, when }),
    })
    machines.push(machine)
    return machine
  }

  async function tell(
    story: Story,
    death: Death | null,
    service: SimulatedService = simulatedServices.openai,
    prepare: (machine: Machine) => Promise<void> = () => Promise.resolve(),
  ): Promise<Machine> {
    const machine = machineOf(story.lane, {
      service,
      dies: ({ deaths }, { point, when }) => deaths === 0 && death?.point === point && death.when === when,
    })
    await machine.boot()
    await prepare(machine)
    await live(machine, story)
    return machine
  }

  describe('a native batch', () => {
    const reached = new Set<string>()
    test.each(Object.keys(stories))('that %s ends as it should', async (name) => {
      const story = stories[name]
      if (story === undefined) throw new Error(name)
      for (const point of (await tell(story, null)).reached) reached.add(point)
    })

    test('visits every point', () => {
      expect(jobCommitPoints.filter((point) => !reached.has(point) && point !== 'job.free')).toEqual([])
    })

    test('that lacks the money of its first item does not wait for a job that waits for it', async () => {
      const machine = machineOf('auto')
      await machine.boot()
      const { world, process } = machine
      await world.grant(process, itemCost * 6n)
      const text = batchOf(items, { headrace: { lane: 'auto' } }).replace('question 0', 'may cost most')
      const { id } = await create(process, upload(text, { principal }))
      await intendAnother(machine, id)
      expect(await untilEnded(machine, id)).toBe('completed')
      const results = await resultsOf(process, principal, id)
      expect(results.filter(({ response }) => response !== null)).toHaveLength(items)
      expect(new Set(process.started).size).toBe(items)
    })

    test('that is too much for the queue at first has both of its jobs removed where ended ones stay', async () => {
      const { openai } = simulatedServices
      const keeping = { ...openai, jobs: { ...openai.jobs, removesEnded: true } }
      const story = stories['is too much for the queue at first']
      if (story === undefined) throw new Error('the story is gone')
      const { process } = await tell(story, null, keeping)
      const left = await process.database.query<{ upstream_id: string }>(
        `select upstream_id from upstream_resources where kind = 'openai.batch' and state = 'left'`,
      )
      expect(new Set(left.map((row) => row.upstream_id)).size).toBe(2)
    })

    test('gets its job also when two hundred others run for hours', async () => {
      const machine = machineOf('native')
      await machine.boot()
      const { world, process } = machine
      await world.grant(process, itemCost * 10_000n)
      const rules = [{ match: { path: '/v1/files', method: 'POST' }, fault: 'status=503' }]
      await admin(simulator.url, 'faults', { mount: machine.mount, rules })
      const text = batchOf(1, { headrace: { lane: 'native' } })
      for (let count = 0; count < 201; count += 1) await create(process, upload(text, { principal }))
      for (let look = 0; look < 6; look += 1) {
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
      }
      const [row] = await process.database.query<{ batches: number }>(
        'select count(distinct batch_id) as batches from native_jobs',
      )
      expect(Number(row?.batches)).toBe(201)
    })

    test('whose lane was named runs nothing live, whatever becomes of its key', async () => {
      const machine = machineOf('native')
      await machine.boot()
      const { world, process } = machine
      await world.grant(process, granted)
      const text = batchOf(items, { headrace: { lane: 'native' } })
      const { id } = await create(process, upload(text, { principal }))
      const giveUp = { sql: `update segments set lane = 'emulated' where batch_id = $1`, params: [id] }
      await process.database.commit({ name: 'test.give up', statements: [giveUp] })
      expect(await untilEnded(machine, id)).toBe('completed')
      const results = await resultsOf(process, principal, id)
      expect(results.map(({ error }) => error?.type)).toEqual(
        Array.from({ length: items }, () => 'permission_denied'),
      )
      expect(process.started).toEqual([])
    })

    test('whose items cannot be read any more ends once it was cancelled', async () => {
      const machine = machineOf('native')
      await machine.boot()
      const { world, process } = machine
      await world.grant(process, granted)
      const text = batchOf(items, { headrace: { lane: 'native' } })
      const { id } = await create(process, upload(text, { principal }))
      for (let look = 0; look < 4; look += 1) {
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
        await world.advance(10_000)
      }
      const lose = { sql: `update segments set blob = 'lost' where batch_id = $1`, params: [id] }
      await process.database.commit({ name: 'test.lose', statements: [lose] })
      await process.batches.cancel(principal, id)
      await world.advance(2 * 3_600_000)
      expect(await untilEnded(machine, id, 120_000)).toBe('failed')
    })

    test('whose results no storage takes lets its process stop', async () => {
      const story = stories['has an item that cannot be encoded']
      if (story === undefined) throw new Error('the story is gone')
      const machine = await tell(story, { point: 'part.commit', when: 'before' })
      await machine.buried()
    })

    for (const service of Object.values(simulatedServices)) {
      const { name } = service.jobs
      test(`at ${name} takes no line that comes when its results were read`, async () => {
        await tell(lateStory, null, service)
      })

      test(`at ${name} gives each item one result where its process dies and reads them again`, async () => {
        await tell(lateStory, { point: 'part.commit', when: 'after' }, service)
      })
    }

    const points = jobCommitPoints
    const told = isThorough
      ? Object.keys(stories)
      : ['completes', 'meets every trouble on its way', 'is cancelled']
    for (const [place, name] of told.entries()) {
      const story = stories[name]
      if (story === undefined) throw new Error(name)
      test.each(deathsAt(points, { place, stories: told.length }))(
        `that ${name} survives a death $when $point`,
        async (death) => {
          await tell(story, death)
        },
      )
    }
  })

  describe('a native batch at a service that shows no mark and takes lines with the request', () => {
    const { anthropic } = simulatedServices
    const ofFiles = new Set([
      'fails at its provider',
      'fails at its provider, and is run live',
      'is too much for the queue at first',
      'has less money than one of its items may cost, and is refused',
    ])
    const names = Object.keys(stories).filter((name) => !ofFiles.has(name))
    test.each(names)('that %s ends as it should', async (name) => {
      const story = stories[name]
      if (story === undefined) throw new Error(name)
      await tell(story, null, anthropic)
    })

    test('is found by its number of lines though one of as many was lost hours ago', async () => {
      const story = stories['loses the answer to its creation']
      if (story === undefined) throw new Error('the story is gone')
      const machine = await tell(story, null, anthropic, ({ process }) => noteLost(process, 3 * 3_600_000))
      expect((await countsOf(simulator.url, machine))['batches_made']).toBe(1)
    })

    test('takes no job of an earlier try for its own, whose removal would not find it', async () => {
      const story = stories['is never seen after its creation']
      if (story === undefined) throw new Error('the story is gone')
      await tell(story, null, anthropic, loseOneOfEarlier)
    })

    const points = jobCommitPoints.filter((point) => !point.startsWith('job.upload') && point !== 'job.again')
    const told = isThorough ? names : ['completes', 'is cancelled']
    for (const [place, name] of told.entries()) {
      const story = stories[name]
      if (story === undefined) throw new Error(name)
      test.each(deathsAt(points, { place, stories: told.length }))(
        `that ${name} survives a death $when $point`,
        async (death) => {
          await tell(story, death, anthropic)
        },
      )
    }
  })
})
