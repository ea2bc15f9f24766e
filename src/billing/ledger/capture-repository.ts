import { usageColumns } from '../../canonical/usage.ts'
import { dayOfTransaction } from '../../core/ids.ts'
import { refundsMax } from '../../core/limits/billing.ts'
import {
  grantsAccount,
  type LedgerStatement,
  type LedgerValue,
  organizationAccount,
  usageIncomeAccount,
} from './ledger-statement.ts'
import { type CaptureDetails, type CaptureRow, toStoredPrice } from './capture-row.ts'

const insertGrantSql = `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
  values ($1, $2, $3, $4, $5, 'grant')`

/** Both postings of a grant. Its transaction id can be used once, even if the repetition is on another day. */
export function insertGrantPostings(grant: {
  organizationId: string
  amountNanocredits: bigint
  transactionId: string
  createdAtMs: number
}): LedgerStatement {
  const { transactionId, amountNanocredits, createdAtMs } = grant
  const account = organizationAccount(grant.organizationId)
  const day = dayOfTransaction(transactionId)
  return {
    sql: insertGrantSql,
    rows: [
      [day, transactionId, account, amountNanocredits, createdAtMs],
      [day, transactionId, grantsAccount, -amountNanocredits, createdAtMs],
    ],
  }
}

/** The guard that fails when a refund is of an unknown generation, or more than is left of its charge. */
export const refundGuard = 'refund_within_charge'

/** Makes concurrent refunds of one generation wait for each other, so that together they cannot exceed the charge. Changes nothing. */
export function lockUsage(generationId: string, organizationId: string): LedgerStatement {
  return {
    sql: `update usages set cost_nanocredits = cost_nanocredits
      where day = $3 and generation_id = $1 and organization_id = $2`,
    params: [generationId, organizationId, dayOfTransaction(generationId)],
    expect: 1,
    guard: refundGuard,
  }
}

/** A refund of a captured generation. `sequence`, from 1 to `refundsMax`, identifies it: using the same number again repeats the refund. */
export interface Refund {
  generationId: string
  organizationId: string
  amountNanocredits: bigint
  sequence: number
  kind: 'refund' | 'correction'
  createdAtMs: number
}

/** The name of a refund's transaction. */
export function refundTransactionId(refund: Pick<Refund, 'generationId' | 'sequence'>): string {
  return `refund:${refund.generationId}:${refund.sequence}`
}

/** SQL for the transaction ids of all refunds that the generation in a column may have. */
export function refundTransactionIdsOf(column: string): string {
  return Array.from({ length: refundsMax }, (_, index) => `'refund:' || ${column} || ':${index + 1}'`).join(
    ', ',
  )
}

/**
 * Both postings of a refund, if it fits into what is left of the original. Refunds are numbered, so that earlier ones
 * can be found by their ids without comparing texts, which databases order differently. They are filed under the
 * original's day.
 */
export function insertRefundPostings(refund: Refund): LedgerStatement[] {
  const { generationId } = refund
  const related = [
    generationId,
    ...Array.from({ length: refundsMax }, (_, index) =>
      refundTransactionId({ generationId, sequence: index + 1 }),
    ),
  ]
  const sides: readonly [string, bigint][] = [
    [organizationAccount(refund.organizationId), refund.amountNanocredits],
    [usageIncomeAccount, -refund.amountNanocredits],
  ]
  return sides.map(([account, amount]) => ({
    sql: `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind, reference)
      select cast($8 as bigint), cast($1 as text), cast($2 as text), cast($3 as bigint), cast($4 as bigint), cast($5 as text),
        cast($6 as text)
      where (select coalesce(sum(amount_nanocredits), 0) from postings where day = cast($8 as bigint)
        and account = '${usageIncomeAccount}' and transaction_id in (${related.map((_, index) => `$${index + 9}`).join(', ')})) >= cast($7 as bigint)`,
    params: [
      refundTransactionId(refund),
      account,
      amount,
      refund.createdAtMs,
      refund.kind,
      refund.generationId,
      refund.amountNanocredits,
      dayOfTransaction(generationId),
      ...related,
    ],
    expect: 1,
    guard: refundGuard,
  }))
}

const safeMax = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * An amount as a parameter for a column of whole numbers: a number up to 2^53, which needs no conversion on its way,
 * else a bigint; the stored value is the same. Do not compute with it in SQL: a number would make that floating point.
 */
export function toWhole(amount: bigint): number | bigint {
  return amount <= safeMax && amount >= -safeMax ? Number(amount) : amount
}

const insertPricesSql = `insert into prices (price_id, price_json) values ($1, $2) on conflict (price_id) do nothing`

/** The prices of these captures; each distinct price is stored once. In id order, so that two units cannot wait for each other. */
export function insertPrices(rows: readonly CaptureRow[]): LedgerStatement {
  const prices = new Map(rows.map(({ price }) => [price, toStoredPrice(price)]))
  const values = [...prices.values()].map(({ priceId, json }) => [priceId, json])
  return {
    sql: insertPricesSql,
    rows: values.toSorted(([first = ''], [second = '']) => (first < second ? -1 : 1)),
  }
}

const countColumns = Object.keys(usageColumns)
const counts = Object.values(usageColumns)

const columns = [
  'day',
  'generation_id',
  'organization_id',
  'key_id',
  'batch_id',
  'custom_id',
  'operation',
  'model',
  'provider',
  'endpoint_id',
  'status',
  'is_estimated',
  'is_unpriced',
  'cost_nanocredits',
  'held_nanocredits',
  'price_id',
  'upstream_id',
  'finish_reason',
  'native_finish_reason',
  'streamed',
  'cancelled',
  'latency_ms',
  'generation_ms',
  'session_id',
  'user_id',
  'request_id',
  'details_json',
  'created_at_ms',
  'workspace_id',
  'member_id',
  'credential_id',
  ...countColumns,
]

const insertUsagesSql = `insert into usages (${columns.join(', ')}) values (${columns
  .map((_, index) => `$${index + 1}`)
  .join(', ')})`

/** One usage row per capture; the unit fails when a generation has a row already. */
export function insertUsages(captures: readonly { row: CaptureRow; held: bigint }[]): LedgerStatement {
  return { sql: insertUsagesSql, rows: captures.map(({ row, held }) => usageValues(row, held)) }
}

const noDetails = '{}'
/** Of nearly every call. */
const oneAttempt = '{"attempts":1}'

function usageValues(row: CaptureRow, held: bigint): readonly LedgerValue[] {
  const values: LedgerValue[] = [
    dayOfTransaction(row.generationId),
    row.generationId,
    row.organizationId,
    row.keyId,
    row.batchId,
    row.customId,
    row.operation,
    row.model,
    row.provider,
    row.endpointId,
    row.status,
    row.source === 'estimated' ? 1 : 0,
    row.isUnpriced ? 1 : 0,
    toWhole(row.costNanocredits),
    toWhole(held),
    toStoredPrice(row.price).priceId,
    row.upstreamId,
    row.finishReason,
    row.nativeFinishReason,
    row.streamed ? 1 : 0,
    row.cancelled ? 1 : 0,
    wholeOrNull(row.latencyMs),
    wholeOrNull(row.generationMs),
    row.sessionId,
    row.userId,
    row.requestId,
    detailsToJson(row.details),
    row.createdAtMs,
    row.workspaceId,
    row.memberId,
    row.credentialId,
  ]
  for (const count of counts) values.push(row.usage[count])
  return values
}

function detailsToJson(details: CaptureDetails): string {
  let members = 0
  for (const _ in details) members += 1
  if (members === 1 && details.attempts === 1) return oneAttempt
  return members === 0 ? noDetails : JSON.stringify(details)
}

/** Durations are measured with fractions and stored whole. */
function wholeOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds)
}

const insertPostingsSql = `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
  values ($1, $2, $3, $4, $5, 'capture')`

/** Both postings of every capture that cost something; a capture that cost nothing has a usage row only. */
export function insertCapturePostings(rows: readonly CaptureRow[]): LedgerStatement | null {
  const values: LedgerValue[][] = []
  for (const row of rows) {
    if (row.costNanocredits === 0n) continue
    const { generationId, createdAtMs } = row
    const account = organizationAccount(row.organizationId)
    const day = dayOfTransaction(generationId)
    values.push(
      [day, generationId, account, toWhole(-row.costNanocredits), createdAtMs],
      [day, generationId, usageIncomeAccount, toWhole(row.costNanocredits), createdAtMs],
    )
  }
  return values.length === 0 ? null : { sql: insertPostingsSql, rows: values }
}

/**
 * Why a refused call's caller pays nothing. `voided`: its charge was never written. `refunded`: its charge was written
 * without this process knowing, and then refunded.
 */
export type LossOutcome = 'voided' | 'refunded'

const insertLossSql = `insert into refused_calls (generation_id, organization_id, provider, model, cost_nanocredits,
    outcome, created_at_ms)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (generation_id) do nothing`

/** Records what refused calls cost the operator; belongs into the unit that voids or refunds their charges. */
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
