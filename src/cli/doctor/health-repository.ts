import { refundTransactionId } from '../../billing/ledger/capture-repository.ts'
import { payloadKinds, writtenAtMs } from '../../batches/results/payloads.ts'
import { refusedCallsShownMs } from '../../core/limits/billing.ts'
import { cliListMax } from '../../core/limits/cli.ts'
import { blobListMax } from '../../core/limits/storage.ts'
import { dayOfTransaction } from '../../core/ids.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { listRefusalNotes } from '../../storage/refusal-notes.ts'
import type { Database } from '../../storage/database.ts'
import type { WaitingLine } from '../batch/waiting-lines.ts'
import type { DialectName } from '../../storage/dialect.ts'

/** The most blobs that `headrace doctor` reads, so that it ends on any store. */
const doctorBlobsMax = 100_000

/** The blob store as `headrace doctor` receives it. */
export type CliBlobs = Pick<BlobStore, 'list'>

/** The facts that `headrace doctor` reads from the database. */
export interface HealthFacts {
  dialect: DialectName
  /** The database's clock, Unix milliseconds. */
  nowMs: number
  /** Captures that storage refused and that an operator must look at. */
  deadLetters: number
  /** Calls in the last `refusedCallsShownMs` that were answered and then refused, and their cost to the operator. */
  refusedCalls: number
  refusedNanocredits: bigint
  /** Blobs that should have been deleted more than a day ago. */
  overdueDeletions: number
  /** Batches that are not terminal, and those among them more than ten minutes past their deadline. */
  runningBatches: number
  overdueBatches: number
  organizations: number
}

const dayMs = 86_400_000
const batchGraceMs = 600_000

const isRecent = `created_at_ms >= now_ms() - ${refusedCallsShownMs}`

/** Reads the facts in one round. Rejects with `storage_unavailable`. */
export async function loadHealthFacts(database: Database): Promise<HealthFacts> {
  const running = `status not in ('completed', 'failed', 'expired', 'cancelled') and deleted_at_ms is null`
  const [row] = await database.query<{
    now: number
    dead_letters: number
    refused_calls: number
    refused_nanocredits: bigint
    overdue_deletions: number
    running: number
    overdue: number
    organizations: number
  }>(
    `select now_ms() as now,
      (select count(*) from usage_dead_letters) as dead_letters,
      (select count(*) from refused_calls where ${isRecent}) as refused_calls,
      (select cast(coalesce(sum(cost_nanocredits), 0) as bigint) from refused_calls where ${isRecent}) as refused_nanocredits,
      (select count(*) from blob_deletions where due_at_ms < now_ms() - ${dayMs}) as overdue_deletions,
      (select count(*) from batches where ${running}) as running,
      (select count(*) from batches where ${running} and expires_at_ms < now_ms() - ${batchGraceMs}) as overdue,
      (select count(*) from organizations where deleted_at_ms is null) as organizations`,
  )
  return {
    dialect: database.dialect,
    nowMs: row?.now ?? 0,
    deadLetters: row?.dead_letters ?? 0,
    refusedCalls: row?.refused_calls ?? 0,
    refusedNanocredits: row?.refused_nanocredits ?? 0n,
    overdueDeletions: row?.overdue_deletions ?? 0,
    runningBatches: row?.running ?? 0,
    overdueBatches: row?.overdue ?? 0,
    organizations: row?.organizations ?? 0,
  }
}

/** A call that was answered and then refused, because its charge could not be recorded in time. */
export interface RefusedCall {
  generationId: string
  provider: string
  model: string
  costNanocredits: bigint
  /** Whether its charge was never written, or was written and refunded. */
  outcome: string
  createdAtMs: number
}

/** The newest such calls in the last `refusedCallsShownMs`. */
export async function listRefusedCalls(database: Database, limit: number): Promise<RefusedCall[]> {
  const rows = await database.query<{
    generation_id: string
    provider: string
    model: string
    cost_nanocredits: bigint
    outcome: string
    created_at_ms: number
  }>(
    `select generation_id, provider, model, cost_nanocredits, outcome, created_at_ms from refused_calls
     where ${isRecent} order by created_at_ms desc, generation_id desc limit $1`,
    [limit],
  )
  return rows.map((row) => ({
    generationId: row.generation_id,
    provider: row.provider,
    model: row.model,
    costNanocredits: row.cost_nanocredits,
    outcome: row.outcome,
    createdAtMs: row.created_at_ms,
  }))
}

/** Refused calls that a process noted in its data folder before it died, and for which callers were charged. */
export async function listChargedRefusals(database: Database, dataFolder: string): Promise<string[]> {
  const charged: string[] = []
  for (const generationId of await listRefusalNotes(dataFolder)) {
    const rows = await database.query(
      `select 1 as found from usages where day = $1 and generation_id = $2 and cost_nanocredits > 0
         and not exists (select 1 from postings where account = 'organization:' || usages.organization_id
           and postings.day = usages.day and transaction_id = $3)`,
      [dayOfTransaction(generationId), generationId, refundTransactionId({ generationId, sequence: 1 })],
    )
    if (rows.length > 0) charged.push(generationId)
  }
  return charged
}

/** Providers of which at least so many calls of the last hour ended there, all of them with a failure. */
export async function listFailingProviders(
  database: Database,
  callsMin: number,
): Promise<{ provider: string; calls: number }[]> {
  return database.query<{ provider: string; calls: number }>(
    `select provider, cast(sum(requests) as bigint) as calls from request_rollups
      where minutes = 15 and slot >= now_ms() / 900000 - 4 and provider <> ''
      group by provider having sum(failed) = sum(requests) and sum(requests) >= $1 order by provider`,
    [callsMin],
  )
}

/** A batch with waiting items. */
export interface WaitingBatch extends WaitingLine {
  batchId: string
}

/** Why items of batches wait, the longest waits first; at most `cliListMax`. */
export async function listWaiting(database: Database): Promise<WaitingBatch[]> {
  const rows = await database.query(
    `select batch_id, error_type, max(message) as message, cast(sum(items) as bigint) as items,
       min(since_ms) as since_ms, min(next_try_ms) as next_try_ms
     from waiting_items group by batch_id, error_type order by since_ms, batch_id, error_type limit ${cliListMax}`,
  )
  return rows.map((row) => ({
    batchId: String(row['batch_id']),
    type: String(row['error_type']),
    message: String(row['message']),
    items: Number(row['items']),
    sinceMs: Number(row['since_ms']),
    nextTryMs: Number(row['next_try_ms']),
  }))
}

/** The number of blobs without a row, and of blobs that were read. */
export interface BlobFacts {
  looked: number
  orphaned: number
}

/**
 * Counts blobs without a row that are older than two days, the age at which the gateway removes them; younger ones may
 * belong to a running upload. Reads at most `doctorBlobsMax`.
 */
export async function countOrphanedBlobs(
  database: Database,
  blobs: CliBlobs,
  nowMs: number,
): Promise<BlobFacts> {
  const facts: BlobFacts = { looked: 0, orphaned: 0 }
  for (const kind of payloadKinds) {
    let after: string | undefined
    while (facts.looked < doctorBlobsMax) {
      const page = await blobs.list(`${kind}/`, {
        limit: blobListMax / 2,
        ...(after === undefined ? {} : { after }),
      })
      const last = page.at(-1)
      if (last === undefined) break
      after = last
      facts.looked += page.length
      const old = page.filter((blob) => writtenAtMs(blob) < nowMs - 2 * dayMs)
      facts.orphaned += (await listUnnamedBlobs(database, old)).length
    }
  }
  return facts
}

/** The blobs without a row, among one page of them. */
async function listUnnamedBlobs(database: Database, blobs: readonly string[]): Promise<string[]> {
  if (blobs.length === 0) return []
  const list = blobs.map((_, index) => `$${index + 1}`).join(', ')
  const rows = await database.query<{ blob: string }>(
    `select blob from segments where blob in (${list})
     union select merged_blob as blob from segments where merged_blob in (${list})
     union select blob from parts where blob in (${list})
     union select blob from blob_deletions where blob in (${list})
     union select results_blob as blob from batches where results_blob in (${list})
     union select results_index_blob as blob from batches where results_index_blob in (${list})`,
    blobs,
  )
  const named = new Set(rows.map((row) => row.blob))
  return blobs.filter((blob) => !named.has(blob))
}
