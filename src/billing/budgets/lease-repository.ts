import { leaseGuard, type LedgerStatement } from '../ledger/ledger-statement.ts'
import { foldIntoBudget } from './budget-repository.ts'

/** A new lease with what was taken for it. */
export function insertLease(lease: {
  leaseId: string
  budgetId: string
  ownerId: string
  granted: bigint
  held: bigint
  leaseMs: number
  heldMs: number
}): LedgerStatement {
  return {
    sql: `insert into leases (lease_id, budget_id, owner_id, epoch, granted_nanocredits, held_nanocredits,
        expires_at_ms, held_until_ms, state, created_at_ms)
      values ($1, $2, $3, 1, $4, $7, now_ms() + cast($5 as bigint), now_ms() + cast($6 as bigint), 'open', now_ms())
      returning now_ms() as now_ms`,
    params: [
      lease.leaseId,
      lease.budgetId,
      lease.ownerId,
      lease.granted,
      lease.leaseMs,
      lease.heldMs,
      lease.held,
    ],
  }
}

/** Adds money to a lease, which also renews it. `held` is bounded as in `renewLease`. */
export function growLease(lease: {
  leaseId: string
  epoch: number
  amount: bigint
  held: bigint
  leaseMs: number
  heldMs: number
}): LedgerStatement {
  return {
    sql: `update leases set granted_nanocredits = granted_nanocredits + $3, epoch = epoch + 1,
        held_nanocredits = case when granted_nanocredits + $3 - captured_nanocredits < $6
          then granted_nanocredits + $3 - captured_nanocredits else $6 end,
        expires_at_ms = now_ms() + cast($4 as bigint), held_until_ms = now_ms() + cast($5 as bigint)
      where lease_id = $1 and epoch = $2 and state = 'open' returning now_ms() as now_ms`,
    params: [lease.leaseId, lease.epoch, lease.amount, lease.leaseMs, lease.heldMs, lease.held],
    expect: 1,
    guard: leaseGuard(lease.leaseId),
  }
}

/**
 * Moves a lease's expiry forward, takes out what is folded and returned, and records what is held. The statement bounds
 * `held` by what the row has left, since captures may commit after this process read its memory.
 */
export function renewLease(lease: {
  leaseId: string
  epoch: number
  folded: bigint
  returned: bigint
  held: bigint
  leaseMs: number
  heldMs: number
}): LedgerStatement {
  return {
    sql: `update leases set granted_nanocredits = granted_nanocredits - $3 - $4,
        captured_nanocredits = captured_nanocredits - $3,
        held_nanocredits = case when granted_nanocredits - captured_nanocredits - $4 < $5
          then granted_nanocredits - captured_nanocredits - $4 else $5 end,
        epoch = epoch + 1, expires_at_ms = now_ms() + cast($6 as bigint), held_until_ms = now_ms() + cast($7 as bigint)
      where lease_id = $1 and epoch = $2 and state = 'open' and captured_nanocredits >= $3
        and granted_nanocredits - captured_nanocredits >= $4 returning now_ms() as now_ms`,
    params: [
      lease.leaseId,
      lease.epoch,
      lease.folded,
      lease.returned,
      lease.held,
      lease.leaseMs,
      lease.heldMs,
    ],
    expect: 1,
    guard: leaseGuard(lease.leaseId),
  }
}

/** A lease row as it was read. A process may end another's lease only while the row is still like this. */
export interface LeaseRow {
  leaseId: string
  budgetId: string
  ownerId: string
  epoch: number
  granted: bigint
  captured: bigint
  held: bigint
  state: SliceRowState
  isExpired: boolean
  isHeldOver: boolean
}

/** The state of a lease row. `draining`: only the amount that running calls hold is left in it. */
export type SliceRowState = 'open' | 'draining' | 'closed'

/** When a lease may be ended. The statement itself compares with the database's clock. */
export type EndCondition = 'expired' | 'held over' | 'at once'

const conditionSql: Record<EndCondition, string> = {
  expired: 'and expires_at_ms <= now_ms()',
  'held over': 'and held_until_ms <= now_ms()',
  'at once': '',
}

/**
 * Ends a lease that is still exactly as it was read: captured is folded, everything else returns. The row is deleted:
 * a capture treats a missing lease like an ended one, and kept rows would pile up with every idle moment of an account.
 */
export function closeLease(lease: LeaseRow, condition: EndCondition): LedgerStatement[] {
  return [
    foldIntoBudget(lease.budgetId, lease.captured, lease.granted - lease.captured),
    {
      sql: `delete from leases where lease_id = $1 and epoch = $2 and granted_nanocredits = $3
        and captured_nanocredits = $4 and state <> 'closed' ${conditionSql[condition]}`,
      params: [lease.leaseId, lease.epoch, lease.granted, lease.captured],
      expect: 1,
      guard: leaseGuard(lease.leaseId),
    },
  ]
}

/** Takes everything that is not held from an expired lease whose owner may still be running calls. */
export function drainLease(lease: LeaseRow): LedgerStatement[] {
  return [
    foldIntoBudget(lease.budgetId, 0n, lease.granted - lease.captured - lease.held),
    {
      sql: `update leases set granted_nanocredits = captured_nanocredits + held_nanocredits, state = 'draining',
          epoch = epoch + 1
        where lease_id = $1 and epoch = $2 and granted_nanocredits = $3 and captured_nanocredits = $4
          and held_nanocredits = $5 and state = 'open' and expires_at_ms <= now_ms()`,
      params: [lease.leaseId, lease.epoch, lease.granted, lease.captured, lease.held],
      expect: 1,
      guard: leaseGuard(lease.leaseId),
    },
  ]
}

/** Captures on the lease they were held from; `excess` was added to the budget in the same unit. */
export function captureOnLease(leaseId: string, cost: bigint, excess: bigint): LedgerStatement {
  return {
    sql: `update leases set captured_nanocredits = captured_nanocredits + $2,
        granted_nanocredits = granted_nanocredits + $3,
        held_nanocredits = case when held_nanocredits <= $2 then 0
          when granted_nanocredits + $3 - captured_nanocredits < held_nanocredits
          then granted_nanocredits + $3 - captured_nanocredits - $2
          else held_nanocredits - $2 end
      where lease_id = $1 and state <> 'closed' and captured_nanocredits + $2 <= granted_nanocredits + $3`,
    params: [leaseId, cost, excess],
    expect: 1,
    guard: leaseGuard(leaseId),
  }
}
