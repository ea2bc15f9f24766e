import { leaseHeldMs } from '../../src/billing/budgets/leases.ts'
import { captureWaitMs } from '../../src/billing/ledger/capture-queue.ts'
import { budgetSettleMs } from '../../src/billing/budgets/renewals.ts'
import { expect, test } from 'bun:test'
import { acceptBatchStatements, closeBatchStatements } from '../../src/billing/budgets/budget-repository.ts'
import {
  batchBudget,
  type BudgetRef,
  budgetsOf,
  creditsBudget,
} from '../../src/billing/budgets/budget-ids.ts'
import { leaseMs } from '../../src/core/limits/billing.ts'
import { isThorough } from '../support/thorough.ts'
import { insertOrganization, principalOf } from './billing-fixtures.ts'
import { SimulatedDatabase } from './billing-store.ts'
import { BillingWorld, type SimulatedProcess } from './billing-world.ts'

/** Seeds of an ordinary run; `npm run prove -- simulation` has many more. */
const seeds = Number(process.env['HEADRACE_SIMULATION_SEEDS'] ?? (isThorough ? 60 : 2))
const firstSeed = Number(process.env['HEADRACE_SIMULATION_FIRST'] ?? 1)
const steps = 250
const processesAtOnce = 3
/** Half a minute before midnight, so that the daily window turns in every run. */
const startMs = Date.UTC(2026, 5, 10, 23, 59, 30)

const credits = creditsBudget('org_a')
const limited = principalOf({ keyLimitNanocredits: 40_000n, keyLimitReset: 'daily' })

interface Story {
  world: BillingWorld
  seed: number
  /** The budget of the batch that runs, if one does. */
  batch: BudgetRef | null
  batches: number
}

for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  test(`credits balance after crashes, freezes, lost answers and clocks set back, seed ${seed}`, async () => {
    const world = new BillingWorld(seed, startMs)
    await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
    for (let index = 0; index < processesAtOnce; index += 1) await world.startProcess((seed % 2) * 20)
    await grant(world, 100_000n)
    const story: Story = { world, seed, batch: null, batches: 0 }
    for (let step = 0; step < steps; step += 1) {
      await takeStep(story)
      await expectSound(story, `step ${step}`)
    }
    await expectQuiet(story)
    expect(world.granted).toBeGreaterThan(20)
    world.store.close()
  })
}

test('without crashes and freezes no call is ever granted more than its budgets have', async () => {
  const world = new BillingWorld(99, startMs)
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  for (let index = 0; index < 4; index += 1) await world.startProcess()
  await grant(world, 5_000n)
  for (let step = 0; step < 400; step += 1) {
    const owner = world.processes[step % 4]
    if (owner) world.hold(owner, [credits], 1n + BigInt(Math.floor(world.random() * 200)))
    await world.advance(world.random() * 30)
    const call = world.calls[Math.floor(world.random() * world.calls.length)]
    if (call && world.random() < 0.5) world.capture(call, (call.hold.amount * BigInt(step % 3)) / 4n)
    const { limit, spent, held } = world.committed(credits.budgetId)
    expect(spent + held).toBeLessThanOrEqual(limit)
  }
  expect(world.refused).toBeGreaterThan(10)
  world.store.close()
})

test('a process that froze past its lease grants nothing from it when it wakes', async () => {
  const world = new BillingWorld(5, startMs)
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const sleeper = await world.startProcess()
  const other = await world.startProcess()
  await grant(world, 10_000n)
  world.hold(sleeper, [credits], 100n)
  await world.flush()
  world.freeze(sleeper)
  await world.advance(leaseMs + 5_000)
  // The part that the frozen process does not hold has returned to the others.
  world.hold(other, [credits], 9_900n)
  await world.advance(1_000)
  expect(world.calls).toHaveLength(2)
  const given = sleeper.billing.hold({ budgets: [credits], amount: 1n })
  expect(given).toBeInstanceOf(Promise)
  await world.unfreeze(sleeper)
  const refused = Promise.resolve(given).catch((error: unknown) => error)
  await world.advance(2_000)
  expect(await refused).toMatchObject({ type: 'payment_required' })
  world.store.close()
})

test('a batch’s budget ends although a frozen process holds from it, once its lease is over', async () => {
  const world = new BillingWorld(6, startMs)
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const sleeper = await world.startProcess()
  const other = await world.startProcess()
  await grant(world, 10_000n)
  const batch = batchBudget('batch_1', 'org_a', [credits.budgetId])
  await new SimulatedDatabase(world.store, 'operator').commit({
    name: 'test.accept',
    statements: acceptBatchStatements({ batch, parents: [credits], estimateNanocredits: 1_000n }),
  })
  world.hold(sleeper, [batch], 400n)
  await world.flush()
  world.freeze(sleeper)
  const early = other.billing.settleBudget(batch.budgetId)
  await world.advance(budgetSettleMs + 100)
  expect(await early).toBe(false)
  await world.advance(leaseMs)
  const settled = other.billing.settleBudget(batch.budgetId)
  await world.advance(budgetSettleMs + 100)
  expect(await settled).toBe(true)
  world.store.close()
})

test('an overdraft stops granting everywhere within a second', async () => {
  const world = new BillingWorld(7, startMs)
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const [one, two] = [await world.startProcess(), await world.startProcess()]
  await grant(world, 10_000n)
  for (const owner of [one, two]) world.hold(owner, [credits], 50n)
  await world.flush()
  const [call] = world.calls
  if (call) world.capture(call, 30_000n)
  await world.advance(1_000)
  for (const owner of [one, two]) world.hold(owner, [credits], 1n)
  await world.advance(1_000)
  expect(world.refused).toBe(2)
  world.store.close()
})

test('an idle process gives its lease back and then writes nothing', async () => {
  const world = new BillingWorld(8, startMs)
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const one = await world.startProcess()
  await grant(world, 10_000n)
  world.hold(one, [credits], 50n)
  await world.flush()
  const [call] = world.calls
  if (call) world.release(call)
  await world.advance(6_000)
  expect(world.store.query("select 1 as open from leases where state <> 'closed'")).toEqual([])
  const before = world.store.commits
  await world.advance(60_000)
  expect(world.store.commits).toBe(before)
  world.store.close()
})

async function takeStep(story: Story): Promise<void> {
  const { world } = story
  const owner = pick(story, running(world))
  const roll = world.random()
  if (owner === undefined || roll < 0.02) await world.startProcess()
  else if (roll < 0.45) hold(story, owner)
  else if (roll < 0.65) endCall(story)
  else if (roll < 0.8) await world.advance(world.random() * 800)
  else if (roll < 0.83) await beginOrEndBatch(story, owner)
  else if (roll < 0.86) await disturb(story, owner)
  else if (roll < 0.88) await grant(world, 1_000n)
  else if (roll < 0.91) owner.faultRate = world.random() < 0.5 ? 0 : world.random() * 0.3
  else if (roll < 0.92) await outlast(story, owner)
  else if (roll < 0.96) await wakeAll(world)
  else await world.advance(world.random() * 4_000)
  await world.flush()
}

function hold({ world, batch }: Story, owner: SimulatedProcess): void {
  const amount = 1n + BigInt(Math.floor(world.random() ** 3 * 20_000))
  const roll = world.random()
  if (batch !== null && roll < 0.3) world.hold(owner, [batch], amount / 4n)
  else world.hold(owner, roll < 0.6 ? budgetsOf(limited, owner.billing.databaseNowMs()) : [credits], amount)
}

function endCall({ world }: Story): void {
  const call = world.calls[Math.floor(world.random() * world.calls.length)]
  if (call === undefined) return
  const roll = world.random()
  const { amount } = call.hold
  if (roll < 0.2) world.release(call)
  else if (roll < 0.3) world.capture(call, amount + BigInt(Math.floor(world.random() * 3_000)))
  else if (roll < 0.35) world.capture(call, 0n)
  else world.capture(call, (amount * BigInt(Math.floor(world.random() * 100))) / 100n)
}

async function disturb({ world }: Story, owner: SimulatedProcess): Promise<void> {
  const roll = world.random()
  if (roll < 0.35) {
    world.kill(owner, world.random() < 0.7)
    await world.startProcess()
  } else if (roll < 0.8) {
    world.freeze(owner)
    await world.advance(world.random() * leaseMs * 2)
  } else world.jumpClock(-world.random() * 20_000)
}

/** Storage fails for longer than callers wait; some of what is sent becomes real without an answer. */
async function outlast({ world }: Story, owner: SimulatedProcess): Promise<void> {
  owner.faultRate = 1
  await world.advance(captureWaitMs + world.random() * 4_000)
  owner.faultRate = 0
}

async function wakeAll(world: BillingWorld): Promise<void> {
  for (const process of world.processes) if (process.state === 'frozen') await world.unfreeze(process)
}

async function beginOrEndBatch(story: Story, owner: SimulatedProcess): Promise<void> {
  const { world } = story
  if (story.batch === null) {
    story.batches += 1
    const batch = batchBudget(`batch_${story.batches}`, 'org_a', [credits.budgetId])
    const statements = acceptBatchStatements({ batch, parents: [credits], estimateNanocredits: 3_000n })
    if (isCommitted(() => world.store.commit({ name: 'test.accept', statements }))) story.batch = batch
    return
  }
  const { budgetId } = story.batch
  const outcome = { isSettled: false }
  const settling = noteSettled(owner, budgetId, outcome)
  await world.advance(3_000)
  if (owner.state === 'running') await Promise.race([settling, world.flush()])
  if (!outcome.isSettled) return
  const statements = closeBatchStatements(story.batch)
  if (!isCommitted(() => world.store.commit({ name: 'test.close', statements }))) return
  const allowance = world.allowances.get(budgetId)
  if (allowance) world.allow(credits.budgetId, allowance)
  story.batch = null
}

async function noteSettled(
  owner: SimulatedProcess,
  budgetId: string,
  outcome: { isSettled: boolean },
): Promise<void> {
  try {
    outcome.isSettled = await owner.billing.settleBudget(budgetId)
  } catch {
    // Storage was out of order; the batch is ended another time.
  }
}

function isCommitted(commit: () => unknown): boolean {
  try {
    commit()
    return true
  } catch {
    return false
  }
}

/**
 * Checks the invariants, the acknowledged captures, and that no more was granted or spent than the budget and
 * its possible overdraft.
 */
async function expectSound({ world, seed, batch }: Story, when: string): Promise<void> {
  const place = `seed ${seed}, ${when}`
  expect({ place, findings: await world.findings() }).toEqual({ place, findings: [] })
  for (const budgetId of [credits.budgetId, ...(batch ? [batch.budgetId] : [])]) {
    const { limit, spent, held } = world.committed(budgetId)
    const { excess, late } = world.allowances.get(budgetId) ?? { excess: 0n, late: 0n }
    const beyond = spent + held - limit - excess - late
    expect({ place, budgetId, isWithin: beyond <= 0n, beyond: beyond > 0n ? beyond : 0n }).toEqual({
      place,
      budgetId,
      isWithin: true,
      beyond: 0n,
    })
  }
}

/**
 * All processes wake and all calls end: each acknowledged capture was charged once, and the rest can be held
 * again.
 */
async function expectQuiet(story: Story): Promise<void> {
  const { world, seed } = story
  for (const process of world.processes) process.faultRate = 0
  await wakeAll(world)
  world.releaseAll()
  await world.advance(30_000)
  world.releaseAll()
  world.jumpClock(leaseHeldMs + leaseMs)
  await world.advance(20_000)
  expect(world.store.query("select lease_id from leases where state <> 'closed'")).toEqual([])
  await expectSound(story, 'the end')
  const usages = world.store.query<{ generation_id: string; cost_nanocredits: bigint }>(
    `select generation_id, cost_nanocredits - coalesce((select sum(amount_nanocredits) from postings
       where reference = generation_id and account = 'organization:org_a'), 0) as cost_nanocredits from usages`,
  )
  const charged = new Map(usages.map((row) => [row.generation_id, row.cost_nanocredits]))
  for (const [generationId, { cost, owner, isAcknowledged, isRefused }] of world.attempted) {
    const found = charged.get(generationId)
    if (isAcknowledged || owner.state !== 'dead')
      expect({ seed, generationId, found }).toEqual({ seed, generationId, found: isRefused ? 0n : cost })
    charged.delete(generationId)
  }
  expect([...charged.keys()]).toEqual([])
  await expectAllIsLeft(story)
}

async function expectAllIsLeft({ world, seed, batch }: Story): Promise<void> {
  const { limit, spent } = world.committed(credits.budgetId)
  const inBatch = batch === null ? 0n : world.committed(batch.budgetId).limit
  const left = limit - spent - inBatch
  if (left <= 0n) return
  const before = world.granted
  const owner = running(world)[0] ?? (await world.startProcess())
  world.hold(owner, [credits], left)
  await world.advance(1_000)
  expect({ seed, granted: world.granted - before }).toEqual({ seed, granted: 1 })
}

function running(world: BillingWorld): SimulatedProcess[] {
  return world.processes.filter((process) => process.state === 'running')
}

function pick<T>({ world }: Story, list: readonly T[]): T | undefined {
  return list[Math.floor(world.random() * list.length)]
}

async function grant(world: BillingWorld, amount: bigint): Promise<void> {
  const transactionId = `grant-${world.monotonicMs}-${world.random()}`
  const operator = running(world)[0] ?? (await world.startProcess())
  const { faultRate } = operator
  operator.faultRate = 0
  await operator.accounts.grantCredits({
    organizationId: 'org_a',
    amountNanocredits: amount,
    transactionId,
    createdAtMs: 1,
  })
  operator.faultRate = faultRate
}
