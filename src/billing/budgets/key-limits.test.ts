import { expect, test } from 'bun:test'
import { captureRowOf, insertOrganization, principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { Principal } from '../../canonical/principal.ts'
import { createAccountsRepository } from '../ledger/accounts-repository.ts'
import { createAccounts } from '../ledger/accounts.ts'
import { budgetsOf } from './budget-ids.ts'
import { createBilling } from '../billing.ts'
import { createInvariantsRepository } from '../ledger/invariants-repository.ts'
import { checkInvariants } from '../ledger/invariants.ts'
import { createLedger } from '../ledger/ledger-repository.ts'

/** A Wednesday noon, in the middle of a week and of a month. */
const nowMs = Date.UTC(2026, 0, 14, 12)
const monday = Date.UTC(2026, 0, 12, 9)
const newYear = Date.UTC(2026, 0, 1, 9)
const christmas = Date.UTC(2025, 11, 25, 9)

eachDatabase((name, _open, { openFresh }) => {
  async function begin() {
    const { database } = await openFresh({ nowExpression: String(nowMs) })
    await insertOrganization(database, 'org_a', 'tracked')
    const ledger = createLedger(database)
    const billing = createBilling({ ledger })
    const accounts = createAccounts(ledger, createAccountsRepository(database))
    let calls = 0
    const spend = async (principal: Principal, cost: bigint, createdAtMs = nowMs): Promise<void> => {
      const hold = await billing.hold({ budgets: budgetsOf(principal, createdAtMs), amount: cost })
      await billing.capture(hold, captureRowOf(`gen-${++calls}`, cost, { createdAtMs }))
    }
    const remaining = (principal: Principal) => accounts.readKeyRemaining(principal)
    const isSound = async () => (await checkInvariants(createInvariantsRepository(database))).length === 0
    return { spend, remaining, isSound, billing }
  }

  /** A limit of 1,000 with the given reset, from noon on. */
  function limited(keyLimitReset: Principal['keyLimitReset'], change: Partial<Principal> = {}): Principal {
    const limit = { keyLimitNanocredits: 1_000n, keyLimitReset, keyLimitSinceMs: nowMs - 1 }
    return principalOf({ accountMode: 'tracked', ...limit, ...change })
  }

  test(`on ${name}, a limit whose reset changes counts the spending of its new window before the change`, async () => {
    const { spend, remaining, isSound } = await begin()
    const daily = limited('daily', { keyLimitSinceMs: christmas - 1 })
    await spend(daily, 1n, christmas)
    await spend(daily, 20n, newYear)
    await spend(daily, 300n, monday)
    await spend(daily, 400n)
    expect(await remaining(daily)).toBe(600n)
    expect(await remaining(limited('weekly'))).toBe(300n)
    expect(await remaining(limited('monthly'))).toBe(280n)
    expect(await remaining(limited(null))).toBe(279n)
    expect(await isSound()).toBe(true)
  })

  test(`on ${name}, a limit that is removed and set again counts the spending in between`, async () => {
    const { spend, remaining, isSound } = await begin()
    const before = limited('daily', { keyLimitSinceMs: nowMs - 3_000 })
    await spend(before, 100n)
    await spend(limited('daily', { keyLimitNanocredits: null }), 500n)
    expect(await remaining(limited('daily'))).toBe(400n)
    await spend(limited(null, { keyLimitSinceMs: nowMs - 2_000 }), 50n)
    const again = limited('daily', { keyLimitSinceMs: nowMs - 1_000 })
    expect(await remaining(again)).toBe(350n)
    await expect(spend(again, 351n)).rejects.toMatchObject({ type: 'payment_required' })
    await spend(again, 350n)
    expect(await isSound()).toBe(true)
  })

  test(`on ${name}, a changed amount keeps the spent and the held part`, async () => {
    const { spend, remaining, billing } = await begin()
    await spend(limited('daily'), 100n)
    const raised = limited('daily', { keyLimitNanocredits: 2_000n })
    await billing.hold({ budgets: budgetsOf(raised, nowMs), amount: 1_900n })
    expect(await remaining(raised)).toBe(1_900n)
    await expect(spend(raised, 1n)).rejects.toMatchObject({ type: 'payment_required' })
  })

  test(`on ${name}, a window that begins after the change counts only its own holds`, async () => {
    const { billing, remaining } = await begin()
    const principal = limited('daily', { keyLimitSinceMs: newYear })
    const hold = await billing.hold({ budgets: budgetsOf(principal, nowMs - 86_400_000), amount: 700n })
    // The call is answered after midnight, but belongs to the day before.
    await billing.capture(hold, captureRowOf('gen-late', 700n, { createdAtMs: nowMs }))
    expect(await remaining(principal)).toBe(1_000n)
  })
})
