import { createBilling } from '../../src/billing/billing.ts'
import { creditsBudget } from '../../src/billing/budgets/budget-ids.ts'
import { createLedger } from '../../src/billing/ledger/ledger-repository.ts'
import { openDatabase } from '../../src/storage/open-database.ts'
import { captureRowOf } from '../simulation/billing-fixtures.ts'

/**
 * One of several gateway processes that share a balance: asks for holds all at once, captures half of what it got and
 * prints how many that were. Stays, holding the rest, until its input ends.
 */
async function main(url: string, name: string, asked: number): Promise<void> {
  const database = await openDatabase({ url })
  const billing = createBilling({ ledger: createLedger(database) })
  await billing.start()
  const budgets = [creditsBudget('org_a')]
  // A slice from before, so that the balance is spread over all processes when the rush begins.
  billing.release(await billing.hold({ budgets, amount: 1n }))
  process.stdout.write('ready\n')
  const input = process.stdin[Symbol.asyncIterator]()
  await input.next()
  const answers = await Promise.allSettled(
    Array.from({ length: asked }, async () => billing.hold({ budgets, amount: 10n })),
  )
  const holds = answers.filter((answer) => answer.status === 'fulfilled').map((answer) => answer.value)
  const captured = holds.slice(0, Math.floor(holds.length / 2))
  await Promise.all(
    captured.map((hold, index) => billing.capture(hold, captureRowOf(`gen-${name}-${index}`, 10n))),
  )
  process.stdout.write(`${JSON.stringify({ granted: holds.length, captured: captured.length })}\n`)
  while (!(await input.next()).done);
  process.exit(0)
}

const [url = '', name = '', asked = '0'] = process.argv.slice(2)
await main(url, name, Number(asked))
