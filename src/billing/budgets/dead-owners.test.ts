import { expect, test } from 'bun:test'
import { insertOrganization, principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { SimulatedDatabase } from '../../../test/simulation/billing-store.ts'
import { BillingWorld } from '../../../test/simulation/billing-world.ts'
import type { SimulatedProcess } from '../../../test/simulation/billing-world.ts'
import { leaseMs, recallWaitMs } from '../../core/limits/billing.ts'
import { budgetsOf, creditsBudget } from './budget-ids.ts'
import type { BudgetRef } from './budget-ids.ts'

const startMs = Date.UTC(2026, 0, 1)
const credits = [creditsBudget('org_a')]

interface Scene {
  world: BillingWorld
  one: SimulatedProcess
  other: SimulatedProcess
}

/** Two processes on 10,000 nanocredits, of which the other one has leased and holds some. */
async function begin(held: bigint): Promise<Scene> {
  const world = new BillingWorld(1, startMs)
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const [one, other] = [await world.startProcess(), await world.startProcess()]
  await one.accounts.grantCredits({
    organizationId: 'org_a',
    amountNanocredits: 10_000n,
    transactionId: 'grant-1',
    createdAtMs: 1,
  })
  world.hold(other, credits, held)
  await world.flush()
  return { world, one, other }
}

/** Asks for a hold and lets time pass until it is answered at the latest. */
async function ask({ world, one }: Scene, amount: bigint, budgets: readonly BudgetRef[] = credits) {
  const answer = Promise.resolve(one.billing.hold({ budgets, amount })).catch((error: unknown) => error)
  await world.advance(recallWaitMs * 2)
  return answer
}

test('while a dead process holds enough, a call is told to try again, and is then granted', async () => {
  const scene = await begin(9_000n)
  scene.world.kill(scene.other, false)
  scene.world.store.silent.add(scene.other.name)
  const early = await ask(scene, 5_000n)
  expect(early).toMatchObject({ type: 'balance_set_aside', metadata: { needed_nanocredits: '5000' } })
  const { retryAfterSeconds } = early as { retryAfterSeconds: number }
  expect(retryAfterSeconds).toBeLessThanOrEqual(leaseMs / 1_000)
  expect(scene.one.billing.stats().holdsRefused).toBe(0)
  scene.world.store.dead.add(scene.other.name)
  await scene.world.advance(retryAfterSeconds * 1_000)
  expect(await ask(scene, 5_000n)).toMatchObject({ amount: 5_000n })
})

test('money that a frozen process leased and does not hold is not reported as missing', async () => {
  const scene = await begin(100n)
  const { world, other } = scene
  const leased = world.store.query<{ granted_nanocredits: bigint }>('select granted_nanocredits from leases')
  const rest = 10_000n - (leased[0]?.granted_nanocredits ?? 0n)
  expect(rest).toBeLessThan(9_900n)
  world.freeze(other)
  expect(await ask(scene, 9_900n)).toMatchObject({ type: 'balance_set_aside' })
  await world.advance(leaseMs)
  expect(await ask(scene, 9_900n)).toMatchObject({ amount: 9_900n })
})

test('holds of a living process are no reason to tell a call to try again', async () => {
  const scene = await begin(9_000n)
  expect(await ask(scene, 5_000n)).toMatchObject({ type: 'payment_required' })
})

test('a call that the dead process’s holds would not cover either is refused', async () => {
  const scene = await begin(9_000n)
  scene.world.kill(scene.other, false)
  scene.world.store.silent.add(scene.other.name)
  expect(await ask(scene, 10_001n)).toMatchObject({ type: 'payment_required' })
  const poor = budgetsOf(principalOf({ keyLimitNanocredits: 50n }), startMs)
  expect(await ask(scene, 5_000n, poor)).toMatchObject({
    type: 'payment_required',
    metadata: { limit_source: 'openrouter_key_limit' },
  })
})
