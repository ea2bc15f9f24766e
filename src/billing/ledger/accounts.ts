import type { Principal } from '../../canonical/principal.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { dayOfTransaction } from '../../core/ids.ts'
import { modelStatsMax, refundsMax } from '../../core/limits/billing.ts'
import { amountMax, formatCredits } from '../../core/money.ts'
import type { AccountsRepository, UsageRecord, UsageTotals } from './accounts-repository.ts'
import { budgetsOf, creditsBudget, windowStartOf } from '../budgets/budget-ids.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import type { Learning } from '../metering/learning.ts'
import { answerOf, type Ledger } from './ledger-repository.ts'
import { insertGrantPostings, type Refund, refundGuard, refundTransactionId } from './capture-repository.ts'
import { correctCredits, creditGrant, ensureBudget, overflowGuard } from '../budgets/budget-repository.ts'
import { organizationAccount } from './ledger-statement.ts'
import { refundStatements } from './refunds.ts'

/** How often a balance is read and corrected until it did not change meanwhile; only a grant or a returned lease makes a try fail. */
const reconcileAttemptsMax = 10

export type { UsageRecord, UsageTotals } from './accounts-repository.ts'

/** An organization's credits in nanocredits; `balance` is negative after an overdraft. */
export interface CreditsBalance {
  totalCredits: bigint
  totalUsage: bigint
  balance: bigint
}

/** Questions of users about their accounts, and operators' changes to them. Not on the path of a call. */
export interface Accounts {
  /**
   * Adds credits. The transaction id makes it repeatable: the second time changes nothing and returns `isRepeated`.
   * Throws `invalid_request` unless the amount is positive and the sum of all grants stays in range.
   */
  grantCredits(grant: {
    organizationId: string
    amountNanocredits: bigint
    transactionId: string
    createdAtMs: number
  }): Promise<{ isRepeated: boolean }>
  /**
   * Gives credits of one captured generation back, as a new transaction that names the original. Several refunds add up
   * to at most the captured amount. Throws `conflict` beyond that, and for an unknown generation. A refund does not raise
   * what is left of a key's limit.
   */
  refund(refund: Refund): Promise<{ isRepeated: boolean }>
  /** What was granted and used, including what is captured and not yet folded. */
  readCredits(organizationId: string): Promise<CreditsBalance>
  /**
   * Corrects a prepaid account's balance to the ledger's, and returns it. Needed after an account became prepaid: calls
   * of a tracked account do not touch its credits, nor do those that ran during the change. Repeatable at any time, also
   * while calls run. Throws `conflict` when the account changed during every try.
   */
  reconcileCredits(organizationId: string): Promise<CreditsBalance>
  readKeyUsage(keyId: string): Promise<UsageTotals>
  /** What is left of a key's limit in the current window; may be negative. Null for a key without a limit. */
  readKeyRemaining(principal: Principal): Promise<bigint | null>
  /** The usage row of one generation, or null when it is unknown or belongs to another organization. */
  findUsage(generationId: string, organizationId: string): Promise<UsageRecord | null>
  /** Newest first. */
  latestUsages(organizationId: string, limit: number): Promise<UsageRecord[]>
  /** Restores what was learned before the start; from then on saves the figures that change. */
  restoreLearning(learning: Learning): Promise<void>
  saveLearning(learning: Learning): Promise<void>
}

export function createAccounts(ledger: Ledger, repository: AccountsRepository): Accounts {
  return new LedgerAccounts(ledger, repository)
}

class LedgerAccounts implements Accounts {
  readonly #ledger: Ledger
  readonly #repository: AccountsRepository

  constructor(ledger: Ledger, repository: AccountsRepository) {
    this.#ledger = ledger
    this.#repository = repository
  }

  async grantCredits(grant: {
    organizationId: string
    amountNanocredits: bigint
    transactionId: string
    createdAtMs: number
  }): Promise<{ isRepeated: boolean }> {
    requirePositive(grant.amountNanocredits)
    const budget = creditsBudget(grant.organizationId)
    const outcome = await this.#ledger.commit(commitPoints.grant, [
      ensureBudget(budget),
      // Comes first, so that a repeated grant is recognised as one even when the sum would not fit any more.
      insertGrantPostings(grant),
      creditGrant(budget.budgetId, grant.amountNanocredits),
    ])
    const answer = answerOf(outcome)
    if (answer.type === 'committed') return { isRepeated: false }
    if (answer.by === 'duplicate') return { isRepeated: true }
    throw answer.guard === overflowGuard ? tooMuch() : answer.error
  }

  async refund(refund: Refund): Promise<{ isRepeated: boolean }> {
    requirePositive(refund.amountNanocredits)
    assert(refund.sequence >= 1 && refund.sequence <= refundsMax, 'a refund is numbered from 1 to refundsMax')
    const isPrepaid = (await this.#repository.loadAccountMode(refund.organizationId)) === 'prepaid'
    const budgetId = creditsBudget(refund.organizationId).budgetId
    const statements = refundStatements(refund, isPrepaid ? [budgetId] : [])
    const answer = answerOf(await this.#ledger.commit(commitPoints.refund, statements))
    if (answer.type === 'committed') return { isRepeated: false }
    if (answer.by === 'duplicate') return { isRepeated: true }
    if (answer.guard === refundGuard) {
      const day = dayOfTransaction(refund.generationId)
      if (await this.#repository.hasRefund(refundTransactionId(refund), day)) return { isRepeated: true }
      throw new GatewayError('conflict', 'The refund would exceed what is left of the original charge.')
    }
    throw answer.error
  }

  async readCredits(organizationId: string): Promise<CreditsBalance> {
    const { budgetId } = creditsBudget(organizationId)
    if ((await this.#repository.loadAccountMode(organizationId)) === 'prepaid') {
      const credits = (await this.#repository.loadCredits(budgetId)) ?? { totalCredits: 0n, totalUsage: 0n }
      return { ...credits, balance: credits.totalCredits - credits.totalUsage }
    }
    const totalCredits = (await this.#repository.loadCredits(budgetId))?.totalCredits ?? 0n
    const totalUsage = await this.#repository.sumUsage(organizationId)
    return { totalCredits, totalUsage, balance: totalCredits - totalUsage }
  }

  async reconcileCredits(organizationId: string): Promise<CreditsBalance> {
    const budget = creditsBudget(organizationId)
    await this.#ledger.ensureBudgets([budget])
    for (let attempt = 0; attempt < reconcileAttemptsMax; attempt++) {
      const found = await this.#repository.loadCreditsDrift(
        budget.budgetId,
        organizationAccount(organizationId),
      )
      assert(found, 'the budget was created above')
      if (found.unspent === 0n && found.limit === found.grants) return this.readCredits(organizationId)
      answerOf(await this.#ledger.commit(commitPoints.ensure, [correctCredits(budget.budgetId, found)]))
    }
    throw new GatewayError('conflict', 'The account is too busy to be reconciled; try again in a moment.')
  }

  async readKeyUsage(keyId: string): Promise<UsageTotals> {
    const nowMs = await this.#repository.loadNow()
    return this.#repository.sumKeyUsage(keyId, {
      day: windowStartOf('daily', nowMs),
      week: windowStartOf('weekly', nowMs),
      month: windowStartOf('monthly', nowMs),
    })
  }

  async readKeyRemaining(principal: Principal): Promise<bigint | null> {
    const budgets = budgetsOf(principal, await this.#repository.loadNow())
    const budget = budgets.find(({ kind }) => kind === 'key_limit')
    if (budget?.limitNanocredits == null) return null
    // A limit that no call has used yet begins with what the key had spent before the limit was set.
    if ((await this.#repository.loadSpent(budget.budgetId)) === null)
      await this.#ledger.ensureBudgets([budget])
    return budget.limitNanocredits - ((await this.#repository.loadSpent(budget.budgetId)) ?? 0n)
  }

  async findUsage(generationId: string, organizationId: string): Promise<UsageRecord | null> {
    const found = await this.#repository.findUsage(generationId)
    return found?.organizationId === organizationId ? found : null
  }

  latestUsages(organizationId: string, limit: number): Promise<UsageRecord[]> {
    return this.#repository.listUsages(organizationId, limit)
  }

  async restoreLearning(learning: Learning): Promise<void> {
    learning.restore(await this.#repository.loadModelStats(modelStatsMax))
  }

  async saveLearning(learning: Learning): Promise<void> {
    await this.#repository.saveModelStats(commitPoints.saveStats, learning.takeChanged())
  }
}

function tooMuch(): GatewayError {
  const message = `An account holds at most ${formatCredits(amountMax)} credits.`
  return new GatewayError('invalid_request', message, { param: 'amount' })
}

function requirePositive(amount: bigint): void {
  if (amount > 0n) return
  throw new GatewayError('invalid_request', 'The amount must be more than 0 credits.', { param: 'amount' })
}
