import type { Placed } from '../../core/bag.ts'
import { type Announce, captureStatements, type Capture } from './captures.ts'
import type { LedgerStatement } from './ledger-statement.ts'
import { toVoided } from './capture-row.ts'
import { insertLosses } from './capture-repository.ts'

/**
 * What happens to a capture when its caller gets an error because it took too long. `void`: the caller sees that error
 * and no part of the answer, and therefore pays nothing. `keep`: the caller had a part of the answer, or left, and pays.
 */
export type WhenRefused = 'void' | 'keep'

/** A capture until it is durable or a dead letter. */
export interface QueuedCapture extends Capture, Placed {
  readonly whenRefused: WhenRefused
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly queuedMs: number
  isOverdue: boolean
  /** Its caller was refused and pays nothing, whatever the outcome of commits that were already sent. */
  isRefused: boolean
  /** A commit that contained it ended without an answer; if the row exists, that commit wrote it. */
  mayBeDurable: boolean
}

/** The statements of captures. A refused caller's capture is a row without a charge, and the operator's loss is recorded beside it. */
export function statementsOf(
  entries: readonly QueuedCapture[],
  voided: ReadonlySet<QueuedCapture>,
  announce: Announce | null,
): LedgerStatement[] {
  if (voided.size === 0) return captureStatements(entries, announce)
  const captures = entries.map((entry) =>
    voided.has(entry) ? { hold: entry.hold, row: toVoided(entry.row) } : entry,
  )
  const rows = [...voided].map(({ row }) => row)
  return [...captureStatements(captures, announce), insertLosses(rows, 'voided')]
}
