import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { type Simulator, startSimulator } from '../../simulator/server.ts'
import type { ResolveBatch } from '../../src/batches/item-contract.ts'
import type { LaneChoice } from '../../src/canonical/batch.ts'
import type { BatchObject } from '../../src/formats/batch/batch-object.ts'
import { eachDatabase } from '../support/databases.ts'
import {
  answer,
  answerOrWait,
  batchOf,
  type Behave,
  create,
  failed,
  itemCost,
  putBack,
  resolveBatch,
  type ResultItem,
  resultsOf,
  upload,
  World,
} from './batches-world.ts'
import { principalOf } from './billing-fixtures.ts'
import { seededRandom } from './billing-world.ts'
import { simulatedServices } from './native-jobs.ts'
import { admin, countsOf, Machine, ruleAt } from './native-machine.ts'

/** Histories of a run; `npm run prove -- histories` has ten thousand, and PostgreSQL, which is slower, as many as said. */
const seeds = Number(process.env['HEADRACE_SIMULATION_SEEDS'] ?? 8)
const seedsOnPostgres = Number(process.env['HEADRACE_SIMULATION_POSTGRES_SEEDS'] ?? seeds)
const firstSeed = Number(process.env['HEADRACE_SIMULATION_FIRST'] ?? 1)

const principal = principalOf({ organizationId: 'org_a' })
const granted = itemCost * 1_000n
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const deathsMax = 4
const looksMax = 400
/** From this look on the clock hurries, so that what nobody ends expires: by hours, and by minutes near the deadline and after it. */
const patientLooks = 60
const nearMs = 2 * hourMs

/** What one seed draws. */
interface History {
  lane: LaneChoice
  service: keyof typeof simulatedServices
  items: number
  faults: readonly object[]
  /** The look at which the owner cancels; null for most. */
  cancelledAt: number | null
  /** The look at which the operator removes the endpoint of jobs; null for most. */
  removedAt: number | null
  /** How often a visit of a commit point is a death. */
  deathShare: number
  /** How often a live call fails for good, and how often it has to wait. */
  failedShare: number
  waitsShare: number
}

function draw(random: () => number): History {
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const often = (share: number): boolean => random() < share
  const few = () => Math.floor(random() * 4)
  const lines = ['failed', 'lost', 'doubled', 'foreign', 'malformed', 'late'].flatMap((kind) =>
    often(0.2) ? [`batch_lines_${kind}=${1 + few()}`] : [],
  )
  const ends = [
    'batch_end=expired',
    'batch_failed=invalid_request',
    'batch_failed=token_limit_exceeded',
    'job_endless',
  ]
  const job = [
    ...lines,
    ...(often(0.4) ? [among(ends)] : []),
    ...(often(0.5) ? [`batch_looks=${few()}`] : []),
  ]
  const trouble = [
    'status=503',
    'status=429;retry_after=9',
    'status=500',
    'status=400',
    'cut_after=0',
    'reset',
  ]
  const places = [
    { path: '/v1/files', method: 'POST' },
    { path: '/v1/batches', method: 'POST' },
    { path_contains: '/batches/', method: 'GET' },
    { path_contains: '/batches/', method: 'POST' },
    { path: '/content' },
  ]
  const troubles = Array.from({ length: few() }, () => ({
    match: among(places),
    fault: among(trouble),
    times: 1 + few(),
  }))
  const made = { match: { path: '/v1/batches', method: 'POST' }, fault: job.join(',') }
  return {
    lane: among(['native', 'native', 'auto', 'auto', 'flex', 'emulated']),
    service: among(['openai', 'anthropic']),
    items: 1 + Math.floor(random() * 8),
    faults: [...troubles, ...(job.length === 0 ? [] : [made])],
    cancelledAt: often(0.2) ? Math.floor(random() * 20) : null,
    removedAt: often(0.1) ? Math.floor(random() * 20) : null,
    deathShare: among([0, 0.01, 0.03, 0.1]),
    failedShare: among([0, 0, 0.2]),
    waitsShare: among([0, 0, 0.3]),
  }
}

/** The lanes that the world offers a history: the live one, and before it jobs or the flex tier unless the batch names `emulated`. */
function lanesOf({ lane }: History, tier: 'native' | 'flex'): ResolveBatch {
  return async (question) => {
    const resolved = await resolveBatch(question)
    const [usual] = resolved.offers
    if (usual === undefined) throw new Error('the world offers its one lane')
    if (lane === 'emulated') return resolved
    const offers = [{ ...usual, lane: tier }, usual]
    return { ...resolved, offers, lane: tier, heldLane: lane === 'auto' ? 'emulated' : tier }
  }
}

function behaviorOf({ failedShare, waitsShare }: History, random: () => number): Behave {
  return async (item, process) => {
    const roll = random()
    const asked = item.tier === null ? {} : { hasAskedTier: true as const }
    if (roll < failedShare) return { ...failed('invalid_request'), ...asked }
    if (roll < failedShare + waitsShare) return { ...putBack('provider_overloaded', 1_000), ...asked }
    if (item.tier === null) return answerOrWait(item, process)
    return { ...(await answer(item, process)), ...asked }
  }
}

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator({ seed: 7, quiet: true })
})
afterAll(() => simulator.stop())

async function live(machine: Machine, history: History, begin: () => void): Promise<void> {
  const { world, mount } = machine
  const rules = history.faults.map((rule) => ruleAt(machine.service, rule))
  await admin(simulator.url, 'faults', { mount, rules })
  await world.grant(machine.process, granted)
  const text = batchOf(history.items, { headrace: { lane: history.lane } })
  const { id } = await create(machine.process, upload(text, { principal }))
  begin()
  for (let look = 0; ; look++) {
    expect(look).toBeLessThan(looksMax)
    const { object } = await machine.persist((process) => process.batches.get(principal, id))
    if (object.finalized_at !== null) break
    await machine.persist(async (process) => {
      await process.batches.rounds.renew()
      await process.batches.rounds.look()
      await process.batches.rounds.renew()
      await process.batches.rounds.settled()
    })
    await world.advance(stepMs(look, object, world))
    if (look === history.removedAt) machine.isConfigured = false
    if (look === history.cancelledAt)
      // A batch that has ended meanwhile cannot be cancelled.
      await machine.persist((process) => process.batches.cancel(principal, id).catch(() => undefined))
  }
  await checkSound(machine, history, id)
}

/** How far the clock goes after a look. */
function stepMs(look: number, { expires_at: expiresAt }: BatchObject, { clock }: World): number {
  if (look < patientLooks) return 10_000
  const isNear = expiresAt === null || clock.nowMs() + nearMs >= expiresAt * 1_000
  return isNear ? 5 * minuteMs : hourMs
}

async function checkSound(machine: Machine, history: History, id: string): Promise<void> {
  await machine.persist((process) => process.billing.rounds.reap())
  const { process, world } = machine
  const { object } = await process.batches.get(principal, id)
  const results: ResultItem[] = await resultsOf(process, principal, id)
  const ids = Array.from({ length: history.items }, (_, n) => `item-${n}`)
  expect(results.map(({ custom_id: customId }) => customId)).toEqual(ids)
  const answered = results.filter(({ response }) => response !== null)
  expect(results.every(({ response, error }) => (response === null) !== (error === null))).toBe(true)
  expect(object.request_counts).toMatchObject({
    total: history.items,
    completed: answered.length,
    failed: history.items - answered.length,
  })
  const captured = await process.database.query<{ custom_id: string; cost_nanocredits: bigint }>(
    'select custom_id, cost_nanocredits from usages where batch_id = $1 order by custom_id',
    [id],
  )
  expect(captured.map((row) => row.custom_id)).toEqual(answered.map((result) => result.custom_id))
  const [budget] = await process.database.query<{ left_nanocredits: bigint }>(
    `select limit_nanocredits - granted_nanocredits as left_nanocredits from budgets where budget_id = 'credits:org_a'`,
  )
  expect(budget?.left_nanocredits).toBe(granted - BigInt(answered.length) * itemCost)
  expect(process.billing.stats()).toMatchObject({ holdsLive: 0, heldNanocredits: 0n })
  expect(await world.findings(process)).toEqual([])
  expect(await process.database.query(`select state from native_jobs where state <> 'ended'`)).toEqual([])
  expect(await process.database.query(`select kind from upstream_resources where state = 'used'`)).toEqual([])
  expect(await process.database.query(`select state from segments where state <> 'done'`)).toEqual([])
  await checkProvider(machine, history)
}

/**
 * What still runs at the provider is on the sweeper's list, because the provider refused to cancel it. Where the endpoint is
 * gone nobody can ask, and what has no mark to be searched by is found by the sweeper alone.
 */
async function checkProvider(machine: Machine, { removedAt }: History): Promise<void> {
  if (removedAt !== null || machine.service.jobs.uncertainCreate !== 'searchable') return
  const { batches_running: running = 0 } = await countsOf(simulator.url, machine)
  const left = await machine.process.database.query(
    `select upstream_id from upstream_resources
      where kind like '%.batch' and state = 'left' and upstream_id is not null`,
  )
  expect(running).toBeLessThanOrEqual(left.length)
}

eachDatabase((name, open) => {
  const count = name === 'postgres' ? seedsOnPostgres : seeds
  const machines: Machine[] = []
  afterEach(async () => {
    for (const machine of machines.splice(0)) {
      await machine.buried()
      await machine.world.close()
      await admin(simulator.url, 'reset', { mount: machine.mount })
    }
  })

  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    test(`a batch in any lane ends with one result and one capture an item, whatever happens, seed ${seed}`, async () => {
      const random = seededRandom(seed)
      const history = draw(random)
      let hasBegun = false
      const machine: Machine = new Machine(new World(open), {
        url: simulator.url,
        service: simulatedServices[history.service],
        resolveBatch: lanesOf(
          history,
          history.lane === 'flex' || (history.lane === 'auto' && seed % 3 === 0) ? 'flex' : 'native',
        ),
        behave: behaviorOf(history, random),
        dies: () => hasBegun && machine.deaths < deathsMax && random() < history.deathShare,
      })
      machines.push(machine)
      await machine.boot()
      await live(machine, history, () => {
        hasBegun = true
      })
    }, 60_000)
  }
})
