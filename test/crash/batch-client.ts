import type { Database } from '../../src/storage/database.ts'
import { inferenceKey } from './world.ts'

/** One item's result as callers get it. */
export interface ItemResult {
  id: string
  custom_id: string
  response: {
    body: { usage?: { prompt_tokens: number; completion_tokens: number; cost?: number } }
  } | null
  error: { message: string; type: string } | null
}

/** As much of a batch as checks need. */
export interface EndedBatch {
  id: string
  status: string
  request_counts: { total: number; completed: number; failed: number }
  usage: { prompt_tokens: number; completion_tokens: number; cost: number } | null
  results: ItemResult[]
}

const terminal = new Set(['completed', 'failed', 'expired', 'cancelled'])

/** Whether nothing more becomes of a batch. */
export const isTerminalStatus = (status: string): boolean => terminal.has(status)

/** The batch as it is, or once it has ended when `waitMs` is given; rejects when that takes longer. */
export async function readBatch(
  baseUrl: string,
  id: string,
  waitMs = 0,
  key = inferenceKey,
): Promise<EndedBatch> {
  const endMs = performance.now() + waitMs
  for (;;) {
    const response = await fetch(`${baseUrl}/batches/${id}`, { headers: { authorization: `Bearer ${key}` } })
    if (response.status !== 200) throw new Error(`${id}: ${response.status} ${await response.text()}`)
    const batch = (await response.json()) as EndedBatch
    if (waitMs === 0 || isTerminalStatus(batch.status)) return batch
    if (performance.now() > endMs)
      throw new Error(`${id} has not ended: ${JSON.stringify(batch).slice(0, 500)}`)
    await Bun.sleep(100)
  }
}

/** Tokens and nanocredits of all items. */
export function sumOf(results: readonly ItemResult[]): {
  promptTokens: number
  completionTokens: number
  cost: number
} {
  const sum = { promptTokens: 0, completionTokens: 0, cost: 0 }
  for (const { response } of results) {
    sum.promptTokens += response?.body.usage?.prompt_tokens ?? 0
    sum.completionTokens += response?.body.usage?.completion_tokens ?? 0
    sum.cost += Math.round((response?.body.usage?.cost ?? 0) * 1e9)
  }
  return sum
}

/** What the ledger knows of a batch. */
export interface LedgerOfBatch {
  count: number
  cost: bigint
  promptTokens: number
  captures: number
  captured: bigint
}

/** Usage rows and captures of a batch. */
export async function usagesOf(database: Database, batchId: string): Promise<LedgerOfBatch> {
  const [usages] = await database.query<{ rows: number; cost_nanocredits: bigint; prompt: number }>(
    `select count(*) as rows, cast(coalesce(sum(cost_nanocredits), 0) as bigint) as cost_nanocredits,
       cast(coalesce(sum(input_tokens), 0) as bigint) as prompt from usages where batch_id = $1`,
    [batchId],
  )
  const [captures] = await database.query<{ rows: number; captured_nanocredits: bigint }>(
    `select count(*) as rows, cast(coalesce(sum(amount_nanocredits), 0) as bigint) as captured_nanocredits
     from postings where kind = 'capture' and account = 'income:usage'
       and transaction_id in (select generation_id from usages where batch_id = $1)`,
    [batchId],
  )
  return {
    count: Number(usages?.rows),
    cost: BigInt(usages?.cost_nanocredits ?? -1),
    promptTokens: Number(usages?.prompt),
    captures: Number(captures?.rows),
    captured: BigInt(captures?.captured_nanocredits ?? -1),
  }
}
