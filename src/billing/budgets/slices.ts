import { assert } from '../../core/assert.ts'

/**
 * When a budget has fewer typical holds left than this, a slice takes only what it needs; otherwise its extra is at
 * most the budget's rest divided by this.
 */
const sliceShareMin = 8
/**
 * By how many typical holds a slice grows: at least, and at most. The number doubles when the last growth lasted less
 * than `sliceGrowWithinMs`, else it halves.
 */
const sliceGrowthStart = 16
const sliceGrowthMax = 4_096
const sliceGrowWithinMs = 500
import type { BudgetRef } from './budget-ids.ts'

/** `open`: grants. `lost`: another process ended the lease; captures may still be taken from it. `closed`: given back. */
export type SliceState = 'open' | 'lost' | 'closed'

/** A unit about a lease whose answer was lost: the row's epoch tells whether it was committed. */
export interface Doubt {
  /** The epoch the row has if the unit was committed. */
  readonly epoch: number
  /** Brings the slice to its state after the unit. */
  apply(): void
  /** Brings the slice back to its state before the unit. */
  revert(): void
}

/**
 * The part of one budget that this process may grant from, in memory: pure arithmetic, no I/O. Amounts are
 * nanocredits and always satisfy `granted = free + held + captured - owed`. Granted and captured are the lease row's
 * figures as far as this process knows them; owed is excess that a running capture adds to the row.
 */
export class Slice {
  readonly leaseId: string
  /** Replaced when the key's limit was changed. */
  budget: BudgetRef
  state: SliceState = 'open'
  /** The row's epoch; every change but a capture raises it, so that no change is applied twice. */
  epoch = 1
  /** The amount that may be granted. */
  free: bigint
  /** Set aside for calls that run or whose capture is not durable yet. */
  held = 0n
  /** Captured in the lease row and not yet folded into the budget. */
  captured = 0n
  owed = 0n
  /** Holds that have not ended. */
  holdsLive = 0
  /** Monotonic time until which this process may grant. */
  grantUntilMs: number
  /** Monotonic time of the last hold, capture or release. */
  lastUsedMs: number
  lastTakenMs: number
  lastRenewedMs: number
  /** What is held according to the last renewal of the row. */
  reportedHeld = 0n
  /** The newest recall mark that was obeyed, database time. */
  recallSeenMs: number
  doubt: Doubt | null = null
  /** Smoothed size of a hold, and how many of them the next growth asks for. */
  #typical = 0
  #growthHolds = sliceGrowthStart

  constructor(options: {
    leaseId: string
    budget: BudgetRef
    granted: bigint
    nowMs: number
    grantUntilMs: number
    recallSeenMs: number
  }) {
    this.leaseId = options.leaseId
    this.budget = options.budget
    this.free = options.granted
    this.grantUntilMs = options.grantUntilMs
    this.lastUsedMs = options.nowMs
    this.lastTakenMs = options.nowMs
    this.lastRenewedMs = options.nowMs
    this.recallSeenMs = options.recallSeenMs
  }

  /** The lease row's granted amount, as far as this process knows it. */
  get granted(): bigint {
    return this.free + this.held + this.captured - this.owed
  }

  /** What could be given back at once: it is free, and the row is known to have it. */
  get returnable(): bigint {
    const amount = this.free - this.owed
    return amount > 0n ? amount : 0n
  }

  /** Whether a hold of this size may be granted from memory now. */
  canGrant(amount: bigint, monotonicMs: number): boolean {
    return this.state === 'open' && this.free >= amount && monotonicMs < this.grantUntilMs
  }

  /** Sets an amount aside; the caller asked `canGrant`. */
  grant(amount: bigint, monotonicMs: number): void {
    this.free -= amount
    this.held += amount
    this.holdsLive += 1
    this.lastUsedMs = monotonicMs
    this.#typical += (Number(amount) - this.#typical) / (this.#typical === 0 ? 1 : 16)
  }

  /** Ends a hold without a charge. */
  release(amount: bigint, monotonicMs: number): void {
    this.held -= amount
    this.free += amount
    this.#end(monotonicMs)
  }

  /** Two holds become one, which has the amounts of both. */
  joinHolds(): void {
    this.holdsLive -= 1
    assert(this.holdsLive > 0, 'a joined hold is one that lives')
  }

  /**
   * Makes room for a charge above its hold: first from what is free; the rest is excess, which the capture itself adds
   * to lease and budget.
   */
  reserveExcess(amount: bigint, cost: bigint): { fromFree: bigint; excess: bigint } {
    const missing = cost - amount
    if (missing <= 0n) return { fromFree: 0n, excess: 0n }
    const available = this.state === 'open' && this.free > 0n ? this.free : 0n
    const fromFree = available < missing ? available : missing
    const excess = missing - fromFree
    this.free -= fromFree
    this.owed += excess
    this.held += missing
    return { fromFree, excess }
  }

  /** Undoes `reserveExcess`: the capture was not made and may be tried again. */
  returnExcess(fromFree: bigint, excess: bigint): void {
    this.held -= fromFree + excess
    this.free += fromFree
    this.owed -= excess
  }

  /** The charge is durable in the lease row. */
  settle(charge: { amount: bigint; cost: bigint; excess: bigint }, monotonicMs: number): void {
    const { amount, cost, excess } = charge
    this.held -= amount > cost ? amount : cost
    this.free += amount > cost ? amount - cost : 0n
    this.captured += cost
    this.owed -= excess
    this.#end(monotonicMs)
  }

  /** The charge is durable, but went to the budget because the lease row was gone. */
  settleElsewhere(charge: { amount: bigint; cost: bigint; excess: bigint }, monotonicMs: number): void {
    this.held -= charge.amount > charge.cost ? charge.amount : charge.cost
    this.owed -= charge.excess
    this.#end(monotonicMs)
  }

  /** Another process ended the lease: nothing may be granted any more. */
  lose(): void {
    if (this.state === 'open') this.state = 'lost'
    this.free = 0n
  }

  /**
   * How much to take beyond what is needed now, given what will be left of the budget: enough for some more holds, less
   * as the budget empties, nothing when the rest is only a few typical holds.
   */
  static growth(slice: Slice | undefined, left: bigint, typicalHold: bigint): bigint {
    const typical =
      slice === undefined || slice.#typical === 0 ? typicalHold : BigInt(Math.ceil(slice.#typical))
    if (left < typical * BigInt(sliceShareMin)) return 0n
    const wanted = typical * BigInt(slice === undefined ? sliceGrowthStart : slice.#growthHolds)
    const share = left / BigInt(sliceShareMin)
    return wanted < share ? wanted : share
  }

  /** A take of `amount` is durable. When it came soon after the one before, the next one will be larger. */
  grow(amount: bigint, sentMs: number, grantUntilMs: number): void {
    const isHungry = sentMs - this.lastTakenMs < sliceGrowWithinMs
    const holds = isHungry ? this.#growthHolds * 2 : this.#growthHolds / 2
    this.#growthHolds = Math.min(sliceGrowthMax, Math.max(sliceGrowthStart, Math.floor(holds)))
    this.free += amount
    this.lastTakenMs = sentMs
    this.grantUntilMs = grantUntilMs
  }

  #end(monotonicMs: number): void {
    this.holdsLive -= 1
    this.lastUsedMs = monotonicMs
    assert(this.holdsLive >= 0, 'a hold ended twice')
  }
}
