import { expect, test } from 'bun:test'
import { captureRowOf, insertOrganization } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { newGenerationId } from '../../core/ids.ts'
import { type Database, UniqueViolation } from '../../storage/database.ts'
import { openDatabase } from '../../storage/open-database.ts'
import { createAccountsRepository } from './accounts-repository.ts'
import { createAccounts } from './accounts.ts'
import { creditsBudget } from '../budgets/budget-ids.ts'
import { createBilling } from '../billing.ts'
import { createInvariantsRepository } from './invariants-repository.ts'
import { checkInvariants } from './invariants.ts'
import { createLedger } from './ledger-repository.ts'
import { insertCapturePostings, insertUsages } from './capture-repository.ts'

const dayMs = 86_400_000
const nowMs = Date.UTC(2026, 5, 17, 12)
const nowExpression = `(select cast(${nowMs} as bigint))`

/** An id with its own partition, an id from long ago, and an id without a day. */
const generations = [
  newGenerationId('gen', nowMs),
  newGenerationId('gen-stt', nowMs - 400 * dayMs),
  'gen-none',
]

function partsOn(database: Database) {
  const ledger = createLedger(database)
  return {
    ledger,
    billing: createBilling({ ledger }),
    accounts: createAccounts(ledger, createAccountsRepository(database)),
  }
}

eachDatabase((_name, _open, { openFresh }) => {
  test('a generation or transaction that exists is a violation that names the table, whatever its day', async () => {
    const { database } = await openFresh({ nowExpression })
    for (const generationId of generations) {
      const row = captureRowOf(generationId, 5n)
      const statements = {
        usages: insertUsages([{ row, held: 0n }]),
        postings: insertCapturePostings([row]),
      }
      for (const [table, statement] of Object.entries(statements)) {
        const unit = { name: 'test.insert', statements: statement === null ? [] : [statement] }
        await database.commit(unit)
        const failure = await database.commit(unit).catch((error: unknown) => error)
        expect(failure).toBeInstanceOf(UniqueViolation)
        expect(failure).toMatchObject({ table, constraint: `${table}_pkey` })
      }
    }
  })

  test('a capture that another process repeats on a later day changes nothing', async () => {
    const { database, url } = await openFresh({ nowExpression })
    const laterDatabase = await openDatabase({ url, nowExpression })
    const [first, later] = [partsOn(database), partsOn(laterDatabase)]
    await insertOrganization(database)
    const grant = { organizationId: 'org_a', amountNanocredits: 1_000n, transactionId: 'grant_bootstrap' }
    expect(await first.accounts.grantCredits({ ...grant, createdAtMs: nowMs })).toEqual({ isRepeated: false })
    const repeatedGrant = await later.accounts.grantCredits({ ...grant, createdAtMs: nowMs + 3 * dayMs })
    expect(repeatedGrant).toEqual({ isRepeated: true })
    for (const generationId of generations) {
      for (const { billing } of [first, later]) {
        const hold = await billing.hold({ budgets: [creditsBudget('org_a')], amount: 10n })
        const createdAtMs = billing === first.billing ? nowMs : nowMs + 3 * dayMs
        await billing.capture(hold, captureRowOf(generationId, 7n, { createdAtMs }))
      }
    }
    expect(first.billing.stats()).toMatchObject({ captured: 3, duplicates: 0 })
    expect(later.billing.stats()).toMatchObject({ captured: 0, duplicates: 3 })
    expect(await first.accounts.readCredits('org_a')).toEqual({
      totalCredits: 1_000n,
      totalUsage: 21n,
      balance: 979n,
    })
    expect(await checkInvariants(createInvariantsRepository(database))).toEqual([])
    await Promise.all([first.billing.stop(), later.billing.stop()])
    await laterDatabase.close()
  })

  test('a generation of any day is found and refunded, and not beyond its charge', async () => {
    const { database } = await openFresh({ nowExpression })
    const { accounts, billing } = partsOn(database)
    await insertOrganization(database)
    const grant = { organizationId: 'org_a', amountNanocredits: 1_000n, transactionId: 'grant_1' }
    await accounts.grantCredits({ ...grant, createdAtMs: nowMs })
    for (const generationId of generations) {
      const hold = await billing.hold({ budgets: [creditsBudget('org_a')], amount: 10n })
      await billing.capture(hold, captureRowOf(generationId, 7n))
      expect(await accounts.findUsage(generationId, 'org_a')).toMatchObject({ costNanocredits: 7n })
      const refund = {
        generationId,
        organizationId: 'org_a',
        amountNanocredits: 5n,
        sequence: 1,
        kind: 'refund' as const,
        createdAtMs: nowMs + 9 * dayMs,
      }
      expect(await accounts.refund(refund)).toEqual({ isRepeated: false })
      expect(await accounts.refund(refund)).toEqual({ isRepeated: true })
      const beyond = await accounts.refund({ ...refund, sequence: 2 }).catch((error: unknown) => error)
      expect(beyond).toMatchObject({ type: 'conflict' })
    }
    expect((await accounts.readCredits('org_a')).balance).toBe(1_000n - 3n * 2n)
    expect(await checkInvariants(createInvariantsRepository(database))).toEqual([])
    await billing.stop()
  })
})
