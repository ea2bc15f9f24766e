import { describe, expect, test } from 'bun:test'
import { captureRowOf, insertOrganization, principalOf } from '../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../test/support/databases.ts'
import { GatewayError } from '../core/errors.ts'
import { type Database, GuardFailed, type Unit } from '../storage/database.ts'
import { openDatabase } from '../storage/open-database.ts'
import { createAccountsRepository } from './ledger/accounts-repository.ts'
import { type Accounts, createAccounts } from './ledger/accounts.ts'
import {
  acceptBatchStatements,
  closeBatchStatements,
  enlargeBatchStatements,
  parentLimitsOf,
} from './budgets/budget-repository.ts'
import { batchBudget, type BudgetRef, budgetsOf, creditsBudget } from './budgets/budget-ids.ts'
import { type Billing, type BillingEvent, createBilling, type Hold } from './billing.ts'
import { createInvariantsRepository } from './ledger/invariants-repository.ts'
import { checkInvariants } from './ledger/invariants.ts'
import { createLedger, type Ledger } from './ledger/ledger-repository.ts'

/** One process on a database, and the organization the test is about. */
interface Process {
  database: Database
  url: string
  org: string
  keyId: string
  credits: readonly BudgetRef[]
  creditsId: string
  ledger: Ledger
  billing: Billing
  events: BillingEvent[]
  accounts: Accounts
  row: typeof captureRowOf
  principal: typeof principalOf
}

function processOn(place: { database: Database; url: string; org: string }): Process {
  const { database, org } = place
  const events: BillingEvent[] = []
  const ledger = createLedger(database)
  const keyId = `key_${org}`
  const credits = creditsBudget(org)
  return {
    ...place,
    keyId,
    credits: [credits],
    creditsId: credits.budgetId,
    ledger,
    billing: createBilling({ ledger, report: (event) => events.push(event) }),
    events,
    accounts: createAccounts(ledger, createAccountsRepository(database)),
    row: (generationId, cost, change) =>
      captureRowOf(`${generationId}-${org}`, cost, { organizationId: org, keyId, ...change }),
    principal: (change) => principalOf({ organizationId: org, keyId, ...change }),
  }
}

/** Another process on the same database, with an owner id of its own. */
async function processBeside(one: Process): Promise<Process> {
  const { url, org } = one
  return processOn({ database: await openDatabase({ url, ownerGraceMs: 0, connectionsMax: 4 }), url, org })
}

async function grant(one: Process, amountNanocredits: bigint): Promise<void> {
  const transactionId = `grant-${one.org}-${amountNanocredits}`
  await one.accounts.grantCredits({
    organizationId: one.org,
    amountNanocredits,
    transactionId,
    createdAtMs: 1,
  })
}

async function expectSound(database: Database): Promise<void> {
  const findings = await checkInvariants(createInvariantsRepository(database))
  // Holds of a dead process stay until they are reaped; the tests of reaping check those themselves.
  expect(findings.filter((finding) => finding.invariant !== 'holds have an owner')).toEqual([])
}

async function refusalOf(hold: Hold | Promise<Hold>): Promise<GatewayError> {
  try {
    await hold
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('the hold was granted')
}

eachDatabase((_name, _open, { openFresh }) => {
  let shared: ReturnType<typeof openFresh> | null = null
  let organizations = 0
  /** An organization of its own for every test; the database is shared, since making one is slow. */
  const begin = async (mode: 'prepaid' | 'tracked' = 'prepaid'): Promise<Process> => {
    shared ??= openFresh()
    const { database, url } = await shared
    organizations += 1
    const org = `org_${organizations}`
    await insertOrganization(database, org, mode)
    return processOn({ database, url, org })
  }

  test('a capture is charged whatever characters the caller and the provider sent', async () => {
    const one = await begin()
    await grant(one, 1_000_000n)
    const hold = await one.billing.hold({ budgets: one.credits, amount: 1_000n })
    const texts = { sessionId: 'a\0b', userId: '\ud800', nativeFinishReason: '\0' }
    await one.billing.capture(hold, one.row('gen-nul', 300n, texts))
    expect(one.billing.stats()).toMatchObject({ captured: 1, deadLetters: 0 })
    expect((await one.accounts.readCredits(one.org)).totalUsage).toBe(300n)
    await one.billing.stop()
  })

  test('no grant makes an account larger than an amount can be', async () => {
    const one = await begin()
    const most = 2n ** 63n - 1n
    await grant(one, most - 5n)
    expect(await grant(one, 6n).catch((error: unknown) => error)).toMatchObject({ type: 'invalid_request' })
    const last = {
      organizationId: one.org,
      amountNanocredits: 5n,
      transactionId: `grant-last-${one.org}`,
      createdAtMs: 1,
    }
    await one.accounts.grantCredits(last)
    expect(await one.accounts.grantCredits(last)).toEqual({ isRepeated: true })
    expect((await one.accounts.readCredits(one.org)).balance).toBe(most)
  })

  test('a hold and its capture move exactly the cost', async () => {
    const one = await begin()
    await grant(one, 1_000_000n)
    const hold = await one.billing.hold({ budgets: one.credits, amount: 1_000n })
    await one.billing.capture(hold, one.row('gen-1', 300n))
    expect(await one.accounts.readCredits(one.org)).toEqual({
      totalCredits: 1_000_000n,
      totalUsage: 300n,
      balance: 999_700n,
    })
    await expectSound(one.database)
    await one.billing.rounds.renew()
    await expectSound(one.database)
    await one.billing.stop()
    await expectSound(one.database)
    expect((await one.accounts.readCredits(one.org)).balance).toBe(999_700n)
    expect(await one.ledger.hasLeases(one.creditsId)).toBe(false)
  })

  test('a second hold is granted from memory, without a round trip', async () => {
    const one = await begin()
    await grant(one, 1_000_000n)
    await one.billing.hold({ budgets: one.credits, amount: 10n })
    const second = one.billing.hold({ budgets: one.credits, amount: 10n })
    expect(second).not.toBeInstanceOf(Promise)
  })

  test('an account without limits holds nothing and still writes what it used', async () => {
    const one = await begin('tracked')
    const hold = one.billing.hold({ budgets: [], amount: 500n })
    expect(hold).not.toBeInstanceOf(Promise)
    await one.billing.capture(hold as Hold, one.row('gen-1', 77n))
    expect(await one.accounts.readCredits(one.org)).toEqual({
      totalCredits: 0n,
      totalUsage: 77n,
      balance: -77n,
    })
    await expectSound(one.database)
  })

  test('capturing twice changes nothing, by the same hold and by another hold of the same generation', async () => {
    const one = await begin()
    await grant(one, 10_000n)
    const first = await one.billing.hold({ budgets: one.credits, amount: 100n })
    const second = await one.billing.hold({ budgets: one.credits, amount: 100n })
    await Promise.all([
      one.billing.capture(first, one.row('gen-1', 60n)),
      one.billing.capture(first, one.row('gen-1', 60n)),
    ])
    await one.billing.capture(second, one.row('gen-1', 60n))
    expect((await one.accounts.readCredits(one.org)).totalUsage).toBe(60n)
    expect(one.billing.stats()).toMatchObject({
      captured: 1,
      duplicates: 1,
      heldNanocredits: 0n,
      holdsLive: 0,
    })
    await one.billing.stop()
    await expectSound(one.database)
  })

  test('the excess of a capture above its hold is taken from the budget in the same unit, even beyond the limit', async () => {
    const one = await begin()
    await grant(one, 100n)
    const hold = await one.billing.hold({ budgets: one.credits, amount: 100n })
    await one.billing.capture(hold, one.row('gen-1', 250n))
    expect((await one.accounts.readCredits(one.org)).balance).toBe(-150n)
    await expectSound(one.database)
    const refused = await refusalOf(one.billing.hold({ budgets: one.credits, amount: 0n }))
    expect(refused.type).toBe('payment_required')
  })

  test('the holds of a call that turned out dearer become one hold of the whole amount', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const first = await one.billing.hold({ budgets: one.credits, amount: 100n })
    const more = await one.billing.hold({ budgets: one.credits, amount: 5_000n, smallestAmount: 1n })
    const joined = one.billing.join(first, more)
    expect(joined.amount).toBe(1_000n)
    expect(one.billing.stats()).toMatchObject({ holdsLive: 1, heldNanocredits: 1_000n })
    // The two earlier holds no longer exist.
    one.billing.release(first)
    one.billing.release(more)
    expect(one.billing.stats()).toMatchObject({ holdsLive: 1, heldNanocredits: 1_000n })
    await one.billing.capture(joined, one.row('gen-1', 990n))
    expect((await one.accounts.readCredits(one.org)).balance).toBe(10n)
    await expectSound(one.database)
  })

  test('a refusal names the limit, the needed and the available amount', async () => {
    const one = await begin()
    await grant(one, 2_500_000_000n)
    const refused = await refusalOf(
      one.billing.hold({
        budgets: one.credits,
        amount: 4_000_000_000n,
        describe: (available) => `Up to ${available}.`,
      }),
    )
    expect(refused.status).toBe(402)
    expect(refused.message).toBe(
      "This call may cost up to 4 credits, more than is left of the organization's credits. Up to 2500000000. Add credits to make it as it is.",
    )
    expect(refused.metadata).toMatchObject({ limit_source: 'openrouter_credits', needed: 4, available: 2.5 })
  })

  test('a caller who accepts less gets the remaining amount', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const hold = await one.billing.hold({ budgets: one.credits, amount: 4_000n, smallestAmount: 600n })
    expect(hold.amount).toBe(1_000n)
    const refused = await refusalOf(
      one.billing.hold({ budgets: one.credits, amount: 4_000n, smallestAmount: 600n }),
    )
    expect(refused.type).toBe('payment_required')
  })

  test('a hold takes from credits and key limit together, and the smaller of the two refuses', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const principal = one.principal({ keyLimitNanocredits: 150n, keyLimitReset: 'daily' })
    const budgets = budgetsOf(principal, Date.now())
    const hold = await one.billing.hold({ budgets, amount: 100n })
    const refused = await refusalOf(one.billing.hold({ budgets, amount: 100n }))
    expect(refused.metadata).toMatchObject({
      limit_source: 'openrouter_key_limit',
      available_nanocredits: '50',
    })
    await one.billing.capture(hold, one.row('gen-1', 20n))
    expect(await one.accounts.readKeyRemaining(principal)).toBe(130n)
    await one.billing.hold({ budgets, amount: 130n })
    await expectSound(one.database)
  })

  test('the remainder of a newly set limit is less the amount that the key had spent', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    expect(await one.accounts.readKeyRemaining(one.principal())).toBeNull()
    const hold = await one.billing.hold({ budgets: one.credits, amount: 100n })
    await one.billing.capture(hold, one.row('gen-1', 40n))
    const limited = one.principal({ keyLimitNanocredits: 150n })
    expect(await one.accounts.readKeyRemaining(limited)).toBe(110n)
    await expectSound(one.database)
  })

  test('a new window of a key limit begins anew, and the old one keeps its own captures', async () => {
    const one = await begin()
    await grant(one, 10_000n)
    const principal = one.principal({ keyLimitNanocredits: 100n, keyLimitReset: 'daily' })
    const today = budgetsOf(principal, Date.UTC(2026, 0, 1, 23, 59))
    const tomorrow = budgetsOf(principal, Date.UTC(2026, 0, 2, 0, 0))
    const late = await one.billing.hold({ budgets: today, amount: 100n })
    const early = await one.billing.hold({ budgets: tomorrow, amount: 100n })
    await one.billing.capture(late, one.row('gen-1', 90n))
    await one.billing.capture(early, one.row('gen-2', 10n))
    await one.billing.stop()
    const spent = await one.database.query<{ spent_nanocredits: bigint }>(
      "select spent_nanocredits from budgets where kind = 'key_limit' and subject_id = $1 order by window_start_ms",
      [one.keyId],
    )
    expect(spent.map((row) => row.spent_nanocredits)).toEqual([90n, 10n])
    await expectSound(one.database)
  })

  test('a limit given to a key later counts what the key spent before', async () => {
    const one = await begin('tracked')
    const hold = await one.billing.hold({ budgets: [], amount: 0n })
    await one.billing.capture(hold, one.row('gen-1', 80n))
    const budgets = budgetsOf(one.principal({ accountMode: 'tracked', keyLimitNanocredits: 100n }), 0)
    const refused = await refusalOf(one.billing.hold({ budgets, amount: 21n }))
    expect(refused.metadata).toMatchObject({ available_nanocredits: '20' })
    await one.billing.hold({ budgets, amount: 20n })
  })

  test('a changed key limit takes effect with the next call', async () => {
    const one = await begin('tracked')
    const before = budgetsOf(one.principal({ accountMode: 'tracked', keyLimitNanocredits: 100n }), 0)
    const after = budgetsOf(one.principal({ accountMode: 'tracked', keyLimitNanocredits: 300n }), 0)
    await one.billing.hold({ budgets: before, amount: 100n })
    await one.billing.hold({ budgets: after, amount: 200n })
    expect((await refusalOf(one.billing.hold({ budgets: after, amount: 1n }))).type).toBe('payment_required')
  })

  test('of 500 calls at once, against credits for 100, exactly 100 are granted', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const asked = Array.from({ length: 500 }, async () =>
      one.billing.hold({ budgets: one.credits, amount: 10n }),
    )
    const answers = await Promise.allSettled(asked)
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(100)
    expect(one.billing.stats().holdsRefused).toBe(400)
    await expectSound(one.database)
  })

  test('four owners grant exactly 100 of 500 together, whatever their slices were', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const others = await Promise.all([1, 2, 3].map(() => processBeside(one)))
    const all = [one, ...others]
    await Promise.all(all.map((each) => each.billing.start()))
    // A recall must bring back slices that were taken before.
    for (const each of all)
      each.billing.release(await each.billing.hold({ budgets: one.credits, amount: 1n }))
    const asked = Array.from({ length: 500 }, async (_, index) =>
      (all[index % 4] ?? one).billing.hold({ budgets: one.credits, amount: 10n }),
    )
    const answers = await Promise.allSettled(asked)
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(100)
    await expectSound(one.database)
    await Promise.all(all.map((each) => each.billing.stop()))
    await Promise.all(others.map((each) => each.database.close()))
  }, 20_000)

  test('the part of a slice that another owner does not hold is recalled before a call is refused', async () => {
    const one = await begin()
    await grant(one, 100_000n)
    const other = await processBeside(one)
    await other.billing.start()
    other.billing.release(await other.billing.hold({ budgets: one.credits, amount: 1_000n }))
    expect(other.billing.stats().freeNanocredits).toBeGreaterThan(1_000n)
    const all = await one.billing.hold({ budgets: one.credits, amount: 100_000n })
    expect(all.amount).toBe(100_000n)
    await expectSound(one.database)
    await other.billing.stop()
    await other.database.close()
  })

  test('the leases of a dead process return at once, with what it held', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const dead = await processBeside(one)
    await dead.billing.hold({ budgets: one.credits, amount: 1_000n })
    await dead.billing.rounds.renew()
    await dead.database.close()
    await one.billing.rounds.reap()
    expect((await one.billing.hold({ budgets: one.credits, amount: 1_000n })).amount).toBe(1_000n)
    expect(one.billing.stats().abandonedNanocredits).toBe(1_000n)
    await expectSound(one.database)
  })

  test('a capture whose lease was closed meanwhile still counts, once', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const hold = await one.billing.hold({ budgets: one.credits, amount: 400n })
    await closeLeasesOf(one)
    await one.billing.capture(hold, one.row('gen-1', 300n))
    expect((await one.accounts.readCredits(one.org)).balance).toBe(700n)
    await expectSound(one.database)
    const next = await one.billing.hold({ budgets: one.credits, amount: 700n })
    one.billing.release(next)
    await one.billing.stop()
    await expectSound(one.database)
  })

  test('one row that cannot be written is set aside and the rest of its group is captured', async () => {
    const one = await begin()
    await grant(one, 10_000n)
    const holds = await Promise.all(
      [1, 2, 3, 4, 5].map(() => one.billing.hold({ budgets: one.credits, amount: 100n })),
    )
    const rows = holds.map((_, index) => one.row(`gen-${index}`, 10n))
    // A finish reason that is no text at all breaks the insert on both databases.
    const broken = { ...one.row('gen-broken', 10n), operation: null as unknown as string }
    const captures = holds.map((hold, index) =>
      one.billing.capture(hold, index === 2 ? broken : (rows[index] ?? broken)),
    )
    await Promise.all(captures)
    const letters = await one.database.query('select generation_id from usage_dead_letters')
    expect(letters).toEqual([{ generation_id: broken.generationId }])
    expect((await one.accounts.readCredits(one.org)).totalUsage).toBe(40n)
    expect(one.events.map((event) => event.type)).toEqual(['dead_letter'])
    await one.billing.stop()
    await expectSound(one.database)
  })

  test('a batch moves its estimate out of the credits and returns the remainder, once', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const batch = batchBudget(`batch_${one.org}`, one.org, [one.creditsId])
    await commit(one, acceptBatchStatements({ batch, parents: one.credits, estimateNanocredits: 600n }))
    expect((await refusalOf(one.billing.hold({ budgets: one.credits, amount: 401n }))).type).toBe(
      'payment_required',
    )
    const hold = await one.billing.hold({ budgets: [batch], amount: 600n })
    expect((await refusalOf(one.billing.hold({ budgets: [batch], amount: 1n }))).type).toBe(
      'payment_required',
    )
    const parents = parentLimitsOf(batch.parents, principalOf())
    await commit(one, enlargeBatchStatements(batch, parents, { amountNanocredits: 100n, limitMax: null }))
    one.billing.release(await one.billing.hold({ budgets: [batch], amount: 100n }))
    await one.billing.capture(hold, one.row('gen-1', 250n, { batchId: `batch_${one.org}` }))
    expect((await one.accounts.readCredits(one.org)).balance).toBe(750n)
    await expectSound(one.database)
    expect(await failureOf(commit(one, closeBatchStatements(batch)))).toContain('batch_settled')
    expect(await one.billing.settleBudget(batch.budgetId)).toBe(true)
    await commit(one, closeBatchStatements(batch))
    expect(await failureOf(commit(one, closeBatchStatements(batch)))).toContain('batch_settled')
    expect((await one.billing.hold({ budgets: one.credits, amount: 750n })).amount).toBe(750n)
    await expectSound(one.database)
  })

  test('a batch that costs more than the credits is refused and moves nothing', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const batch = batchBudget(`batch_${one.org}`, one.org, [one.creditsId])
    const accepting = commit(
      one,
      acceptBatchStatements({ batch, parents: one.credits, estimateNanocredits: 1_001n }),
    )
    expect(await failureOf(accepting)).toContain('payment_required')
    expect((await one.billing.hold({ budgets: one.credits, amount: 1_000n })).amount).toBe(1_000n)
    await expectSound(one.database)
  })

  test('a capture that comes after its batch was closed is paid by the parents', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const batch = batchBudget(`batch_${one.org}`, one.org, [one.creditsId])
    await commit(one, acceptBatchStatements({ batch, parents: one.credits, estimateNanocredits: 500n }))
    const hold = await one.billing.hold({ budgets: [batch], amount: 200n })
    await closeLeasesOf(one)
    await commit(one, closeBatchStatements(batch))
    await one.billing.capture(hold, one.row('gen-1', 150n, { batchId: `batch_${one.org}` }))
    expect((await one.accounts.readCredits(one.org)).balance).toBe(850n)
    await expectSound(one.database)
  })

  test('captures prepared for a part commit with its unit: none when the unit fails, all when it is repeated', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const holds = await Promise.all(
      [1, 2].map(() => one.billing.hold({ budgets: one.credits, amount: 100n })),
    )
    const entries = holds.map((hold, index) => ({ hold, row: one.row(`gen-${index}`, 120n) }))
    const failing = one.billing.prepareCaptures(entries)
    const guarded = {
      sql: 'update budgets set closed = closed where budget_id = $1',
      params: ['none'],
      expect: 1,
      guard: 'part',
    }
    failing.failed(await guardOf(commit(one, [...failing.statements, guarded])))
    expect((await one.accounts.readCredits(one.org)).totalUsage).toBe(0n)
    expect(one.billing.stats().heldNanocredits).toBe(200n)
    const prepared = one.billing.prepareCaptures(entries)
    await commit(one, prepared.statements)
    prepared.committed()
    expect((await one.accounts.readCredits(one.org)).totalUsage).toBe(240n)
    expect(one.billing.stats().heldNanocredits).toBe(0n)
    await one.billing.stop()
    await expectSound(one.database)
  })

  test('captures prepared on a lease that was closed go to the budget when they are prepared again', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const hold = await one.billing.hold({ budgets: one.credits, amount: 100n })
    const entries = [{ hold, row: one.row('gen-1', 70n) }]
    await closeLeasesOf(one)
    const first = one.billing.prepareCaptures(entries)
    first.failed(await guardOf(commit(one, first.statements)))
    const second = one.billing.prepareCaptures(entries)
    await commit(one, second.statements)
    second.committed()
    expect((await one.accounts.readCredits(one.org)).balance).toBe(930n)
    await expectSound(one.database)
  })

  test('a grant repeated with its transaction id changes nothing', async () => {
    const one = await begin()
    const request = {
      organizationId: one.org,
      amountNanocredits: 500n,
      transactionId: `grant-${one.org}`,
      createdAtMs: 1,
    }
    expect(await one.accounts.grantCredits(request)).toEqual({ isRepeated: false })
    expect(await one.accounts.grantCredits(request)).toEqual({ isRepeated: true })
    expect((await one.accounts.readCredits(one.org)).balance).toBe(500n)
    await expectSound(one.database)
  })

  test('refunds of one charge never exceed it together', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const hold = await one.billing.hold({ budgets: one.credits, amount: 300n })
    await one.billing.capture(hold, one.row('gen-1', 300n))
    await one.billing.stop()
    const refund = (sequence: number, amount: bigint): Promise<unknown> =>
      one.accounts.refund({
        generationId: one.row('gen-1', 0n).generationId,
        organizationId: one.org,
        amountNanocredits: amount,
        sequence,
        kind: 'refund',
        createdAtMs: 2,
      })
    expect(await refund(1, 200n)).toEqual({ isRepeated: false })
    expect(await refund(1, 200n)).toEqual({ isRepeated: true })
    const tooMuch = await refund(2, 101n).catch((error: unknown) => error)
    expect(tooMuch).toMatchObject({ type: 'conflict' })
    const atOnce = await Promise.allSettled([refund(2, 100n), refund(3, 100n)])
    expect(atOnce.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    expect((await one.accounts.readCredits(one.org)).balance).toBe(1_000n)
    await expectSound(one.database)
  })

  test('the spending of a key is summed in total and by day, week and month', async () => {
    const one = await begin('tracked')
    const nowMs = Date.now()
    const ages = [0, 40 * 86_400_000, 400 * 86_400_000]
    await Promise.all(
      ages.map(async (age, index) => {
        const hold = await one.billing.hold({ budgets: [], amount: 0n })
        await one.billing.capture(hold, one.row(`gen-${index}`, 10n, { createdAtMs: nowMs - age }))
      }),
    )
    expect(await one.accounts.readKeyUsage(one.keyId)).toEqual({
      total: 30n,
      daily: 10n,
      weekly: 10n,
      monthly: 10n,
    })
    expect((await one.accounts.latestUsages(one.org, 2)).map((usage) => usage.generationId)).toEqual([
      `gen-0-${one.org}`,
      `gen-1-${one.org}`,
    ])
    expect(await one.accounts.findUsage(one.row('gen-0', 0n).generationId, 'org_b')).toBeNull()
    expect(await one.accounts.findUsage(one.row('gen-0', 0n).generationId, one.org)).toMatchObject({
      costNanocredits: 10n,
      generationMs: 30,
    })
  })

  test('a commit that became real without an answer is found and not repeated', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    let lost = 0
    const isLost = (unit: Unit): boolean => unit.name === 'ledger.capture' && lost++ === 0
    const other = processOn({ ...one, database: withLostAnswers(one.database, isLost) })
    const hold = await other.billing.hold({ budgets: one.credits, amount: 100n })
    await other.billing.capture(hold, one.row('gen-1', 40n))
    expect(lost).toBe(1)
    expect(other.billing.stats()).toMatchObject({ captured: 1, duplicates: 0, heldNanocredits: 0n })
    await other.billing.stop()
    expect((await one.accounts.readCredits(one.org)).balance).toBe(960n)
    await expectSound(one.database)
  })

  test('a renewal and a return without an answer are neither lost nor applied twice', async () => {
    const one = await begin()
    await grant(one, 1_000n)
    const names: string[] = []
    const isLost = (unit: Unit): boolean => {
      const isFirst = !names.includes(unit.name)
      names.push(unit.name)
      return isFirst && unit.name.startsWith('lease.') && unit.name !== 'lease.take'
    }
    const other = processOn({ ...one, database: withLostAnswers(one.database, isLost) })
    const hold = await other.billing.hold({ budgets: one.credits, amount: 100n })
    await other.billing.capture(hold, one.row('gen-1', 40n))
    for (let round = 0; round < 3; round += 1) {
      await other.billing.rounds.renew()
      await expectSound(one.database)
    }
    await other.billing.stop()
    await other.billing.stop()
    await expectSound(one.database)
    expect(await one.ledger.hasLeases(one.creditsId)).toBe(false)
    expect((await one.accounts.readCredits(one.org)).balance).toBe(960n)
  })
})

describe('budgets of a principal', () => {
  test('do not exist for a tracked account without limits, and are sorted for others', () => {
    expect(budgetsOf(principalOf({ accountMode: 'tracked' }), 0)).toEqual([])
    const both = budgetsOf(principalOf({ keyLimitNanocredits: 5n }), 0)
    expect(both.map((budget) => budget.budgetId)).toEqual(['credits:org_a', 'key_limit:key_a:0:0'])
  })
})

async function commit(one: Process, statements: Unit['statements']): Promise<void> {
  await one.database.commit({ name: 'test.batch', statements })
}

async function failureOf(committing: Promise<void>): Promise<string> {
  return committing.then(
    () => 'committed',
    (error: unknown) => String(error),
  )
}

/** The guard that refused a unit. */
async function guardOf(committing: Promise<void>): Promise<string> {
  const error = await committing.catch((thrown: unknown) => thrown)
  if (error instanceof GuardFailed) return error.guard
  throw new Error('no guard refused the unit', { cause: error })
}

/** Expires a lease as a reaper does. */
async function closeLeasesOf(one: Process): Promise<void> {
  const budgetIds = [one.creditsId, `batch:batch_${one.org}`]
  const ofBudget = "from leases where leases.budget_id = budgets.budget_id and state <> 'closed'"
  await one.database.commit({
    name: 'test.reap',
    statements: [
      {
        sql: `update budgets set granted_nanocredits = granted_nanocredits - coalesce((select
            cast(sum(granted_nanocredits - captured_nanocredits) as bigint) ${ofBudget}), 0),
          spent_nanocredits = spent_nanocredits
            + coalesce((select cast(sum(captured_nanocredits) as bigint) ${ofBudget}), 0)
          where budget_id in ($1, $2)`,
        params: budgetIds,
      },
      {
        sql: `update leases set granted_nanocredits = 0, captured_nanocredits = 0, held_nanocredits = 0,
          state = 'closed', epoch = epoch + 1 where state <> 'closed' and budget_id in ($1, $2)`,
        params: budgetIds,
      },
    ],
  })
}

/** The same database, but the answers to some commits are lost after they became real. */
function withLostAnswers(database: Database, isLost: (unit: Unit) => boolean): Database {
  return new Proxy(database, {
    get: (target, property) => {
      if (property !== 'commit') {
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      }
      return async (unit: Unit) => {
        const rows = await target.commit(unit)
        if (isLost(unit)) throw new GatewayError('storage_unavailable', 'lost')
        return rows
      }
    },
  })
}
