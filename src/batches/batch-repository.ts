import type { Principal } from '../canonical/principal.ts'
import type { BatchId, OrganizationId } from '../core/ids.ts'
import type { Database, Row, Statement } from '../storage/database.ts'
import type {
  Batch,
  BatchEndpoint,
  BatchModel,
  LaneChoice,
  LaneName,
  LineFault,
  StoredStatus,
} from '../canonical/batch.ts'

/** A batch about to be accepted; times are set by the database. */
export interface NewBatch {
  id: BatchId
  principal: Principal
  endpoint: BatchEndpoint
  model: string
  models: readonly BatchModel[] | null
  providerOnly: readonly string[] | null
  laneChoice: LaneChoice
  lane: LaneName
  providerSlug: string | null
  totalItems: number
  requestBytes: number
  estimateNanocredits: bigint
  worstCaseNanocredits: bigint
  maxCostNanocredits: bigint | null
  budgetParents: readonly string[]
  betas: string | null
  origin: FileOrigin | null
  idempotencyId: string | null
  callbackUrl: string | null
  windowMs: number
}

/** A batch's place in the list of its organization's batches. */
export interface BatchPlace {
  id: BatchId
  createdAtMs: number
}

/** Where a batch comes from that was made of a file. */
export interface FileOrigin {
  inputFileId: string
  callerMetadata: Readonly<Record<string, string>> | null
}

/** Which batches to list, newest first. Bounds are exclusive, Unix milliseconds. */
export interface BatchQuery {
  organizationId: OrganizationId
  statuses: readonly StoredStatus[] | null
  createdAfterMs: number | null
  createdBeforeMs: number | null
  endpoint: BatchEndpoint | null
  /** The page begins after this batch. */
  after: BatchPlace | null
  /** The page ends before this batch: the batches that are next newer than it, still newest first. */
  before: BatchPlace | null
  limit: number
}

const terminal = `('completed', 'failed', 'expired', 'cancelled')`

/** Reads and statements of the table `batches`. The caller commits the statements in a unit of its own. */
export interface BatchRepository {
  /** A batch that is not deleted; null when there is none, or when it belongs to another organization. */
  load(id: BatchId, organizationId?: OrganizationId): Promise<Batch | null>
  /** Also a batch that was deleted, until its row is purged. */
  loadEvenDeleted(id: BatchId): Promise<Batch | null>
  list(query: BatchQuery): Promise<Batch[]>
  /** Those of these batches that are not deleted, in any order. */
  listOf(ids: readonly BatchId[]): Promise<Batch[]>
  /** A batch's place in the list, even if it was deleted since; null when this organization has no such batch. */
  loadPlace(id: BatchId, organizationId: OrganizationId): Promise<BatchPlace | null>
  /**
   * Batches that are not terminal, from `offset` on: the most urgent batch of each organization, then the second of each,
   * and so on.
   */
  listActive(limit: number, offset: number): Promise<Batch[]>
  /** Terminal batches older than the retention. */
  listRetired(ageMs: number, limit: number): Promise<Batch[]>
  /** Batches deleted at least this long ago, whose blobs and rows may go, the oldest first. */
  listDeleted(ageMs: number, page: { limit: number; offset: number }): Promise<BatchId[]>
  hasOverdue(): Promise<boolean>
  /** Items that the organization's batches still have to run. */
  countQueued(organizationId: OrganizationId): Promise<number>
}

const queuedItems = `select cast(coalesce(sum(total_items - completed_items - failed_items), 0) as bigint)
  from batches where organization_id = $1 and status not in ${terminal}`

/** The guard of `requireQueueRoom`. */
export const queueFullGuard = 'batch_queue_full'

/** After a batch was inserted: fails when the organization has more than `itemsMax` to run then. */
export function requireQueueRoom(batch: Pick<Batch, 'id' | 'organizationId'>, itemsMax: number): Statement {
  return {
    sql: `update batches set total_items = total_items where batch_id = $2 and (${queuedItems}) <= $3`,
    params: [batch.organizationId, batch.id, itemsMax],
    expect: 1,
    guard: queueFullGuard,
  }
}

export function createBatchRepository(database: Database): BatchRepository {
  return {
    async load(id, organizationId) {
      const [row] = await database.query(
        `select * from batches where batch_id = $1 and deleted_at_ms is null`,
        [id],
      )
      const batch = row === undefined ? null : toBatch(row)
      return batch && organizationId !== undefined && batch.organizationId !== organizationId ? null : batch
    },
    async loadEvenDeleted(id) {
      const [row] = await database.query('select * from batches where batch_id = $1', [id])
      return row === undefined ? null : toBatch(row)
    },
    async list(query) {
      const { sql, params } = listStatement(query)
      const found = (await database.query(sql, params)).map(toBatch)
      return query.before === null ? found : found.toReversed()
    },
    async listOf(ids) {
      if (ids.length === 0) return []
      const places = ids.map((_, index) => `$${index + 1}`).join(', ')
      const sql = `select * from batches where batch_id in (${places}) and deleted_at_ms is null`
      return (await database.query(sql, ids)).map(toBatch)
    },
    async loadPlace(id, organizationId) {
      const [row] = await database.query<{ created_at_ms: number }>(
        `select created_at_ms from batches where batch_id = $1 and organization_id = $2`,
        [id, organizationId],
      )
      return row === undefined ? null : { id, createdAtMs: row.created_at_ms }
    },
    async listActive(limit, offset) {
      const rows = await database.query(
        `select * from (
           select b.*, row_number() over (partition by organization_id order by expires_at_ms, batch_id) as place
           from batches b where status not in ${terminal}
         ) ranked order by place, expires_at_ms, batch_id limit $1 offset $2`,
        [limit, offset],
      )
      return rows.map(toBatch)
    },
    async listRetired(ageMs, limit) {
      const rows = await database.query(
        `select * from batches where created_at_ms < now_ms() - cast($1 as bigint) and deleted_at_ms is null and status in ${terminal}
         order by created_at_ms limit $2`,
        [ageMs, limit],
      )
      return rows.map(toBatch)
    },
    async listDeleted(ageMs, { limit, offset }) {
      const rows = await database.query<{ batch_id: string }>(
        `select batch_id from batches where deleted_at_ms < now_ms() - cast($1 as bigint)
         order by deleted_at_ms, batch_id limit $2 offset $3`,
        [ageMs, limit, offset],
      )
      return rows.map((row) => row.batch_id)
    },
    countQueued: (organizationId) => countQueuedItems(database, organizationId),
    async hasOverdue() {
      const rows = await database.query(
        `select batch_id from batches where status in ('validating', 'in_progress') and expires_at_ms <= now_ms() limit 1`,
      )
      return rows.length > 0
    },
  }
}

async function countQueuedItems(database: Database, organizationId: OrganizationId): Promise<number> {
  const sql = `select (${queuedItems}) as items`
  const [row] = await database.query<{ items: number | bigint }>(sql, [organizationId])
  return Number(row?.items ?? 0)
}

function listStatement(query: BatchQuery): { sql: string; params: (string | number)[] } {
  const params: (string | number)[] = []
  const parameter = (value: string | number): string => `$${params.push(value)}`
  const conditions = [`organization_id = ${parameter(query.organizationId)}`, 'deleted_at_ms is null']
  if (query.statuses) conditions.push(`status in (${query.statuses.map(parameter).join(', ')})`)
  if (query.createdAfterMs !== null) conditions.push(`created_at_ms > ${parameter(query.createdAfterMs)}`)
  if (query.createdBeforeMs !== null) conditions.push(`created_at_ms < ${parameter(query.createdBeforeMs)}`)
  if (query.after) {
    const { createdAtMs, id } = query.after
    conditions.push(`(created_at_ms, batch_id) < (${parameter(createdAtMs)}, ${parameter(id)})`)
  }
  if (query.endpoint !== null) conditions.push(`endpoint = ${parameter(query.endpoint)}`)
  if (query.before) {
    const { createdAtMs, id } = query.before
    conditions.push(`(created_at_ms, batch_id) > (${parameter(createdAtMs)}, ${parameter(id)})`)
  }
  const order =
    query.before === null ? 'order by created_at_ms desc, batch_id desc' : 'order by created_at_ms, batch_id'
  return {
    sql: `select * from batches where ${conditions.join(' and ')} ${order} limit ${parameter(query.limit)}`,
    params,
  }
}

/** Creates the batch, as `validating`. */
export function insertBatch(batch: NewBatch): Statement {
  return {
    sql: `insert into batches (batch_id, organization_id, key_id, endpoint, model, provider_json, completion_window,
        status, lane, created_at_ms, expires_at_ms, total_items, request_bytes, estimate_nanocredits,
        worst_case_nanocredits, max_cost_nanocredits, metadata_json, idempotency_id, provider_slug, lane_choice, callback_url)
      values ($1, $2, $3, $4, $5, $6, '24h', 'validating', $7, now_ms(), now_ms() + cast($8 as bigint), $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
      returning *`,
    params: [
      batch.id,
      batch.principal.organizationId,
      batch.principal.keyId,
      batch.endpoint,
      batch.model,
      batch.providerOnly === null ? null : JSON.stringify({ only: batch.providerOnly }),
      batch.lane,
      batch.windowMs,
      batch.totalItems,
      batch.requestBytes,
      batch.estimateNanocredits,
      batch.worstCaseNanocredits,
      batch.maxCostNanocredits,
      JSON.stringify({
        budget_parents: batch.budgetParents,
        ...(batch.betas === null ? {} : { betas: batch.betas }),
        ...(batch.models === null ? {} : { models: batch.models }),
        ...batch.origin,
      }),
      batch.idempotencyId,
      batch.providerSlug,
      batch.laneChoice,
      batch.callbackUrl,
    ],
  }
}

/** Creates a batch that has failed before anything of it could be accepted, because of the lines of its file. */
export function insertRefusedBatch(
  batch: Pick<NewBatch, 'id' | 'principal' | 'endpoint' | 'model' | 'windowMs'>,
  { origin, lineFaults }: { origin: FileOrigin | null; lineFaults: readonly LineFault[] },
): Statement {
  const message = `${lineFaults[0]?.message ?? 'The input file was refused.'}`
  return {
    sql: `insert into batches (batch_id, organization_id, key_id, endpoint, model, completion_window, status, lane,
        created_at_ms, expires_at_ms, finalized_at_ms, total_items, request_bytes, estimate_nanocredits,
        worst_case_nanocredits, error_json, metadata_json)
      values ($1, $2, $3, $4, $5, '24h', 'failed', 'emulated', now_ms(), now_ms() + cast($6 as bigint), now_ms(),
        0, 0, 0, 0, $7, $8)
      returning *`,
    params: [
      batch.id,
      batch.principal.organizationId,
      batch.principal.keyId,
      batch.endpoint,
      batch.model,
      batch.windowMs,
      JSON.stringify({ message, type: 'invalid_request' }),
      JSON.stringify({ ...origin, lineFaults }),
    ],
  }
}

/** The guard of every change of status: it fails when another process has changed the status first. */
export const statusGuard = 'batch_status'

/** Starts a validated batch in the lane that it has now. */
export function startBatch(id: BatchId, lane: LaneName): Statement {
  return {
    sql: `update batches set status = 'in_progress', started_at_ms = now_ms(), error_json = null, lane = $1
      where batch_id = $2 and status = 'validating'`,
    params: [lane, id],
    expect: 1,
    guard: statusGuard,
  }
}

/** Moves a batch from one status to the next; refused when it is no longer in `from`. */
export function moveBatch(id: BatchId, from: StoredStatus, to: StoredStatus): Statement {
  return {
    sql: `update batches set status = $1 where batch_id = $2 and status = $3`,
    params: [to, id, from],
    expect: 1,
    guard: statusGuard,
  }
}

/** Ends a batch in which nothing ran. */
export function failBatch(id: BatchId, errorJson: string): Statement {
  return {
    sql: `update batches set status = 'failed', error_json = $1, failed_items = total_items, finalized_at_ms = now_ms()
      where batch_id = $2 and status = 'validating'`,
    params: [errorJson, id],
    expect: 1,
    guard: statusGuard,
  }
}

/** Marks a running batch as failing, for good; refused when it has ended or `finalizeBatch` is ending it. */
export function beginFailing(id: BatchId, errorJson: string): Statement {
  return {
    sql: `update batches set status = 'failing', error_json = $1
      where batch_id = $2 and status in ('in_progress', 'cancelling', 'expiring')`,
    params: [errorJson, id],
    expect: 1,
    guard: statusGuard,
  }
}

/** Ends a failing batch: stored results stay counted, all other items have failed. */
export function endFailing(id: BatchId, usageJson: string | null): Statement {
  return {
    sql: `update batches set status = 'failed', usage_json = $1, failed_items = total_items - completed_items,
        finalized_at_ms = now_ms()
      where batch_id = $2 and status = 'failing'`,
    params: [usageJson, id],
    expect: 1,
    guard: statusGuard,
  }
}

/** Ends a batch whose segments are all done; refused before that, and the second time. */
export function finalizeBatch(
  id: BatchId,
  end: { from: StoredStatus; to: StoredStatus; usageJson: string; errorJson: string | null },
): Statement {
  return {
    sql: `update batches set status = $1, usage_json = $2, error_json = $3, finalized_at_ms = now_ms()
      where batch_id = $4 and status = $5
        and not exists (select 1 from segments where segments.batch_id = batches.batch_id and state <> 'done')
      returning *`,
    params: [end.to, end.usageJson, end.errorJson, id, end.from],
    expect: 1,
    guard: statusGuard,
  }
}

/** Asks for cancellation; refused unless the batch is still to run or running. */
export function cancelBatch(id: BatchId): Statement {
  return {
    sql: `update batches set status = 'cancelling', cancel_requested_at_ms = now_ms()
      where batch_id = $1 and status in ('validating', 'in_progress')`,
    params: [id],
    expect: 1,
    guard: statusGuard,
  }
}

/** Begins to close every batch whose deadline has passed by the database's clock. */
export function expireBatches(): Statement {
  return {
    sql: `update batches set status = 'expiring'
      where status in ('validating', 'in_progress') and expires_at_ms <= now_ms() returning batch_id`,
  }
}

/** Records what a running batch waits for; null when it waits no longer. */
export function noteWaiting(id: BatchId, errorJson: string | null): Statement {
  return {
    sql: `update batches set error_json = $1 where batch_id = $2 and status = 'in_progress'`,
    params: [errorJson, id],
  }
}

/** What a part adds to the counts of its batch; the members are those of `Batch`. */
export interface ItemCounts {
  completed: number
  failed: number
  cancelled: number
  expired: number
  outputBytes: number
  errorBytes: number
}

/**
 * Counts the items of a part. It locks the batch's row first, so that the parts of a batch become visible in their
 * order. It also clears the batch's waiting note, because an item was answered.
 */
export function countItems(id: BatchId, counts: ItemCounts): Statement {
  return {
    sql: `update batches set completed_items = completed_items + $1, failed_items = failed_items + $2,
        error_json = case when status = 'in_progress' and cast($1 as bigint) > 0 then null else error_json end,
        cancelled_items = cancelled_items + $4, expired_items = expired_items + $5,
        output_bytes = output_bytes + $6, error_bytes = error_bytes + $7
      where batch_id = $3 and status in ('in_progress', 'cancelling', 'expiring')`,
    params: [
      counts.completed,
      counts.failed,
      id,
      counts.cancelled,
      counts.expired,
      counts.outputBytes,
      counts.errorBytes,
    ],
    expect: 1,
    guard: statusGuard,
  }
}

/** Hides a terminal batch at once and for good. */
export function markDeleted(id: BatchId): Statement {
  return {
    sql: `update batches set deleted_at_ms = now_ms()
      where batch_id = $1 and deleted_at_ms is null and status in ${terminal}`,
    params: [id],
    expect: 1,
    guard: statusGuard,
  }
}

/** Removes the row of a batch whose segments and parts are gone. */
export function purgeBatch(id: BatchId): Statement {
  return { sql: `delete from batches where batch_id = $1 and deleted_at_ms is not null`, params: [id] }
}

/** What a row keeps in `metadata_json`: facts that no statement asks for. */
interface KeptMembers {
  budget_parents?: string[]
  betas?: string
  models?: BatchModel[]
  inputFileId?: string
  callerMetadata?: Record<string, string> | null
  lineFaults?: LineFault[]
}

/** A row of `batches` as a value. */
export function toBatch(row: Row): Batch {
  const kept = JSON.parse(String(row['metadata_json'])) as KeptMembers
  const provider = row['provider_json'] === null ? null : JSON.parse(String(row['provider_json']))
  return {
    id: String(row['batch_id']),
    organizationId: String(row['organization_id']),
    keyId: String(row['key_id']),
    endpoint: row['endpoint'] as BatchEndpoint,
    model: String(row['model']),
    models: kept.models ?? null,
    providerOnly: provider === null ? null : (provider.only as string[]),
    completionWindow: String(row['completion_window']),
    status: row['status'] as StoredStatus,
    laneChoice: row['lane_choice'] as LaneChoice,
    lane: row['lane'] as LaneName,
    createdAtMs: Number(row['created_at_ms']),
    startedAtMs: row['started_at_ms'] as number | null,
    finalizedAtMs: row['finalized_at_ms'] as number | null,
    cancelRequestedAtMs: row['cancel_requested_at_ms'] as number | null,
    expiresAtMs: Number(row['expires_at_ms']),
    totalItems: Number(row['total_items']),
    completedItems: Number(row['completed_items']),
    failedItems: Number(row['failed_items']),
    cancelledItems: Number(row['cancelled_items']),
    expiredItems: Number(row['expired_items']),
    outputBytes: Number(row['output_bytes']),
    errorBytes: Number(row['error_bytes']),
    estimateNanocredits: row['estimate_nanocredits'] as bigint,
    worstCaseNanocredits: row['worst_case_nanocredits'] as bigint,
    maxCostNanocredits: row['max_cost_nanocredits'] as bigint | null,
    budgetParents: kept.budget_parents ?? [],
    betas: kept.betas ?? null,
    inputFileId: kept.inputFileId ?? null,
    callerMetadata: kept.callerMetadata ?? null,
    lineFaults: kept.lineFaults ?? [],
    usageJson: row['usage_json'] as string | null,
    errorJson: row['error_json'] as string | null,
    requestBytes: Number(row['request_bytes']),
    providerSlug: row['provider_slug'] as string | null,
    callbackUrl: row['callback_url'] as string | null,
  }
}
