import { freePrice } from '../../canonical/usage.ts'
import { formatCredits } from '../../core/money.ts'
import type { CaptureRow } from './capture-row.ts'
import { toWhole } from './capture-statements.ts'
import type { LedgerStatement } from './ledger-statements.ts'

/**
 * How a refused call came to cost its caller nothing: its charge was never written, or was written without this process
 * knowing and then refunded.
 */
export type LossOutcome = 'voided' | 'refunded'

/**
 * What is written in the place of a refused call's charge: the same generation at no cost. A generation has one row, so
 * once this one is durable the charge can never be written any more, even by a commit that was given up and goes on.
 */
export function toVoided(row: CaptureRow): CaptureRow {
  return { ...row, status: 'failed', price: freePrice, costNanocredits: 0n }
}

/** What the log says of a call that its caller does not pay. */
export function lossOf({ model, provider, costNanocredits }: CaptureRow): string {
  return `${model} of ${provider} answered for ${formatCredits(costNanocredits)} credits; the caller was refused and pays nothing`
}

const insertLossSql = `insert into refused_calls (generation_id, organization_id, provider, model, cost_nanocredits,
    outcome, created_at_ms)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (generation_id) do nothing`

/** Writes down what refused calls cost the operator; belongs into the unit that frees their callers of it. */
export function insertLosses(rows: readonly CaptureRow[], outcome: LossOutcome): LedgerStatement {
  return {
    sql: insertLossSql,
    rows: rows.map((row) => [
      row.generationId,
      row.organizationId,
      row.provider,
      row.model,
      toWhole(row.costNanocredits),
      outcome,
      row.createdAtMs,
    ]),
  }
}
