import { expect, test } from 'bun:test'
import { captureRowOf, insertOrganization } from '../../../test/simulation/billing-fixtures.ts'
import { SimulatedDatabase } from '../../../test/simulation/billing-store.ts'
import { BillingWorld } from '../../../test/simulation/billing-world.ts'
import type { SimulatedProcess } from '../../../test/simulation/billing-world.ts'
import type { Hold } from '../billing.ts'
import { GatewayError } from '../../core/errors.ts'
import { creditsBudget } from '../budgets/budget-ids.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import { captureGroupMax } from './capture-queue.ts'

const credits = [creditsBudget('org_a')]

async function begin(commitDelayMs = 0): Promise<{ world: BillingWorld; one: SimulatedProcess; hold: Hold }> {
  const world = new BillingWorld(1, Date.UTC(2026, 0, 1))
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const one = await world.startProcess(commitDelayMs)
  await one.accounts.grantCredits({
    organizationId: 'org_a',
    amountNanocredits: 10_000n,
    transactionId: 'grant-1',
    createdAtMs: 1,
  })
  return { world, one, hold: await one.billing.hold({ budgets: credits, amount: 100n }) }
}

test('a capture that storage refuses tells its caller after ten seconds, stays queued and becomes durable', async () => {
  const { world, one, hold } = await begin()
  one.isStorageDown = true
  let told: unknown = null
  one.billing.capture(hold, captureRowOf('gen-1', 70n)).catch((error: unknown) => {
    told = error
  })
  await world.advance(9_000)
  expect(told).toBeNull()
  await world.advance(2_500)
  expect(told).toMatchObject({ type: 'storage_unavailable' })
  one.isStorageDown = false
  await world.advance(2_000)
  expect(world.store.query('select cost_nanocredits from usages')).toEqual([{ cost_nanocredits: 70n }])
  expect(await world.findings()).toEqual([])
})

test('while captures do not become durable no new call is accepted; once they do, calls are accepted again', async () => {
  const { world, one, hold } = await begin()
  one.isStorageDown = true
  one.billing.capture(hold, captureRowOf('gen-1', 70n)).catch(() => undefined)
  await world.flush()
  expect(one.billing.canAccept()).toBe(true)
  await world.advance(1_100)
  expect(one.billing.canAccept()).toBe(false)
  expect(one.billing.stats()).toMatchObject({ isFailing: true, capturesQueued: 1 })
  one.isStorageDown = false
  await world.advance(1_500)
  expect(one.billing.canAccept()).toBe(true)
  expect(one.billing.stats()).toMatchObject({ isFailing: false, capturesQueued: 0 })
})

test('a disk that never answers also stops new calls', async () => {
  const { world, one, hold } = await begin()
  world.freezeStorage(one)
  one.billing.capture(hold, captureRowOf('gen-1', 70n)).catch(() => undefined)
  await world.advance(12_000)
  expect(one.billing.canAccept()).toBe(false)
  expect(one.events.map((event) => event.type)).toEqual(['captures_failing'])
})

test('a lease whose take got no answer does not delay captures', async () => {
  const { world, one, hold } = await begin()
  one.billing.release(hold)
  await world.advance(10_000)
  const commit = one.database.commit.bind(one.database)
  one.database.commit = async (unit) => {
    const rows = await commit(unit)
    if (unit.name !== commitPoints.take) return rows
    one.database.commit = commit
    throw new GatewayError('storage_unavailable', 'No answer.')
  }
  const refusal = await Promise.resolve(one.billing.hold({ budgets: credits, amount: 8_000n })).catch(
    (error: unknown) => error,
  )
  expect(refusal).toMatchObject({ type: 'storage_unavailable' })
  await world.advance(1_000)
  expect(await one.billing.hold({ budgets: credits, amount: 8_000n })).toMatchObject({ amount: 8_000n })
  expect(await world.findings()).toEqual([])
})

test('captures of one turn become durable in one unit', async () => {
  const { world, one } = await begin()
  const holds = await Promise.all(
    Array.from({ length: 40 }, async () => one.billing.hold({ budgets: credits, amount: 10n })),
  )
  const before = world.store.commits
  await Promise.all(holds.map((hold, index) => one.billing.capture(hold, captureRowOf(`gen-${index}`, 5n))))
  expect(world.store.commits - before).toBe(1)
})

/** Holds of 10, and a function that charges the next one. */
async function withHolds(commitDelayMs: number, count: number) {
  const { world, one } = await begin(commitDelayMs)
  const holds = await Promise.all(
    Array.from({ length: count }, async () => one.billing.hold({ budgets: credits, amount: 10n })),
  )
  const units: string[] = []
  const commit = one.database.commit.bind(one.database)
  one.database.commit = (unit) => {
    if (unit.name === commitPoints.capture) units.push(unit.name)
    return commit(unit)
  }
  let next = 0
  const capture = async (): Promise<void> => {
    const hold = holds[next]
    if (hold === undefined) throw new Error('no hold is left')
    next += 1
    await one.billing.capture(hold, captureRowOf(`gen-${next}`, 5n))
  }
  return { world, units, capture }
}

test('with a delay, captures that come close together share a unit, and none waits longer than the delay', async () => {
  const { world, units, capture } = await withHolds(20, 60)
  const waited: number[] = []
  for (let index = 0; index < 60; index += 1) {
    const startedMs = world.monotonicMs
    void capture().then(() => waited.push(world.monotonicMs - startedMs))
    await world.advance(5)
  }
  await world.advance(20)
  expect(waited).toHaveLength(60)
  expect(Math.max(...waited)).toBe(20)
  // One each while the gateway learns how close together they come, then one for those of 20 ms.
  expect(units.length).toBeGreaterThan(60 / 5)
  expect(units.length).toBeLessThan(30)
  expect(await world.findings()).toEqual([])
})

test('with a delay, a capture of a quiet gateway does not wait for others', async () => {
  const { world, units, capture } = await withHolds(20, 5)
  for (let index = 1; index <= 5; index += 1) {
    const capturing = capture()
    await world.flush()
    expect(units).toHaveLength(index)
    await capturing
    await world.advance(200)
  }
})

test('with a delay, a full group does not wait', async () => {
  const { world, units, capture } = await withHolds(20, captureGroupMax + 60)
  for (let index = 0; index < 10; index += 1) {
    void capture()
    await world.advance(1)
  }
  await world.advance(20)
  const alone = units.length
  const startedMs = world.monotonicMs
  const capturing = Promise.all(Array.from({ length: captureGroupMax }, () => capture()))
  await capturing
  expect([units.length - alone, world.monotonicMs - startedMs]).toEqual([1, 0])
})

test('a released hold charges nothing, and a capture after the release charges nothing either', async () => {
  const { world, one, hold } = await begin()
  one.billing.release(hold)
  one.billing.release(hold)
  await one.billing.capture(hold, captureRowOf('gen-1', 70n))
  expect(world.store.query('select 1 as found from usages')).toEqual([])
  expect(one.billing.stats()).toMatchObject({ heldNanocredits: 0n, holdsLive: 0 })
})

test('releasing a hold that is being captured does not undo the capture', async () => {
  const { world, one, hold } = await begin()
  const capturing = one.billing.capture(hold, captureRowOf('gen-1', 70n))
  one.billing.release(hold)
  await capturing
  expect((await one.accounts.readCredits('org_a')).totalUsage).toBe(70n)
  expect(await world.findings()).toEqual([])
})
