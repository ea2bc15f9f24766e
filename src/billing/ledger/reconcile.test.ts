import { expect, test } from 'bun:test'
import { captureRowOf, insertOrganization } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { createAccountsRepository } from './accounts-repository.ts'
import { createAccounts } from './accounts.ts'
import { creditsBudget } from '../budgets/budget-ids.ts'
import { createBilling } from '../billing.ts'
import { createInvariantsRepository } from './invariants-repository.ts'
import { checkInvariants } from './invariants.ts'
import { createLedger } from './ledger-repository.ts'

const organizationId = 'org_a'

eachDatabase((name, _open, { openFresh }) => {
  async function begin(accountMode: 'prepaid' | 'tracked' = 'prepaid') {
    const { database } = await openFresh()
    await insertOrganization(database, organizationId, accountMode)
    const ledger = createLedger(database)
    const billing = createBilling({ ledger, report: () => undefined })
    const accounts = createAccounts(ledger, createAccountsRepository(database))
    const grant = (amountNanocredits: bigint, transactionId: string) =>
      accounts.grantCredits({ organizationId, amountNanocredits, transactionId, createdAtMs: 1 })
    const call = async (generationId: string, isTracked: boolean) => {
      const budgets = isTracked ? [] : [creditsBudget(organizationId)]
      const hold = await billing.hold({ budgets, amount: 100n })
      await billing.capture(hold, captureRowOf(generationId, 70n))
    }
    const findings = () => checkInvariants(createInvariantsRepository(database))
    return { accounts, billing, grant, call, findings }
  }

  test(`on ${name}, usage of the time when the account was tracked is owed once, however often it is reconciled`, async () => {
    const { accounts, grant, call, findings } = await begin()
    await call('gen-1', true)
    const owed = { totalCredits: 0n, totalUsage: 70n, balance: -70n }
    expect(await accounts.reconcileCredits(organizationId)).toEqual(owed)
    expect(await accounts.reconcileCredits(organizationId)).toEqual(owed)
    await grant(1_000n, 'grant-1')
    await call('gen-2', true)
    expect((await findings()).map(({ invariant }) => invariant)).toEqual(['balance is the sum of postings'])
    const balance = { totalCredits: 1_000n, totalUsage: 140n, balance: 860n }
    expect(await accounts.reconcileCredits(organizationId)).toEqual(balance)
    expect(await findings()).toEqual([])
  })

  test(`on ${name}, usage of a tracked account before its first grant is not taken off the grant`, async () => {
    const { accounts, grant, call } = await begin('tracked')
    await call('gen-1', true)
    await grant(1_000n, 'grant-1')
    expect(await accounts.readCredits(organizationId)).toEqual({
      totalCredits: 1_000n,
      totalUsage: 70n,
      balance: 930n,
    })
  })

  test(`on ${name}, an account that owes more than it has is granted nothing`, async () => {
    const { accounts, billing, grant, call } = await begin()
    await grant(100n, 'grant-1')
    await call('gen-1', true)
    await accounts.reconcileCredits(organizationId)
    const budgets = [creditsBudget(organizationId)]
    await expect(Promise.resolve(billing.hold({ budgets, amount: 31n }))).rejects.toMatchObject({
      type: 'payment_required',
    })
  })

  test(`on ${name}, nothing is lost or booked twice while calls, grants and renewals go on`, async () => {
    const { accounts, billing, grant, call, findings } = await begin()
    await grant(100_000n, 'grant-0')
    const rounds = Array.from({ length: 12 }, (_, round) => round)
    await Promise.all(
      rounds.flatMap((round) => [
        call(`gen-tracked-${round}`, true),
        call(`gen-prepaid-${round}`, false),
        grant(10n, `grant-late-${round}`),
        billing.rounds.renew(),
        // "Too busy to be read at rest" is a valid answer too; it changes nothing.
        accounts.reconcileCredits(organizationId).catch((error: unknown) => {
          expect(error).toMatchObject({ type: 'conflict' })
        }),
      ]),
    )
    const used = BigInt(rounds.length) * 140n
    const granted = 100_000n + BigInt(rounds.length) * 10n
    expect(await accounts.reconcileCredits(organizationId)).toEqual({
      totalCredits: granted,
      totalUsage: used,
      balance: granted - used,
    })
    await billing.stop()
    expect(await findings()).toEqual([])
  })
})
