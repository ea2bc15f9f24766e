import { GatewayError } from '../../core/errors.ts'
import { recallWaitMs } from '../../core/limits/billing.ts'
import { formatCredits, toCredits } from '../../core/money.ts'
import type { BudgetRef } from './budget-ids.ts'
import { createHold } from './hold.ts'
import type { SliceHold } from './hold.ts'
import type { BudgetState, Ledger, Returning } from '../ledger/ledger-repository.ts'
import type { Leases, TakePlan } from './leases.ts'
import { Slice } from './slices.ts'
import type { Timing } from '../timing.ts'

/** How soon a shortage looks again. */
const shortageRetryMs = 25

/** After a recall, a slice takes exactly what a hold needs for this long, so that returned money is not hoarded again. */
const recallExactMs = 1_000
/** How often a take is tried against other processes before the caller is asked to try again. */
const takeRoundsMax = 50
/** Calls of one account that may wait for a slice. */
const holdQueueMax = 10_000

/** A call's request for a hold. */
export interface HoldRequest {
  /** Sorted by id, as `budgetsOf` gives them; empty when nothing limits the caller. */
  readonly budgets: readonly BudgetRef[]
  readonly amount: bigint
  /** The call accepts any hold from this amount up, when `amount` is not available; `amount` by default. */
  readonly smallestAmount?: bigint
  /** What a 402 says about the available amount; a whole sentence or more. */
  readonly describe?: (availableNanocredits: bigint) => string
}

interface Waiting {
  readonly request: HoldRequest
  readonly resolve: (hold: SliceHold) => void
  readonly reject: (error: Error) => void
  /** Monotonic time until which a shortage may be settled; null while there was none. */
  refuseAtMs: number | null
}

/** The calls that wait for the same budgets, in order of arrival. */
interface Queue {
  readonly budgets: readonly BudgetRef[]
  waiting: Waiting[]
  recalledMs: number | null
}

/** The outcome of one round of serving. `situation` is null when memory sufficed. */
interface Round {
  readonly isProgress: boolean
  readonly situation: Situation | null
}

/** The budgets of a queue as one round read them. */
interface Situation {
  readonly plans: readonly {
    budget: BudgetRef
    state: BudgetState
    slice: Slice | undefined
    isFresh: boolean
  }[]
  /** The most that one call can get now. For each budget: what is left of it plus what its slice has free; of these, the least. */
  readonly capacity: bigint
  /** The same for each budget, in the order of the plans. */
  readonly capacities: readonly bigint[]
  readonly scarcest: BudgetRef
  readonly isRecalled: boolean
}

/**
 * Grants holds. When the slices in memory suffice, that is synchronous; else it takes more from the budgets, once for
 * all calls that wait for the same budgets. A slice can grant but not refuse: before a refusal, other processes are
 * asked to give back what they do not hold, and what they return within `recallWaitMs` is taken.
 */
export class Granter {
  readonly #ledger: Ledger
  readonly #leases: Leases
  readonly #timing: Timing
  readonly #reap: () => Promise<void>
  readonly #queues = new Map<string, Queue>()
  #refused = 0

  /** `reap` ends the leases of dead processes. */
  constructor(dependencies: { ledger: Ledger; leases: Leases; timing: Timing; reap: () => Promise<void> }) {
    this.#ledger = dependencies.ledger
    this.#leases = dependencies.leases
    this.#timing = dependencies.timing
    this.#reap = dependencies.reap
  }

  /** Calls refused with 402 since the start. */
  get refused(): number {
    return this.#refused
  }

  /** Calls that wait for a slice. */
  get waiting(): number {
    let count = 0
    for (const queue of this.#queues.values()) count += queue.waiting.length
    return count
  }

  /** Grants at once when memory says yes, else later; rejects with `payment_required`, `balance_set_aside` or `storage_unavailable`. */
  hold(request: HoldRequest): SliceHold | Promise<SliceHold> {
    return this.#grantNow(request, request.amount) ?? this.#enqueue(request)
  }

  /** `isChecked`: the budgets were just read and are not overdrawn. An empty slice alone does not tell that. */
  #grantNow(request: HoldRequest, amount: bigint, isChecked = false): SliceHold | null {
    const { budgets } = request
    if (budgets.length === 0) return createHold(amount, [])
    const nowMs = this.#timing.clock.monotonicMs()
    const slices: Slice[] = []
    for (const budget of budgets) {
      const slice = this.#leases.slices.get(budget.budgetId)
      if (slice === undefined || !slice.canGrant(amount, nowMs)) return null
      if (slice.budget.limitNanocredits !== budget.limitNanocredits) return null
      if (amount === 0n && slice.free <= 0n && !isChecked) return null
      slices.push(slice)
    }
    for (const slice of slices) slice.grant(amount, nowMs)
    return createHold(amount, slices)
  }

  #enqueue(request: HoldRequest): Promise<SliceHold> {
    const key = request.budgets
      .map((budget) => `${budget.budgetId}=${budget.limitNanocredits ?? ''}`)
      .join(' ')
    const found = this.#queues.get(key)
    const queue: Queue = found ?? { budgets: request.budgets, waiting: [], recalledMs: null }
    if (queue.waiting.length >= holdQueueMax) return Promise.reject(busy())
    const { promise, resolve, reject } = Promise.withResolvers<SliceHold>()
    queue.waiting.push({ request, resolve, reject, refuseAtMs: null })
    if (!found) {
      this.#queues.set(key, queue)
      // One take serves all calls that ask in this turn.
      queueMicrotask(() => void this.#serve(key, queue))
    }
    return promise
  }

  async #serve(key: string, queue: Queue): Promise<void> {
    const ids = queue.budgets.map((budget) => budget.budgetId)
    let contended = 0
    try {
      while (queue.waiting.length > 0) {
        const round = await this.#leases.locks.run(ids, () => this.#round(queue, contended))
        if (round.situation) await this.#settleShortage(queue, round.situation)
        contended = round.isProgress || round.situation ? 0 : contended + 1
        if (contended >= takeRoundsMax) throw busy()
        if (!round.isProgress && round.situation && queue.waiting.length > 0)
          await this.#timing.sleep(shortageRetryMs)
      }
    } catch (error) {
      const failure = error instanceof Error ? error : busy()
      for (const waiting of queue.waiting.splice(0)) waiting.reject(failure)
    } finally {
      this.#queues.delete(key)
    }
  }

  /** One round with the budgets locked: serve from memory; if that serves no call, read the budgets, take as much as they have, and serve. */
  async #round(queue: Queue, contended: number): Promise<Round> {
    if (this.#grantWaiting(queue, false)) return { isProgress: true, situation: null }
    const situation = await this.#look(queue.budgets)
    const need = affordable(queue.waiting, situation.capacity)
    if (need === null) return { isProgress: false, situation }
    // A slice of at least one nanocredit lets later calls that cost nothing be held from memory.
    const wanted = need.amount === 0n && situation.capacity > 0n ? 1n : need.amount
    const plans: TakePlan[] = []
    for (const { budget, state, slice, isFresh } of situation.plans) {
      const free = slice?.free ?? 0n
      const missing = wanted > free ? wanted - free : 0n
      const left = state.limit - state.granted - missing
      const mayGrow = missing > 0n && need.isAll && contended === 0 && !situation.isRecalled
      const amount = missing + (mayGrow ? Slice.growth(slice, left, need.amount / BigInt(need.count)) : 0n)
      if (amount > 0n || !isFresh) plans.push({ budget, state, slice, amount, holding: need.amount })
    }
    if (plans.length > 0) {
      const taken = await this.#leases.take(plans)
      if (taken.type === 'unknown') throw unavailable(taken.error)
      if (taken.type === 'refused') return { isProgress: false, situation: null }
    }
    const isProgress = this.#grantWaiting(queue, true)
    return { isProgress, situation: isProgress ? situation : null }
  }

  /**
   * Serves waiting calls in their order, as far as memory has money. `isChecked`: the budgets were just read, so a call
   * that accepts less than it asked for gets less.
   */
  #grantWaiting(queue: Queue, isChecked: boolean): boolean {
    const before = queue.waiting.length
    queue.waiting = queue.waiting.filter((waiting) => {
      const { request } = waiting
      const hold =
        this.#grantNow(request, request.amount, isChecked) ?? (isChecked ? this.#grantLess(request) : null)
      if (hold !== null) waiting.resolve(hold)
      return hold === null
    })
    return queue.waiting.length < before
  }

  #grantLess(request: HoldRequest): SliceHold | null {
    const { smallestAmount, budgets, amount } = request
    if (smallestAmount === undefined || smallestAmount >= amount) return null
    let free = amount
    for (const budget of budgets) {
      const slice = this.#leases.openSlice(budget.budgetId)
      if (slice === undefined) return null
      if (slice.free < free) free = slice.free
    }
    return free >= smallestAmount ? this.#grantNow(request, free) : null
  }

  /**
   * Refuses the waiting calls for which there is too little, once the other processes had `recallWaitMs` to give back. When
   * no other process has a lease, it refuses at once. The answer is `payment_required` only when no money will return by
   * itself; else it is `balance_set_aside`.
   */
  async #settleShortage(queue: Queue, situation: Situation): Promise<void> {
    const { capacity } = situation
    const isShort = (waiting: Waiting): boolean => capacity < 0n || smallestOf(waiting.request) > capacity
    const fresh = queue.waiting.filter((waiting) => waiting.refuseAtMs === null && isShort(waiting))
    if (fresh.length > 0) {
      const waitMs = (await this.#askOthers(queue)) ? recallWaitMs : 0
      for (const waiting of fresh) waiting.refuseAtMs = this.#timing.clock.monotonicMs() + waitMs
    }
    const nowMs = this.#timing.clock.monotonicMs()
    const due = queue.waiting.filter(
      (waiting) => waiting.refuseAtMs !== null && waiting.refuseAtMs <= nowMs && isShort(waiting),
    )
    if (due.length === 0) return
    const returning = await this.#ledger.loadReturning(queue.budgets.map(({ budgetId }) => budgetId))
    const refused = new Set(due)
    queue.waiting = queue.waiting.filter((waiting) => !refused.has(waiting))
    for (const { request, reject } of due) reject(this.#refuse(request, situation, returning))
  }

  #refuse(
    request: HoldRequest,
    { plans, capacity, capacities, scarcest }: Situation,
    returning: ReadonlyMap<string, Returning>,
  ): GatewayError {
    const amounts = plans.map(
      ({ budget }, index) => (capacities[index] ?? 0n) + (returning.get(budget.budgetId)?.amount ?? 0n),
    )
    const later = amounts.reduce((least, value) => (value < least ? value : least))
    if (returning.size > 0 && later >= smallestOf(request)) {
      const withinMs = Math.max(...[...returning.values()].map((each) => each.withinMs))
      return stillSetAside(request, scarcest, { available: capacity, withinMs })
    }
    // With a smallest amount the call was made already and asks for more: it is not refused as a whole, so it does not count.
    if (request.smallestAmount === undefined) this.#refused += 1
    return paymentRequired(request, scarcest, capacity)
  }

  /** Recalls these budgets when another process has a lease on them; false when no other process has one. */
  async #askOthers(queue: Queue): Promise<boolean> {
    const ids = queue.budgets.map((budget) => budget.budgetId)
    if (!(await this.#ledger.hasOtherLeases(ids))) return false
    const nowMs = this.#timing.clock.monotonicMs()
    // Many calls without money cause one recall per shortage, not one each.
    if (queue.recalledMs !== null && nowMs - queue.recalledMs < recallWaitMs / 2) return true
    await this.#reap()
    if (!(await this.#ledger.hasOtherLeases(ids))) return true
    queue.recalledMs = nowMs
    await this.#ledger.recall(ids)
    return true
  }

  /** The budgets as they are, created on first use, and the slices that may be added to. */
  async #look(budgets: readonly BudgetRef[]): Promise<Situation> {
    const ids = budgets.map((budget) => budget.budgetId)
    let found = await this.#ledger.loadBudgets(ids)
    const isKnown = (budget: BudgetRef): boolean => {
      const state = found.budgets.get(budget.budgetId)
      return (
        state !== undefined && (budget.limitNanocredits === null || budget.limitNanocredits === state.limit)
      )
    }
    if (!budgets.every(isKnown)) {
      await this.#ledger.ensureBudgets(budgets)
      found = await this.#ledger.loadBudgets(ids)
    }
    if (found.nowMs !== null) this.#leases.databaseClock.observe(found.nowMs)
    const nowMs = found.nowMs ?? 0
    const monotonicMs = this.#timing.clock.monotonicMs()
    const plans = budgets.map((budget) => {
      const state = found.budgets.get(budget.budgetId)
      if (state === undefined || state.isClosed) throw budgetEnded(budget)
      const slice = this.#leases.openSlice(budget.budgetId)
      if (slice) slice.budget = budget
      return { budget, state, slice, isFresh: slice?.canGrant(0n, monotonicMs) ?? false }
    })
    const capacities = plans.map(({ state, slice }) => state.limit - state.granted + (slice?.free ?? 0n))
    const capacity = capacities.reduce((least, value) => (value < least ? value : least))
    const scarcest = budgets[capacities.indexOf(capacity)]
    if (scarcest === undefined) throw busy()
    const isRecalled = plans.some(({ state }) => nowMs - state.recallAtMs < recallExactMs)
    return { plans, capacity, capacities, scarcest, isRecalled }
  }
}

function smallestOf(request: HoldRequest): bigint {
  return request.smallestAmount ?? request.amount
}

/** The sum of what the waiting calls ask for, in their order, up to `capacity`; null when not even one of them fits. */
function affordable(
  all: readonly Waiting[],
  capacity: bigint,
): { amount: bigint; count: number; isAll: boolean } | null {
  if (capacity < 0n) return null
  let amount = 0n
  let count = 0
  for (const { request } of all) {
    const left = capacity - amount
    if (smallestOf(request) > left) continue
    amount += request.amount < left ? request.amount : left
    count += 1
  }
  return count === 0 ? null : { amount, count, isAll: count === all.length }
}

/** The contract's name for the budget that refused. */
export const limitSources: Readonly<Record<BudgetRef['kind'], string>> = {
  credits: 'openrouter_credits',
  key_limit: 'openrouter_key_limit',
  batch: 'openrouter_in_flight_budget',
}
/** The name of that budget in the message of a refusal. */
export const limitNames: Readonly<Record<BudgetRef['kind'], string>> = {
  credits: "the organization's credits",
  key_limit: "the key's limit",
  batch: "the batch's budget",
}

/** What lets a call through that one of these refused. */
export const remedies: Readonly<Record<BudgetRef['kind'], string>> = {
  credits: 'Add credits',
  key_limit: "Raise the key's limit",
  batch: 'Add credits, or state a larger headrace.max_cost,',
}

function paymentRequired(request: HoldRequest, budget: BudgetRef, available: bigint): GatewayError {
  const needed = smallestOf(request)
  const detail = request.describe?.(available) ?? `${formatCredits(available)} credits are available.`
  const message = `This call may cost up to ${formatCredits(needed)} credits, more than is left of ${limitNames[budget.kind]}. ${detail} ${remedies[budget.kind]} to make it as it is.`
  return new GatewayError('payment_required', message, {
    metadata: shortageFacts(budget, needed, available),
  })
}

/** The error when there is enough money, but a process that does not answer has some of it set aside. */
function stillSetAside(
  request: HoldRequest,
  budget: BudgetRef,
  { available, withinMs }: { available: bigint; withinMs: number },
): GatewayError {
  const retryAfterSeconds = Math.max(1, Math.ceil(withinMs / 1_000))
  const message = `A part of ${limitNames[budget.kind]} is still set aside by a gateway process that does not answer; it is free again within ${retryAfterSeconds} s, and then there is enough for this call.`
  return new GatewayError('balance_set_aside', message, {
    retryAfterSeconds,
    metadata: shortageFacts(budget, smallestOf(request), available),
  })
}

function shortageFacts(budget: BudgetRef, needed: bigint, available: bigint): Record<string, unknown> {
  return {
    limit_source: limitSources[budget.kind],
    needed: toCredits(needed),
    available: toCredits(available),
    needed_nanocredits: needed.toString(),
    available_nanocredits: available.toString(),
  }
}

function budgetEnded(budget: BudgetRef): GatewayError {
  const ended = budget.kind === 'batch' ? 'The batch has ended' : 'The budget is closed'
  return new GatewayError('payment_required', `${ended}; nothing more can be spent in it.`, {
    metadata: { limit_source: limitSources[budget.kind], available_nanocredits: '0' },
  })
}

function unavailable(cause: Error): GatewayError {
  if (cause instanceof GatewayError) return cause
  const message = 'The balance cannot be checked right now; try again shortly.'
  return new GatewayError('storage_unavailable', message, { cause, retryAfterSeconds: 1 })
}

function busy(): GatewayError {
  return new GatewayError('storage_unavailable', 'Too many calls wait for the balance; try again shortly.', {
    retryAfterSeconds: 1,
  })
}
