import { createAccountsRepository } from '../../src/billing/ledger/accounts-repository.ts'
import { createAccounts } from '../../src/billing/ledger/accounts.ts'
import type { Accounts } from '../../src/billing/ledger/accounts.ts'
import type { BudgetRef } from '../../src/billing/budgets/budget-ids.ts'
import { createBilling } from '../../src/billing/billing.ts'
import type { Billing, BillingEvent, Hold, WhenRefused } from '../../src/billing/billing.ts'
import type { SliceHold } from '../../src/billing/budgets/hold.ts'
import { createInvariantsRepository } from '../../src/billing/ledger/invariants-repository.ts'
import { checkInvariants } from '../../src/billing/ledger/invariants.ts'
import type { InvariantFinding } from '../../src/billing/ledger/invariants.ts'
import { createLedger } from '../../src/billing/ledger/ledger-repository.ts'
import type { Timing } from '../../src/billing/timing.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { captureRowOf } from './billing-fixtures.ts'
import { SimulatedDatabase, SimulatedStore } from './billing-store.ts'
import type { Fate } from './billing-store.ts'

/** Repeatable random numbers: the same seed gives the same run. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

interface Timer {
  owner: SimulatedProcess
  dueMs: number
  everyMs: number | null
  run: () => void
}

/** A call that was granted a hold. */
export interface LiveCall {
  owner: SimulatedProcess
  budgets: readonly BudgetRef[]
  hold: SliceHold
}

/** A capture that was asked for. */
interface Attempted {
  cost: bigint
  owner: SimulatedProcess
  isAcknowledged: boolean
  /** The caller was shown only an error, and pays nothing. */
  isRefused: boolean
}

/** One simulated process: billing of its own, on its own connection, in simulated time. */
export interface SimulatedProcess {
  readonly name: string
  readonly database: SimulatedDatabase
  readonly billing: Billing
  readonly accounts: Accounts
  /** The events that the process would log. */
  readonly events: BillingEvent[]
  /** A further listener for events of the process. */
  onEvent: () => unknown
  state: 'running' | 'frozen' | 'dead'
  /** How likely its requests to storage fail, from 0 to 1. */
  faultRate: number
  /** Storage refuses everything, and nothing becomes real. */
  isStorageDown: boolean
  thaw: () => void
}

/**
 * The possible overdraft of a budget: the cost of calls above their holds, and captures after the end of a
 * lease.
 */
export interface Allowance {
  excess: bigint
  late: bigint
}

/** Several processes on one store, with time, faults and bookkeeping in the hands of the test. */
export class BillingWorld {
  readonly store: SimulatedStore
  readonly random: () => number
  readonly processes: SimulatedProcess[] = []
  readonly calls: LiveCall[] = []
  readonly attempted = new Map<string, Attempted>()
  readonly allowances = new Map<string, Allowance>()
  monotonicMs = 1_000
  refused = 0
  granted = 0
  #databaseAheadMs: number
  #timers: Timer[] = []
  #generations = 0

  constructor(seed: number, databaseStartMs: number) {
    this.random = seededRandom(seed)
    this.store = new SimulatedStore(databaseStartMs)
    this.#databaseAheadMs = databaseStartMs - this.monotonicMs
  }

  get databaseNowMs(): number {
    return this.#databaseAheadMs + this.monotonicMs
  }

  /** Sets the database's clock forward or back. */
  jumpClock(milliseconds: number): void {
    this.#databaseAheadMs += milliseconds
    this.store.setClock(this.databaseNowMs)
  }

  async startProcess(commitDelayMs = 0): Promise<SimulatedProcess> {
    const name = `owner_${this.processes.length}`
    // The closures are called only once the process exists.
    const database = new SimulatedDatabase(this.store, name, () => this.#fateFor(process))
    const ledger = createLedger(database)
    const timing: Timing = {
      clock: { nowMs: () => this.databaseNowMs, monotonicMs: () => this.monotonicMs },
      sleep: (milliseconds) =>
        new Promise((resolve) => {
          this.#timers.push({
            owner: process,
            dueMs: this.monotonicMs + milliseconds,
            everyMs: null,
            run: resolve,
          })
        }),
      defer: (task) => queueMicrotask(task),
      every: (milliseconds, task) => {
        const timer = {
          owner: process,
          dueMs: this.monotonicMs + milliseconds,
          everyMs: milliseconds,
          run: task,
        }
        this.#timers.push(timer)
        return () => {
          this.#timers = this.#timers.filter((one) => one !== timer)
        }
      },
    }
    const events: BillingEvent[] = []
    const billing = createBilling({
      ledger,
      timing,
      commitDelayMs,
      report: (event) => {
        events.push(event)
        return process.onEvent()
      },
    })
    const accounts = createAccounts(ledger, createAccountsRepository(database))
    const process: SimulatedProcess = {
      name,
      database,
      billing,
      accounts,
      events,
      onEvent: () => null,
      state: 'running',
      faultRate: 0,
      isStorageDown: false,
      thaw: () => undefined,
    }
    this.processes.push(process)
    void billing.start()
    await this.flush()
    return process
  }

  /** Runs all tasks that need no time. */
  async flush(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Time passes; timers of running processes fire in order. A frozen process catches up when it thaws. */
  async advance(milliseconds: number): Promise<void> {
    const untilMs = this.monotonicMs + milliseconds
    for (;;) {
      const due = this.#timers
        .filter((timer) => timer.owner.state === 'running' && timer.dueMs <= untilMs)
        .toSorted((first, second) => first.dueMs - second.dueMs)[0]
      if (due === undefined) break
      this.#setTime(Math.max(this.monotonicMs, due.dueMs))
      if (due.everyMs === null) this.#timers = this.#timers.filter((timer) => timer !== due)
      else due.dueMs = this.monotonicMs + due.everyMs
      due.run()
      await this.flush()
    }
    this.#setTime(untilMs)
    await this.flush()
  }

  freeze(process: SimulatedProcess): void {
    process.state = 'frozen'
    const { promise, resolve } = Promise.withResolvers<void>()
    process.database.gate = promise
    process.thaw = resolve
  }

  /** Storage takes requests of this process and never answers; the process itself goes on. */
  freezeStorage(process: SimulatedProcess): void {
    process.database.gate = new Promise(() => undefined)
  }

  async unfreeze(process: SimulatedProcess): Promise<void> {
    process.state = 'running'
    process.thaw()
    await this.flush()
  }

  /**
   * The process dies at any moment. `isKnown`: other processes can see its death; else its leases must expire.
   */
  kill(process: SimulatedProcess, isKnown: boolean): void {
    process.state = 'dead'
    process.database.gate = new Promise(() => undefined)
    this.#timers = this.#timers.filter((timer) => timer.owner !== process)
    if (isKnown) this.store.dead.add(process.name)
    for (let index = this.calls.length - 1; index >= 0; index -= 1) {
      if (this.calls[index]?.owner === process) this.calls.splice(index, 1)
    }
  }

  /** A call begins: it may be granted now, later or never. */
  hold(owner: SimulatedProcess, budgets: readonly BudgetRef[], amount: bigint): void {
    const note = (hold: Hold): void => {
      if (owner.state === 'dead') return
      this.granted += 1
      this.calls.push({ owner, budgets, hold: hold as SliceHold })
    }
    const given = owner.billing.hold({ budgets, amount })
    if (!(given instanceof Promise)) note(given)
    else {
      given.then(note, (error: unknown) => {
        if (!(error instanceof GatewayError)) throw error
        this.refused += 1
      })
    }
  }

  /** A call ends and is charged. */
  capture(call: LiveCall, cost: bigint): void {
    this.#end(call)
    const { owner, hold, budgets } = call
    const generationId = `gen-${(this.#generations += 1)}`
    const attempted: Attempted = { cost, owner, isAcknowledged: false, isRefused: false }
    this.attempted.set(generationId, attempted)
    for (const budget of budgets)
      this.allow(budget.budgetId, { excess: over(cost, hold.amount), late: this.#late(call, cost) })
    // Some callers have seen a part of their answer, and pay although they get the error that it takes too long.
    const whenRefused = this.#generations % 2 === 0 ? 'void' : 'keep'
    const row = captureRowOf(generationId, cost)
    void acknowledge(owner.billing.capture(hold, row, whenRefused), attempted, whenRefused)
  }

  releaseAll(): void {
    while (this.calls[0]) this.release(this.calls[0])
  }

  release(call: LiveCall): void {
    this.#end(call)
    call.owner.billing.release(call.hold)
  }

  allow(budgetId: string, more: Allowance): void {
    const known = this.allowances.get(budgetId) ?? { excess: 0n, late: 0n }
    this.allowances.set(budgetId, { excess: known.excess + more.excess, late: known.late + more.late })
  }

  async findings(): Promise<InvariantFinding[]> {
    const database = new SimulatedDatabase(this.store, 'observer')
    const findings = await checkInvariants(createInvariantsRepository(database))
    return findings.filter((finding) => finding.invariant !== 'holds have an owner')
  }

  /** The used part of a budget: captured amounts, and holds of running calls whose lease has not been ended. */
  committed(budgetId: string): { limit: bigint; spent: bigint; held: bigint } {
    const [budget] = this.store.query<{ limit_nanocredits: bigint; spent_nanocredits: bigint }>(
      `select limit_nanocredits, spent_nanocredits + coalesce((select sum(captured_nanocredits) from leases
        where leases.budget_id = budgets.budget_id and state <> 'closed'), 0) as spent_nanocredits
       from budgets where budget_id = $1`,
      [budgetId],
    )
    let held = 0n
    for (const { hold, budgets } of this.calls) {
      if (!budgets.some((one) => one.budgetId === budgetId)) continue
      if (!this.#isLeaseEnded(hold, budgetId)) held += hold.amount
    }
    return { limit: budget?.limit_nanocredits ?? 0n, spent: budget?.spent_nanocredits ?? 0n, held }
  }

  #end(call: LiveCall): void {
    this.calls.splice(this.calls.indexOf(call), 1)
  }

  #late(call: LiveCall, cost: bigint): bigint {
    const isLate = call.budgets.some((budget) => this.#isLeaseEnded(call.hold, budget.budgetId))
    // A frozen process's capture comes whenever it thaws, by when its lease may be gone.
    return isLate || call.owner.state === 'frozen' ? cost : 0n
  }

  #isLeaseEnded(hold: SliceHold, budgetId: string): boolean {
    const share = hold.shares.find((one) => one.slice.budget.budgetId === budgetId)
    if (share === undefined) return false
    const [row] = this.store.query<{ state: string }>('select state from leases where lease_id = $1', [
      share.slice.leaseId,
    ])
    return row?.state !== 'open'
  }

  #setTime(monotonicMs: number): void {
    this.monotonicMs = monotonicMs
    this.store.setClock(this.databaseNowMs)
  }

  #fateFor(process: SimulatedProcess): Fate {
    if (process.isStorageDown) return 'refused'
    const roll = this.random()
    if (roll >= process.faultRate) return 'ok'
    return roll < process.faultRate / 2 ? 'lost' : 'refused'
  }
}

async function acknowledge(
  capturing: Promise<void>,
  attempted: Attempted,
  whenRefused: WhenRefused,
): Promise<void> {
  try {
    await capturing
    attempted.isAcknowledged = true
  } catch {
    attempted.isRefused = whenRefused === 'void'
  }
}

function over(cost: bigint, amount: bigint): bigint {
  return cost > amount ? cost - amount : 0n
}
