import { expect, test } from 'bun:test'
import { captureRowOf, insertOrganization, principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { SimulatedDatabase } from '../../../test/simulation/billing-store.ts'
import { BillingWorld } from '../../../test/simulation/billing-world.ts'
import type { Billing } from '../../billing/billing.ts'
import { GatewayError } from '../../core/errors.ts'
import { creditsBudget } from '../../billing/budgets/budget-ids.ts'
import { noFacts, type BatchScope } from './scope.ts'
import { CallHold } from './call-hold.ts'

const credits = [creditsBudget('org_a')]

interface Started {
  billing: Billing
  grant: (transactionId: string, amountNanocredits: bigint) => Promise<unknown>
}

async function begin(budgets = credits, batch: (started: Started) => BatchScope | null = () => null) {
  const world = new BillingWorld(1, Date.UTC(2026, 0, 1))
  await insertOrganization(new SimulatedDatabase(world.store, 'operator'))
  const { billing, accounts } = await world.startProcess()
  const grant = (transactionId: string, amountNanocredits: bigint) =>
    accounts.grantCredits({ organizationId: 'org_a', amountNanocredits, transactionId, createdAtMs: 1 })
  await grant('grant-1', 10_000n)
  const callHold = new CallHold(await billing.hold({ budgets, amount: 100n }), {
    billing,
    budgets,
    scope: {
      principal: principalOf({}),
      requestId: 'req_1',
      signal: new AbortController().signal,
      priority: 'live',
      metadata: 'none',
      batch: batch({ billing, grant }),
      facts: noFacts(),
    },
    place: { releasePermit: () => undefined },
  })
  const left = async () => (await accounts.readCredits('org_a')).balance
  return { world, billing, callHold, left }
}

test('the excess of a call that is dearer than its hold is covered wholly, or as far as the balance goes', async () => {
  const { world, billing, callHold, left } = await begin()
  expect(await callHold.cover(90n)).toBe(100n)
  expect(await callHold.cover(4_000n)).toBe(4_000n)
  expect(billing.stats()).toMatchObject({ holdsLive: 1, heldNanocredits: 4_000n })
  // Only the amount beyond the hold is asked for: six thousand are free.
  expect(await callHold.cover(20_000n)).toBe(10_000n)
  expect(billing.stats()).toMatchObject({ holdsLive: 1, heldNanocredits: 10_000n })
  await callHold.capture(captureRowOf('gen-1', 10_000n), 'nothing')
  expect(billing.stats()).toMatchObject({ holdsLive: 0, heldNanocredits: 0n, holdsRefused: 0 })
  expect(await left()).toBe(0n)
  expect(await world.findings()).toEqual([])
})

test('without further balance the hold stays, and without a limit of the account everything is covered', async () => {
  const { billing, callHold } = await begin()
  const other = await billing.hold({ budgets: credits, amount: 9_850n })
  expect(await callHold.cover(4_000n)).toBe(150n)
  expect(billing.stats()).toMatchObject({ holdsLive: 2, holdsRefused: 0 })
  expect(await callHold.cover(4_000n)).toBe(150n)
  billing.release(other)
  const free = await begin([])
  expect(await free.callHold.cover(4_000n)).toBe(4_000n)
})

test('an additional amount that arrives after the call was settled is given back', async () => {
  const { world, billing, callHold, left } = await begin()
  const covering = callHold.cover(9_900n)
  const capturing = callHold.capture(captureRowOf('gen-1', 70n), 'part')
  await covering
  await capturing
  expect(billing.stats()).toMatchObject({ holdsLive: 0, heldNanocredits: 0n })
  expect(await left()).toBe(9_930n)
  expect(await world.findings()).toEqual([])
})

/** Covers an item while others take what was added for it, so many times; returns how often the batch was enlarged. */
async function coverAmong(others: number): Promise<number> {
  let added = 0
  const { billing, callHold } = await begin(credits, ({ billing: taken, grant }) => ({
    batchId: 'batch_1',
    customId: 'one',
    deadlineMs: 86_400_000,
    budgets: credits,
    providerOnly: null,
    defer: () => undefined,
    async enlarge(missing) {
      added += 1
      await grant(`added-${added}`, missing)
      if (added <= others) await taken.hold({ budgets: credits, amount: missing })
      return true
    },
  }))
  await billing.hold({ budgets: credits, amount: 9_900n })
  expect(await callHold.cover(1_000n)).toBe(1_000n)
  return added
}

test('an amount that was added for one item and taken by another is added again', async () => {
  expect(await coverAmong(1)).toBe(2)
})

test('an item whose amount is taken by many others one after the other is charged whole', async () => {
  expect(await coverAmong(20)).toBe(21)
})

type Enlarge = (started: Started, missing: bigint) => Promise<boolean>

/** An item whose batch has no more than a hold of 100, and is enlarged by `enlarge`. */
const ofBatch = (enlarge: Enlarge) => (started: Started) => ({
  batchId: 'batch_1',
  customId: 'one',
  deadlineMs: 86_400_000,
  budgets: credits,
  providerOnly: null,
  defer: () => undefined,
  enlarge: (missing: bigint) => enlarge(started, missing),
})

/** The same for an answer of a provider's job. */
const ofJob = (enlarge: Enlarge) => (started: Started) => ({
  ...ofBatch(enlarge)(started),
  isJob: true as const,
})

async function coverLate(of: typeof ofBatch): Promise<void> {
  const enlarge = async ({ grant }: Started, missing: bigint) => {
    // Longer than a live call waits.
    await Bun.sleep(2_200)
    await grant('late', missing)
    return true
  }
  const { billing, callHold } = await begin(credits, of(enlarge))
  await billing.hold({ budgets: credits, amount: 9_900n })
  expect(await callHold.cover(1_000n)).toBe(1_000n)
}

test('an item of a batch waits for storage that is slow, and is charged whole', () => coverLate(ofBatch))

test('an answer of a job waits for storage that is slow, and is charged whole', () => coverLate(ofJob))

test('an answer of a job is charged later while nobody knows what covers it', async () => {
  let isOut = true
  const enlarge = async ({ grant }: Started, missing: bigint) => {
    if (isOut) throw new GatewayError('storage_unavailable', 'The database does not answer.')
    await grant('later', missing)
    return true
  }
  const { billing, callHold } = await begin(credits, ofJob(enlarge))
  await billing.hold({ budgets: credits, amount: 9_900n })
  await expect(callHold.cover(1_000n)).rejects.toMatchObject({ type: 'storage_unavailable' })
  isOut = false
  expect(await callHold.cover(1_000n)).toBe(1_000n)
})

test('an answer of a job whose batch has no more money is charged as far as that goes', async () => {
  const { billing, callHold } = await begin(
    credits,
    ofJob(() => Promise.resolve(false)),
  )
  await billing.hold({ budgets: credits, amount: 9_850n })
  expect(await callHold.cover(1_000n)).toBe(150n)
})
