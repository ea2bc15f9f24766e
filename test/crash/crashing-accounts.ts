/**
 * What operators do to accounts, in a process that kills itself at a commit point: a grant, a charge and its refund, and a
 * charge that cannot be written. Everything has an id made from the first argument, so that doing it again changes nothing.
 */
import { appendFileSync } from 'node:fs'
import { createAccountsRepository } from '../../src/billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../src/billing/ledger/accounts.ts'
import { createBilling } from '../../src/billing/billing.ts'
import { creditsBudget } from '../../src/billing/budgets/budget-ids.ts'
import { createLedger } from '../../src/billing/ledger/ledger-repository.ts'
import { openStorage } from '../../src/storage/open-storage.ts'
import { captureRowOf } from '../simulation/billing-fixtures.ts'
import { keyOfPoint, parsePlan } from './crash-plan.ts'
import { organizationId } from './world.ts'

const plan = parsePlan(process.env['HEADRACE_TEST_CRASH'])
const armed = new Set(plan.armed.map(keyOfPoint))

function crash(point: string, when: 'before' | 'after'): void {
  const key = keyOfPoint({ point, when })
  if (!armed.has(key)) return
  if (plan.report !== null) appendFileSync(plan.report, `${key}\n`)
  process.kill(process.pid, 'SIGKILL')
}

async function main(name: string): Promise<void> {
  const { database } = await openStorage({
    dataFolder: process.env['HEADRACE_DATA'] ?? '',
    databaseUrl: process.env['DATABASE_URL'] ?? '',
    crash,
  })
  const ledger = createLedger(database)
  const billing = createBilling({ ledger, report: () => undefined })
  const accounts = createAccounts(ledger, createAccountsRepository(database))
  await billing.start()
  const budgets = [creditsBudget(organizationId)]
  const rowOf = (generationId: string) => captureRowOf(generationId, 1_000n, { organizationId })

  await accounts.grantCredits({
    organizationId,
    amountNanocredits: 5_000n,
    transactionId: `grant-${name}`,
    createdAtMs: 1,
  })
  await billing.capture(await billing.hold({ budgets, amount: 2_000n }), rowOf(`gen-${name}`))
  await accounts.refund({
    generationId: `gen-${name}`,
    organizationId,
    amountNanocredits: 600n,
    sequence: 1,
    kind: 'refund',
    createdAtMs: 1,
  })
  // No operation breaks the insert on both databases.
  const broken = { ...rowOf(`gen-broken-${name}`), operation: null as unknown as string }
  await billing.capture(await billing.hold({ budgets, amount: 2_000n }), broken)
  await billing.stop()
  await database.close()
}

await main(process.argv[2] ?? '')
process.exit(0)
