import { assert } from '../../core/assert.ts'
import type { CaptureRow } from './capture-row.ts'
import { captureStatements, type Charge, reserve, restore } from './charges.ts'
import type { SliceHold } from '../budgets/hold.ts'
import type { LedgerStatement } from './ledger-statement.ts'

/** The statements of several captures for a unit of the caller's, and the calls that tell its outcome: exactly one of them, once. */
export interface PreparedCaptures {
  readonly statements: readonly LedgerStatement[]
  /** The unit is durable. */
  committed(): void
  /** The unit left no trace. `guard` names the guard that failed, which tells that a lease or a budget is gone; then prepare again. */
  failed(guard?: string): void
}

/** Prepares captures for a batch part's unit. Holds that ended are left out. */
export function prepareCaptures(
  entries: readonly { hold: SliceHold; row: CaptureRow }[],
  {
    settle,
    redirect,
  }: { settle(charge: Charge): void; redirect(charges: readonly Charge[], guard: string): void },
): PreparedCaptures {
  const charges: readonly Charge[] = entries.filter(({ hold }) => hold.state === 'held')
  for (const { hold, row } of charges) reserve(hold, row)
  let isOver = false
  const once = (): void => {
    assert(!isOver, 'prepared captures were ended twice')
    isOver = true
  }
  return {
    statements: charges.length === 0 ? [] : captureStatements(charges),
    committed: () => {
      once()
      for (const charge of charges) settle(charge)
    },
    failed: (guard) => {
      once()
      if (guard !== undefined) redirect(charges, guard)
      for (const charge of charges) restore(charge)
    },
  }
}
