import { dayOfTransaction } from '../../core/ids.ts'
import type { Database } from '../../storage/database.ts'

/** The database as commands receive it; only the repositories of this folder know its type. */
export type CliDatabase = Database

/** The ledger's entries for one call, or for all items of one batch. */
export interface Receipt {
  /** Captures: 1 for a call, one per answered item for a batch. */
  captures: number
  held: bigint
  captured: bigint
  /** Postings of those captures, and their sum, which must be 0. */
  postings: number
  postingsSum: bigint
  isEstimated: boolean
  isUnpriced: boolean
}

/** One line of `headrace credits`. */
export interface UsageLine {
  generationId: string
  createdAtMs: number
  operation: string
  model: string
  provider: string
  status: string
  cost: bigint
}

/** Reads the costs of calls; writes nothing. */
export interface Receipts {
  /** Null until the capture is durable. Rejects with `storage_unavailable`. */
  loadCall(generationId: string): Promise<Receipt | null>
  loadBatch(batchId: string): Promise<Receipt | null>
  /** The newest first. */
  listLatest(organizationId: string, limit: number): Promise<UsageLine[]>
}

interface ReceiptRow {
  captures: number
  held_nanocredits: bigint | null
  captured_nanocredits: bigint | null
  postings: number
  sum_nanocredits: bigint | null
  estimated: number | null
  unpriced: number | null
}

/** The database computes the sums, so that a batch of a million items is one row here. */
function receiptSql(condition: string): string {
  const chosen = `select 'income:usage', day, generation_id from usages where ${condition}
    union all select 'organization:' || organization_id, day, generation_id from usages where ${condition}`
  return `select count(*) as captures, sum(held_nanocredits) as held_nanocredits,
    sum(cost_nanocredits) as captured_nanocredits,
    cast(sum(is_estimated) as bigint) as estimated, cast(sum(is_unpriced) as bigint) as unpriced,
    (select count(*) from postings where (account, day, transaction_id) in (${chosen})) as postings,
    (select sum(amount_nanocredits) from postings where (account, day, transaction_id) in (${chosen})) as sum_nanocredits
    from usages where ${condition}`
}

/** Receipts from the gateway's own tables. */
export function createReceipts(database: Database): Receipts {
  const load = async (condition: string, params: (string | number)[]): Promise<Receipt | null> => {
    const [row] = await database.query<ReceiptRow>(receiptSql(condition), params)
    if (!row || row.captures === 0) return null
    return {
      captures: row.captures,
      held: row.held_nanocredits ?? 0n,
      captured: row.captured_nanocredits ?? 0n,
      postings: row.postings,
      postingsSum: row.sum_nanocredits ?? 0n,
      isEstimated: (row.estimated ?? 0) > 0,
      isUnpriced: (row.unpriced ?? 0) > 0,
    }
  }
  return {
    loadCall: (generationId) =>
      load('day = $2 and generation_id = $1', [generationId, dayOfTransaction(generationId)]),
    loadBatch: (batchId) => load('batch_id = $1', [batchId]),
    async listLatest(organizationId, limit) {
      const rows = await database.query<{
        generation_id: string
        created_at_ms: number
        operation: string
        model: string
        provider: string
        status: string
        cost_nanocredits: bigint
      }>(
        `select generation_id, created_at_ms, operation, model, provider, status, cost_nanocredits from usages
         where organization_id = $1 order by created_at_ms desc, generation_id desc limit $2`,
        [organizationId, limit],
      )
      return rows.map((row) => ({
        generationId: row.generation_id,
        createdAtMs: row.created_at_ms,
        operation: row.operation,
        model: row.model,
        provider: row.provider,
        status: row.status,
        cost: row.cost_nanocredits,
      }))
    },
  }
}
