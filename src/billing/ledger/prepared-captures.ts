import { assert } from '../../core/assert.ts'
import type { CaptureRow } from './capture-row.ts'
import { type Announce, captureStatements, type Capture, reserve, restore } from './captures.ts'
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
    announce,
  }: {
    settle(capture: Capture): void
    redirect(captures: readonly Capture[], guard: string): void
    announce: Announce | null
  },
): PreparedCaptures {
  const captures: readonly Capture[] = entries.filter(({ hold }) => hold.state === 'held')
  for (const { hold, row } of captures) reserve(hold, row)
  let isOver = false
  const once = (): void => {
    assert(!isOver, 'prepared captures were ended twice')
    isOver = true
  }
  return {
    statements: captures.length === 0 ? [] : captureStatements(captures, announce),
    committed: () => {
      once()
      for (const capture of captures) settle(capture)
    },
    failed: (guard) => {
      once()
      if (guard !== undefined) redirect(captures, guard)
      for (const capture of captures) restore(capture)
    },
  }
}
