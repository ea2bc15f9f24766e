import { expect, test } from 'bun:test'
import { creditsBudget } from '../../billing/budgets/budget-ids.ts'
import { createBilling } from '../../billing/billing.ts'
import { createLedger } from '../../billing/ledger/ledger-repository.ts'
import { createAccountsRepository } from '../../billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../billing/ledger/accounts.ts'
import { insertOrganization, principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { Database } from '../../storage/database.ts'
import type { Batch } from '../../canonical/batch.ts'
import { createCommitter } from '../committer.ts'
import type { BatchMoney } from './batch-money.ts'
import { createBatchMoney } from './batch-money.ts'
import { systemPause } from './pause.ts'

const batch = {
  id: 'batch_1',
  organizationId: 'org_a',
  budgetParents: [creditsBudget('org_a').budgetId],
  totalItems: 1,
  worstCaseNanocredits: 100n,
  maxCostNanocredits: 250n,
} as unknown as Batch

function moneyOf(database: Database): BatchMoney {
  const ledger = createLedger(database)
  const committer = createCommitter({ database, pause: systemPause, crash: null })
  return createBatchMoney({
    billing: createBilling({ ledger }),
    ledger,
    committer,
    readBalance: async () => 0n,
    pause: systemPause,
  })
}

eachDatabase((_name, open) => {
  test('workers that enlarge a batch at once stay within its caller’s limit together', async () => {
    const database = await open()
    await insertOrganization(database, 'org_a', 'prepaid')
    const accounts = createAccounts(createLedger(database), createAccountsRepository(database))
    await accounts.grantCredits({
      organizationId: 'org_a',
      amountNanocredits: 10_000n,
      transactionId: 'grant-1',
      createdAtMs: 1,
    })
    const workers = [moneyOf(database), moneyOf(database)]
    const accepted = workers[0]?.accept(batch, [creditsBudget('org_a')], 100n) ?? []
    await database.commit({ name: 'test', statements: accepted })
    const owner = principalOf({ organizationId: 'org_a', accountMode: 'prepaid' })
    const enlarged = await Promise.all(workers.map((money) => money.enlarge(batch, owner, 0n)))
    expect(enlarged.filter((isEnlarged) => isEnlarged)).toHaveLength(1)
    expect(
      await database.query(`select limit_nanocredits from budgets where budget_id = 'batch:batch_1'`),
    ).toEqual([{ limit_nanocredits: 201n }])
  })

  test('for an item that is dearer than its hold, the batch gets as much as there is and as the caller’s limit allows', async () => {
    const database = await open()
    const organizationId = 'org_dear'
    await insertOrganization(database, organizationId, 'prepaid')
    await createAccounts(createLedger(database), createAccountsRepository(database)).grantCredits({
      organizationId,
      amountNanocredits: 1_000n,
      transactionId: 'grant-dear',
      createdAtMs: 1,
    })
    const credits = [creditsBudget(organizationId)]
    const owner = principalOf({ organizationId, accountMode: 'prepaid' })
    const money = moneyOf(database)
    const limitOf = async ({ id }: Batch) =>
      (await database.query(`select limit_nanocredits from budgets where budget_id = 'batch:${id}'`))[0]
    const parents = { organizationId, budgetParents: credits.map(({ budgetId }) => budgetId) }
    const bounded = { ...batch, ...parents, id: 'batch_bounded' } as unknown as Batch
    const unbounded = { ...bounded, id: 'batch_open', maxCostNanocredits: null } as unknown as Batch
    for (const each of [bounded, unbounded])
      await database.commit({ name: 'test', statements: money.accept(each, credits, 100n) })
    expect(await money.enlargeForCharge(bounded, owner, 500n)).toBe(false)
    expect(await limitOf(bounded)).toEqual({ limit_nanocredits: 250n })
    expect(await money.enlargeForCharge(unbounded, owner, 300n)).toBe(true)
    expect(await limitOf(unbounded)).toEqual({ limit_nanocredits: 400n })
    expect(await money.enlargeForCharge(unbounded, owner, 5_000n)).toBe(false)
    expect(await limitOf(unbounded)).toEqual({ limit_nanocredits: 750n })
    expect(await money.enlargeForCharge(unbounded, owner, 1n)).toBe(false)
    expect(await limitOf(unbounded)).toEqual({ limit_nanocredits: 750n })
  })

  test('credits that a dead process leased return to the batch that needs them', async () => {
    const [living, dying] = [await open(), await open()]
    await insertOrganization(living, 'org_dead', 'prepaid')
    await createAccounts(createLedger(living), createAccountsRepository(living)).grantCredits({
      organizationId: 'org_dead',
      amountNanocredits: 10_000n,
      transactionId: 'grant-dead',
      createdAtMs: 1,
    })
    const credits = [creditsBudget('org_dead')]
    await createBilling({ ledger: createLedger(dying) }).hold({ budgets: credits, amount: 9_000n })
    const money = moneyOf(living)
    expect(await money.willReturn(credits, 5_000n)).toBe(false)
    await dying.close()
    expect(await money.willReturn(credits, 5_000n)).toBe(true)
    expect(await money.willReturn(credits, 10_001n)).toBe(false)
  })
})
