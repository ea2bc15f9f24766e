import { expect, test } from 'bun:test'
import { captureRowOf, insertOrganization, principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { SimulatedDatabase } from '../../../test/simulation/billing-store.ts'
import { BillingWorld, type SimulatedProcess } from '../../../test/simulation/billing-world.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { GatewayError } from '../../core/errors.ts'
import { newGenerationId } from '../../core/ids.ts'
import { captureGroupMax, captureQueueMax, captureWaitMs } from './capture-queue.ts'
import { createAccountsRepository } from './accounts-repository.ts'
import { createAccounts } from './accounts.ts'
import { acceptBatchStatements, closeBatchStatements } from '../budgets/budget-repository.ts'
import { batchBudget, type BudgetRef, budgetsOf, creditsBudget } from '../budgets/budget-ids.ts'
import { type CaptureRow, createBilling, type Hold } from '../billing.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import { createInvariantsRepository } from './invariants-repository.ts'
import { checkInvariants } from './invariants.ts'
import { createLedger } from './ledger-repository.ts'
import { createRollupRepository } from './rollup-repository.ts'

const startMs = Date.UTC(2026, 0, 1)
const limited = principalOf({ keyLimitNanocredits: 5_000n })
const refusedMs = captureWaitMs + 1_000

interface Scene {
  world: BillingWorld
  one: SimulatedProcess
  budgets: readonly BudgetRef[]
  hold: Hold
}

async function begin(): Promise<Scene> {
  const world = new BillingWorld(1, startMs)
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const one = await world.startProcess()
  await one.accounts.grantCredits({
    organizationId: 'org_a',
    amountNanocredits: 10_000n,
    transactionId: 'grant-1',
    createdAtMs: 1,
  })
  const budgets = budgetsOf(limited, startMs)
  return { world, one, budgets, hold: await one.billing.hold({ budgets, amount: 100n }) }
}

const rowOf = (name: string, cost: bigint): CaptureRow =>
  captureRowOf(name, cost, { createdAtMs: startMs, provider: 'maker', model: 'maker/model' })

/**
 * Captures for a caller who has seen nothing yet; returns the error with which that caller was refused, if any.
 */
function captureUnshown({ one, hold }: Scene, row = rowOf('gen-1', 70n)): { refusal: unknown } {
  const told: { refusal: unknown } = { refusal: null }
  one.billing.capture(hold, row, 'void').catch((error: unknown) => {
    told.refusal = error
  })
  return told
}

/** Checks that no account or budget is charged and that the whole amount can be held again. */
async function expectNothingCharged({ world, one, budgets }: Scene): Promise<void> {
  expect(await one.accounts.readCredits('org_a')).toMatchObject({ totalUsage: 0n, balance: 10_000n })
  expect(await one.accounts.readKeyRemaining(limited)).toBe(5_000n)
  expect((await one.accounts.readKeyUsage('key_a')).total).toBe(0n)
  expect((await one.accounts.findUsage('gen-1', 'org_a'))?.costNanocredits).toBe(0n)
  expect(one.billing.stats()).toMatchObject({ heldNanocredits: 0n, holdsLive: 0, capturesQueued: 0 })
  expect(await world.findings()).toEqual([])
  const all = one.billing.hold({ budgets, amount: 5_000n })
  await world.advance(1_000)
  expect(await all).toMatchObject({ amount: 5_000n })
}

const losses = ({ world }: Scene) =>
  world.store.query(
    'select generation_id, provider, model, cost_nanocredits, outcome from refused_calls order by generation_id',
  )

test('a caller who was refused and shown nothing pays nothing when storage is back', async () => {
  const scene = await begin()
  const { world, one } = scene
  one.isStorageDown = true
  const told = captureUnshown(scene)
  await world.advance(refusedMs)
  expect(told.refusal).toMatchObject({ type: 'storage_unavailable', retryAfterSeconds: 5 })
  expect(one.billing.stats()).toMatchObject({ lostCalls: 1, lostNanocredits: 70n })
  expect(one.events).toContainEqual(expect.objectContaining({ type: 'call_lost', generationId: 'gen-1' }))
  one.isStorageDown = false
  await world.advance(3_000)
  await expectNothingCharged(scene)
  const common = { provider: 'maker', model: 'maker/model', cost_nanocredits: 70n }
  expect(losses(scene)).toEqual([{ generation_id: 'gen-1', ...common, outcome: 'voided' }])
  expect(world.store.query('select 1 as found from postings where transaction_id = $1', ['gen-1'])).toEqual(
    [],
  )
})

/** The first capture becomes real without an answer, and then storage is gone. */
function loseFirstCapture({ one }: Scene): void {
  const commit = one.database.commit.bind(one.database)
  one.database.commit = async (unit) => {
    const rows = await commit(unit)
    if (unit.name !== commitPoints.capture) return rows
    one.database.commit = commit
    one.isStorageDown = true
    return commit(unit)
  }
}

test('a charge that was written without an answer is refunded to every budget it was taken from', async () => {
  const scene = await begin()
  const { world, one } = scene
  loseFirstCapture(scene)
  const told = captureUnshown(scene)
  await world.advance(refusedMs)
  expect(told.refusal).toMatchObject({ type: 'storage_unavailable' })
  expect(world.store.query("select 1 as found from postings where transaction_id = 'gen-1'")).toHaveLength(2)
  one.isStorageDown = false
  await world.advance(3_000)
  await expectNothingCharged(scene)
  expect(losses(scene)).toMatchObject([{ generation_id: 'gen-1', outcome: 'refunded' }])
  expect(
    world.store.query(
      "select transaction_id, reference from postings where kind = 'refund' and account = $1",
      ['income:usage'],
    ),
  ).toEqual([{ transaction_id: 'refund:gen-1:1', reference: 'gen-1' }])
})

test('a charge that becomes real after its caller was refused is refunded', async () => {
  const scene = await begin()
  const { world, one } = scene
  const commit = one.database.commit.bind(one.database)
  const slow = Promise.withResolvers<void>()
  one.database.commit = async (unit) => {
    if (unit.name === commitPoints.capture) await slow.promise
    return commit(unit)
  }
  const told = captureUnshown(scene)
  await world.advance(refusedMs)
  expect(told.refusal).toMatchObject({ type: 'storage_unavailable' })
  slow.resolve()
  await world.advance(3_000)
  await expectNothingCharged(scene)
  expect(losses(scene)).toMatchObject([{ generation_id: 'gen-1', outcome: 'refunded' }])
})

test('a caller whose refusal was decided but not sent yet does not get the answer for free', async () => {
  const scene = await begin()
  const { world, one } = scene
  const noted = Promise.withResolvers<void>()
  one.onEvent = () => noted.promise
  one.isStorageDown = true
  const told = captureUnshown(scene)
  await world.advance(captureWaitMs + 100)
  expect(told.refusal).toBeNull()
  one.isStorageDown = false
  await world.advance(3_000)
  expect(told.refusal).toMatchObject({ type: 'storage_unavailable' })
  noted.resolve()
  await expectNothingCharged(scene)
})

test('a refund without an answer is not made twice', async () => {
  const scene = await begin()
  const { world, one } = scene
  loseFirstCapture(scene)
  captureUnshown(scene)
  await world.advance(refusedMs)
  one.isStorageDown = false
  const commit = one.database.commit.bind(one.database)
  let refunds = 0
  one.database.commit = async (unit) => {
    const rows = await commit(unit)
    if (unit.name === commitPoints.refund && ++refunds === 1)
      throw new GatewayError('storage_unavailable', 'No answer.')
    return rows
  }
  await world.advance(5_000)
  await expectNothingCharged(scene)
})

test('of callers who waited together, those who saw a part pay and the others do not', async () => {
  const scene = await begin()
  const { world, one, budgets, hold } = scene
  const holds = await Promise.all(
    Array.from({ length: 6 }, async () => one.billing.hold({ budgets, amount: 100n })),
  )
  loseFirstCapture(scene)
  one.billing.capture(hold, rowOf('gen-1', 70n), 'void').catch(() => undefined)
  for (const [index, each] of holds.entries()) {
    const whenRefused = index % 2 === 0 ? 'keep' : 'void'
    one.billing.capture(each, rowOf(`gen-more-${index}`, 10n), whenRefused).catch(() => undefined)
  }
  await world.advance(refusedMs)
  one.isStorageDown = false
  await world.advance(5_000)
  expect((await one.accounts.readCredits('org_a')).totalUsage).toBe(30n)
  expect(await one.accounts.readKeyRemaining(limited)).toBe(4_970n)
  expect(losses(scene)).toHaveLength(4)
  expect(one.billing.stats()).toMatchObject({ lostCalls: 4, lostNanocredits: 100n, holdsLive: 0 })
  expect(await world.findings()).toEqual([])
})

test('a refund whose batch was ended meanwhile goes to what the batch was paid from', async () => {
  const scene = await begin()
  const { world, one } = scene
  const credits = creditsBudget('org_a')
  const batch = batchBudget('batch_1', 'org_a', [credits.budgetId])
  const accepted = acceptBatchStatements({ batch, parents: [credits], estimateNanocredits: 1_000n })
  world.store.commit({ name: 'test.accept', statements: accepted })
  one.billing.release(scene.hold)
  const hold = await one.billing.hold({ budgets: [batch], amount: 100n })
  loseFirstCapture(scene)
  captureUnshown({ ...scene, hold })
  await world.advance(refusedMs)
  // Another process found the lease expired, closed it and ended the batch.
  const other = await world.startProcess()
  const settling = other.billing.settleBudget(batch.budgetId)
  await world.advance(3_000)
  expect(await settling).toBe(true)
  world.store.commit({ name: 'test.close', statements: closeBatchStatements(batch) })
  expect((await one.accounts.readCredits('org_a').catch(() => null))?.totalUsage ?? 70n).toBe(70n)
  one.isStorageDown = false
  await world.advance(5_000)
  expect((await one.accounts.readCredits('org_a')).totalUsage).toBe(0n)
  expect(await world.findings()).toEqual([])
})

test('a capture for which the queue has no room holds nothing back, and counts as lost', async () => {
  const scene = await begin()
  const { world, one, hold } = scene
  one.isStorageDown = true
  for (let index = 0; index < captureQueueMax + captureGroupMax; index += 1) {
    const free = await one.billing.hold({ budgets: [], amount: 0n })
    one.billing.capture(free, rowOf(`gen-full-${index}`, 0n)).catch(() => undefined)
  }
  const refusal = await one.billing
    .capture(hold, rowOf('gen-1', 70n), 'void')
    .catch((error: unknown) => error)
  expect(refusal).toMatchObject({ type: 'storage_unavailable' })
  expect(one.billing.stats()).toMatchObject({ holdsLive: 0, heldNanocredits: 0n, lostCalls: 1 })
  // The capture is in no queue, but it is listed once storage works again.
  one.isStorageDown = false
  await world.advance(2_000)
  expect(one.billing.stats()).toMatchObject({ capturesQueued: 0 })
  const common = { provider: 'maker', model: 'maker/model', cost_nanocredits: 70n }
  expect(losses(scene)).toEqual([{ generation_id: 'gen-1', ...common, outcome: 'voided' }])
  expect((await one.accounts.readCredits('org_a')).totalUsage).toBe(0n)
  expect(await world.findings()).toEqual([])
}, 30_000)

test('a refused call whose charge storage can never take is listed', async () => {
  const scene = await begin()
  const { world, one } = scene
  one.isStorageDown = true
  captureUnshown(scene)
  await world.advance(refusedMs)
  one.isStorageDown = false
  const commit = one.database.commit.bind(one.database)
  one.database.commit = async (unit) => {
    if (unit.name === commitPoints.capture) throw new Error('a value is out of range')
    return commit(unit)
  }
  await world.advance(3_000)
  one.database.commit = commit
  expect(losses(scene)).toMatchObject([{ generation_id: 'gen-1', cost_nanocredits: 70n, outcome: 'voided' }])
  expect((await one.accounts.readCredits('org_a')).totalUsage).toBe(0n)
  expect(await world.findings()).toEqual([])
})

test('lost calls that are not listed yet are listed when the process stops', async () => {
  const scene = await begin()
  const { world, one } = scene
  one.isStorageDown = true
  captureUnshown(scene)
  await world.advance(refusedMs)
  one.isStorageDown = false
  const commit = one.database.commit.bind(one.database)
  let isListed = false
  one.database.commit = async (unit) => {
    if (unit.name === commitPoints.capture) throw new Error('a value is out of range')
    if (unit.name === commitPoints.deadLetter && !isListed)
      throw new GatewayError('storage_unavailable', 'No.')
    return commit(unit)
  }
  await world.advance(3_000)
  expect(losses(scene)).toEqual([])
  isListed = true
  const stopping = one.billing.stop()
  await world.advance(1_000)
  await stopping
  expect(losses(scene)).toMatchObject([{ generation_id: 'gen-1' }])
})

eachDatabase((_name, _open, { openFresh }) => {
  test('a refund takes its amount off roll-ups, account, key and generation, before and after rolling up', async () => {
    const { database } = await openFresh()
    await insertOrganization(database, 'org_a', 'tracked')
    const ledger = createLedger(database)
    const billing = createBilling({ ledger })
    const accounts = createAccounts(ledger, createAccountsRepository(database))
    const nowMs = Date.now()
    const names = [newGenerationId('gen', nowMs), newGenerationId('gen', nowMs)]
    for (const generationId of names) {
      const hold = await billing.hold({ budgets: [], amount: 0n })
      await billing.capture(hold, captureRowOf(generationId, 50n, { createdAtMs: nowMs }))
    }
    const rollup = createRollupRepository(database)
    await rollup.rollUp(0, await rollup.listTail(1))
    for (const generationId of names) {
      const refund = {
        generationId,
        organizationId: 'org_a',
        sequence: 1,
        kind: 'refund' as const,
        createdAtMs: nowMs,
      }
      await accounts.refund({ ...refund, amountNanocredits: 20n })
    }
    const expectNet = async () => {
      expect((await accounts.readCredits('org_a')).totalUsage).toBe(60n)
      expect((await accounts.readKeyUsage('key_a')).total).toBe(60n)
      expect(await accounts.findUsage(names[0] ?? '', 'org_a')).toMatchObject({ costNanocredits: 30n })
      expect(await checkInvariants(createInvariantsRepository(database))).toEqual([])
    }
    await expectNet()
    const { position } = await rollup.loadCursor()
    await rollup.rollUp(position, await rollup.listTail(10))
    await expectNet()
    await billing.stop()
  })
})
