import { newId } from '../../core/ids.ts'
import { cliListMax } from '../../core/limits/cli.ts'
import { dollars, timestamp } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import type { CommandContext } from '../context.ts'
import { usageFailure } from '../failure.ts'
import { amountOf } from './key-commands.ts'
import { findOrganization, withStorage } from '../local-storage.ts'
import { createPaint } from '../paint.ts'
import { renderTable } from '../table.ts'

/** `headrace credits` and `headrace credits add <amount>`: works on the database directly. */
export async function runCredits(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('credits', args, { org: { type: 'string' } }, 2)
  const [action, amount] = parsed.words
  if (action !== undefined && action !== 'add')
    throw usageFailure(`There is no "credits ${action}".`, 'credits')
  if (action === 'add' && amount === undefined)
    throw usageFailure('How many credits? Such as "credits add 10".', 'credits')
  await withStorage(context, async (storage) => {
    const { accounts } = storage
    const { organizationId, accountMode } = await findOrganization(storage, parsed.text('org'))
    if (amount !== undefined) {
      const createdAtMs = Date.now()
      const amountNanocredits = amountOf(amount, 'credits')
      if (amountNanocredits === 0n) throw usageFailure('Add more than 0 credits.', 'credits')
      const transactionId = newId('grant', createdAtMs)
      await accounts.grantCredits({ organizationId, amountNanocredits, transactionId, createdAtMs })
      context.write(`${dollars(amountNanocredits)} added (${transactionId})\n`)
    }
    const { totalCredits, totalUsage, balance } = await accounts.readCredits(organizationId)
    const limits =
      accountMode === 'prepaid' ? `balance ${dollars(balance)}` : 'tracked: nothing limits its balance'
    context.write(
      `${organizationId}  ${limits}  added ${dollars(totalCredits)}  used ${dollars(totalUsage)}\n`,
    )
    if (action === 'add') return
    const usages = await accounts.latestUsages(organizationId, cliListMax)
    if (usages.length === 0) return
    const rows = usages.map((usage) => [
      timestamp(usage.createdAtMs),
      dollars(usage.costNanocredits),
      usage.operation,
      usage.model,
      usage.provider,
      usage.status,
      usage.keyId,
      usage.generationId,
    ])
    const headers = ['time (UTC)', 'cost', 'operation', 'model', 'provider', 'status', 'key', 'generation']
    context.write(`\n${renderTable(headers, rows, createPaint(context.isTty, context.env))}`)
  })
  return 0
}
