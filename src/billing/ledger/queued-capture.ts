import type { Placed } from '../../core/bag.ts'
import { captureStatements, type Charge } from './charges.ts'
import type { LedgerStatement } from './ledger-statement.ts'
import { toVoided } from './capture-row.ts'
import { insertLosses } from './capture-repository.ts'

/**
 * What becomes of a capture whose caller is told that it took too long. `void`: the caller is shown that error and
 * nothing of the answer, and therefore pays nothing. `keep`: the caller had a part of the answer, or has left, and pays.
 */
export type WhenRefused = 'void' | 'keep'

/** A capture until it is durable or a dead letter. */
export interface QueuedCapture extends Charge, Placed {
  readonly whenRefused: WhenRefused
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly queuedMs: number
  isOverdue: boolean
  /** Its caller was refused and pays nothing, whatever became of the commits that were sent. */
  isRefused: boolean
  /** A commit that contained it ended without an answer, so finding it there means it was ours. */
  mayBeDurable: boolean
}

/** The captures, those of refused callers as rows that charge nothing beside what the operator loses by them. */
export function statementsOf(
  entries: readonly QueuedCapture[],
  voided: ReadonlySet<QueuedCapture>,
): LedgerStatement[] {
  if (voided.size === 0) return captureStatements(entries)
  const charges = entries.map((entry) =>
    voided.has(entry) ? { hold: entry.hold, row: toVoided(entry.row) } : entry,
  )
  const rows = [...voided].map(({ row }) => row)
  return [...captureStatements(charges), insertLosses(rows, 'voided')]
}
