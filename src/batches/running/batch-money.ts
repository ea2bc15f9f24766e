import {
  acceptBatchStatements,
  closeBatchStatements,
  enlargeBatchStatements,
  parentLimitsOf,
} from '../../billing/budgets/budget-repository.ts'
import type {
  Billing,
  BudgetRef,
  CaptureRow,
  Hold,
  LedgerStatement,
  PreparedCaptures,
} from '../../billing/billing.ts'
import { batchBudget, budgetsOf, creditsBudget } from '../../billing/budgets/budget-ids.ts'
import type { Ledger } from '../../billing/ledger/ledger-repository.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { recallWaitMs } from '../../core/limits/billing.ts'
import { amountMax } from '../../core/money.ts'
import type { Batch } from '../../canonical/batch.ts'
import type { Committer } from '../committer.ts'
import type { Pause } from './pause.ts'

/** By how many average items' worst cases a short batch's budget grows: few, so that other calls' money is not tied up. */
const enlargeItems = 8
/** How often the rest of the parents is read again while other calls use it too, for an item that cost more than its hold. */
const restReadsMax = 4

/** What a batch needs of billing from acceptance to its end. */
export interface BatchMoney {
  /** The budgets that limit this principal now; none means that costs are recorded but nothing is limited. */
  parentsOf(principal: Principal): readonly BudgetRef[]
  /** Statements that move the estimate out of the parents; their guard is billing's `payment_required`. */
  accept(batch: MoneyBatch, parents: readonly BudgetRef[], estimate: bigint): readonly LedgerStatement[]
  /** The budgets that an item of the batch holds from; empty when nothing limits it. */
  budgetsOf(batch: MoneyBatch): readonly BudgetRef[]
  /** Asks all owners to give back what they do not hold of these budgets. */
  recall(budgets: readonly BudgetRef[]): Promise<void>
  /** Of these budgets (at least one), the one with the least available, and that amount; below zero when more was spent than allowed. */
  scarcest(budgets: readonly BudgetRef[]): Promise<{ budget: BudgetRef; available: bigint }>
  /** Asked after a recall: whether enough will return to these budgets by itself, from leases of processes that do not answer. */
  willReturn(budgets: readonly BudgetRef[], amount: bigint): Promise<boolean>
  /**
   * Moves enough for some more items, and at least `missing` for the item that is short, out of the parents, by the
   * owner's present limits. False when the parents have too little or the caller's own limit is reached. It never moves a
   * part of `missing`: the item could not run with it, and other calls could not use it.
   */
  enlarge(batch: Batch, owner: Principal, missing: bigint): Promise<boolean>
  /**
   * Moves up to this amount out of the parents, for an item that was answered and cost more than its hold. Here a part
   * helps, because the uncovered rest is the operator's loss. Resolves with whether all of it was moved; rejects when
   * storage is unavailable.
   */
  enlargeForCharge(batch: Batch, owner: Principal, missing: bigint): Promise<boolean>
  /**
   * Moves up to this amount out of the parents for items that a provider's job is to have. Resolves with what the batch then
   * has, below zero when more was spent than allowed; null when nothing limits it.
   */
  secure(batch: Batch, owner: Principal, wanted: bigint): Promise<bigint | null>
  /** The limit that keeps a batch from being enlarged; null when there is enough by now. */
  shortageOf(batch: Batch, owner: Principal, missing: bigint): Promise<Shortage | null>
  /** Before `close`: closes the leases on the batch's budget; false when calls still hold from it. */
  settle(batch: MoneyBatch): Promise<boolean>
  /** Statements that return what is left, once, in the unit that ends the batch. */
  close(batch: MoneyBatch): readonly LedgerStatement[]
  prepareCaptures(captures: readonly { hold: Hold; row: CaptureRow }[]): PreparedCaptures
  release(hold: Hold): void
  /** The organization's balance; null when it keeps none. */
  balance(organizationId: OrganizationId): Promise<bigint | null>
}

/** The organization's credits, the key's limit, or the `max_cost` of the batch's caller. */
export type Shortage = 'credits' | 'key_limit' | 'max_cost'

/** The members of a batch that identify its budget. */
export type MoneyBatch = Pick<Batch, 'id' | 'organizationId' | 'budgetParents'>

/** What `createBatchMoney` needs. */
export interface MoneyDependencies {
  billing: Pick<Billing, 'prepareCaptures' | 'release' | 'settleBudget' | 'databaseNowMs'>
  ledger: Pick<Ledger, 'recall' | 'loadBudgets' | 'loadReturning' | 'ensureBudgets'>
  committer: Committer
  readBalance: (organizationId: OrganizationId) => Promise<bigint | null>
  pause: Pause
}

export function createBatchMoney(dependencies: MoneyDependencies): BatchMoney {
  const { billing, ledger, committer, readBalance, pause } = dependencies
  const enlarging = new Map<string, { least: bigint; isEnlarged: Promise<boolean> }>()

  async function enlargeBy(batch: Batch, owner: Principal, amount: bigint): Promise<boolean> {
    const statements = enlargeBatchStatements(refOf(batch), parentLimitsOf(batch.budgetParents, owner), {
      amountNanocredits: amount,
      limitMax: batch.maxCostNanocredits,
    })
    const { type } = await committer.commit('batch.enlarge', statements)
    return type === 'committed'
  }

  async function enlargeOnce(batch: Batch, owner: Principal, least: bigint): Promise<boolean> {
    const perItems = worstItemOf(batch) * BigInt(enlargeItems)
    const isMore = perItems > least && (await enlargeBy(batch, owner, perItems))
    return isMore || enlargeBy(batch, owner, least)
  }

  const enlargeForCharge = createChargeEnlarger({ ledger, pause, enlargeBy })

  return {
    parentsOf: (principal) => budgetsOf(principal, billing.databaseNowMs()),
    accept: (batch, parents, estimateNanocredits) =>
      acceptBatchStatements({ batch: refOf(batch), parents, estimateNanocredits }),
    budgetsOf: (batch) => (batch.budgetParents.length === 0 ? [] : [refOf(batch)]),
    recall: (budgets) => ledger.recall(idsOf(budgets)),
    scarcest: (budgets) => scarcestOf(ledger, budgets),
    willReturn: (budgets, amount) => willReturn(ledger, budgets, amount),
    enlarge(batch, owner, missing) {
      if (batch.budgetParents.length === 0) return Promise.resolve(false)
      const least = missing > worstItemOf(batch) ? missing : worstItemOf(batch)
      const running = enlarging.get(batch.id)
      // All items that are short at the same time share one enlargement, unless one needs more than it brings.
      if (running && running.least >= least) return running.isEnlarged
      const isEnlarged = enlargeOnce(batch, owner, least).finally(() => {
        if (enlarging.get(batch.id)?.isEnlarged === isEnlarged) enlarging.delete(batch.id)
      })
      enlarging.set(batch.id, { least, isEnlarged })
      return isEnlarged
    },
    enlargeForCharge,
    async secure(batch, owner, wanted) {
      if (batch.budgetParents.length === 0) return null
      const budgets = [refOf(batch)]
      const { available } = await scarcestOf(ledger, budgets)
      if (available >= wanted) return available
      await enlargeForCharge(batch, owner, wanted - available)
      return (await scarcestOf(ledger, budgets)).available
    },
    async shortageOf(batch, owner, missing) {
      const more = missing > 0n ? missing : worstItemOf(batch)
      const { ofCaller, ofParents } = await leftOf(ledger, batch, owner)
      if (ofCaller !== null && more > ofCaller) return 'max_cost'
      const [least] = ofParents.toSorted((one, other) => (one.available < other.available ? -1 : 1))
      if (least !== undefined && least.available >= more) return null
      return least === undefined || least.isCredits ? 'credits' : 'key_limit'
    },
    settle: (batch) =>
      batch.budgetParents.length === 0 ? Promise.resolve(true) : billing.settleBudget(refOf(batch).budgetId),
    close: (batch) => closeBatchStatements(refOf(batch)),
    prepareCaptures: (captures) => billing.prepareCaptures(captures),
    release: (hold) => billing.release(hold),
    balance: readBalance,
  }
}

/** Enlarges batches for items that were answered already, by as much as the parents have. */
function createChargeEnlarger({
  ledger,
  pause,
  enlargeBy,
}: Pick<MoneyDependencies, 'ledger' | 'pause'> & {
  enlargeBy: (batch: Batch, owner: Principal, amount: bigint) => Promise<boolean>
}): BatchMoney['enlargeForCharge'] {
  const recalling = new Map<string, Promise<void>>()

  /** Recalls the parents, so that other processes give back what they do not hold. All short items of a batch share one recall. */
  function recallParents({ id, budgetParents }: Batch): Promise<void> {
    const running = recalling.get(id)
    if (running) return running
    const recalled = ledger
      .recall(budgetParents)
      .then(() => pause(recallWaitMs))
      .finally(() => recalling.delete(id))
    recalling.set(id, recalled)
    return recalled
  }

  /** Moves what the parents have, up to `missing`. When other processes take some of it meanwhile, it tries again with less. */
  async function enlargeByRest(batch: Batch, owner: Principal, missing: bigint): Promise<boolean> {
    for (let tries = 0; tries < restReadsMax; tries += 1) {
      const available = await leastOf(ledger, batch, owner)
      const amount = available < missing ? available : missing
      if (amount <= 0n) return false
      if (await enlargeBy(batch, owner, amount)) return amount === missing
    }
    return false
  }

  return async (batch, owner, missing) => {
    if (batch.budgetParents.length === 0) return false
    if (await enlargeBy(batch, owner, missing)) return true
    await recallParents(batch)
    return enlargeByRest(batch, owner, missing)
  }
}

/** How much a batch can still be enlarged: up to its caller's own limit (null without one), and out of each parent that limits it. */
async function leftOf(ledger: Pick<Ledger, 'loadBudgets'>, batch: Batch, owner: Principal) {
  const { budgetId } = refOf(batch)
  const { budgets } = await ledger.loadBudgets([budgetId, ...batch.budgetParents])
  const limit = budgets.get(budgetId)?.limit ?? 0n
  const creditsId = creditsBudget(batch.organizationId).budgetId
  const ofParents = parentLimitsOf(batch.budgetParents, owner).flatMap((parent) => {
    const state = budgets.get(parent.budgetId)
    if (!state || parent.limit === 'none') return []
    const available = (parent.limit === 'as recorded' ? state.limit : parent.limit) - state.granted
    return [{ isCredits: parent.budgetId === creditsId, available }]
  })
  return { ofCaller: batch.maxCostNanocredits === null ? null : batch.maxCostNanocredits - limit, ofParents }
}

async function leastOf(ledger: Pick<Ledger, 'loadBudgets'>, batch: Batch, owner: Principal): Promise<bigint> {
  const { ofCaller, ofParents } = await leftOf(ledger, batch, owner)
  const amounts = ofParents.map(({ available }) => available)
  return [...amounts, ...(ofCaller === null ? [] : [ofCaller])].reduce(
    (least, amount) => (amount < least ? amount : least),
    amountMax,
  )
}

async function scarcestOf(
  ledger: Pick<Ledger, 'loadBudgets' | 'ensureBudgets'>,
  budgets: readonly BudgetRef[],
): Promise<{ budget: BudgetRef; available: bigint }> {
  // Creates budgets that no call has used yet and applies changed limits, as the first use would.
  await ledger.ensureBudgets(budgets)
  const states = await ledger.loadBudgets(idsOf(budgets))
  const amounts = budgets.map((budget) => {
    const state = states.budgets.get(budget.budgetId)
    return { budget, available: state ? state.limit - state.granted : 0n }
  })
  return amounts.reduce((left, right) => (left.available <= right.available ? left : right))
}

/** Whether each of these budgets has enough once everything has returned that will. */
async function willReturn(
  ledger: Pick<Ledger, 'loadBudgets' | 'loadReturning'>,
  budgets: readonly BudgetRef[],
  amount: bigint,
): Promise<boolean> {
  const returning = await ledger.loadReturning(idsOf(budgets))
  if (returning.size === 0) return false
  const states = await ledger.loadBudgets(idsOf(budgets))
  return budgets.every(({ budgetId }) => {
    const state = states.budgets.get(budgetId)
    const available = state ? state.limit - state.granted : 0n
    return available + (returning.get(budgetId)?.amount ?? 0n) >= amount
  })
}

function refOf(batch: MoneyBatch): BudgetRef {
  return batchBudget(batch.id, batch.organizationId, batch.budgetParents)
}

/** The batch's worst case divided by its items. */
function worstItemOf(batch: Batch): bigint {
  return batch.worstCaseNanocredits / BigInt(batch.totalItems) + 1n
}

function idsOf(budgets: readonly BudgetRef[]): string[] {
  return budgets.map((budget) => budget.budgetId)
}
