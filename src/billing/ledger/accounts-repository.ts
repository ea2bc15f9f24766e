import { dayOfTransaction } from '../../core/ids.ts'
import type { CaptureDetails, CaptureTry, ReportedCounts } from './capture-row.ts'
import type { Database } from '../../storage/database.ts'
import type { ModelStats } from '../metering/learning.ts'
import { refundTransactionIdsOf } from './capture-repository.ts'
import { usageIncomeAccount } from './ledger-statement.ts'
import { noUsage, usageColumns } from '../../canonical/usage.ts'
import type { AudioFeature, Usage } from '../../canonical/usage.ts'
import { keySubject, organizationSubject, spendingByDay } from './rollup-repository.ts'

/** One usage row for display. Amounts in nanocredits; the cost is what is left of it after refunds. */
export interface UsageRecord extends Usage {
  generationId: string
  organizationId: string
  keyId: string
  batchId: string | null
  operation: string
  model: string
  provider: string
  endpointId: string
  status: string
  isEstimated: boolean
  isUnpriced: boolean
  /** Requested features of a transcription that may carry a surcharge. */
  audioFeatures: readonly AudioFeature[]
  costNanocredits: bigint
  upstreamId: string | null
  finishReason: string | null
  nativeFinishReason: string | null
  /** The tier the provider said it used. */
  serviceTier: string | null
  /** The generation whose answer was given again; null for a call that a provider answered. */
  responseCacheSourceId: string | null
  /** The provider's own figures where they were not believed. */
  reported: ReportedCounts | null
  /** The application's address, from its `HTTP-Referer` header. */
  httpReferer: string | null
  appTitle: string | null
  userAgent: string | null
  /** Every attempt when there were several; null when there was one. */
  tries: readonly CaptureTry[] | null
  workspaceId: string
  streamed: boolean
  cancelled: boolean
  latencyMs: number | null
  generationMs: number | null
  sessionId: string | null
  userId: string | null
  requestId: string | null
  createdAtMs: number
}

/** Spending in nanocredits, in all and since the beginning of the day, week and month (UTC). */
export interface UsageTotals {
  total: bigint
  daily: bigint
  weekly: bigint
  monthly: bigint
}

/** A credits budget as it is: what was granted and what was used, charges of open leases included. */
export interface CreditsRecord {
  totalCredits: bigint
  totalUsage: bigint
}

/** The difference between a credits budget and the account's sums in the ledger, with the figures it was computed from. */
export interface CreditsDrift {
  limit: bigint
  spent: bigint
  /** What was added to the account, in all. */
  grants: bigint
  /** What was used according to the ledger, less refunds, and is missing in the budget. */
  unspent: bigint
}

/** Reads about accounts. Writes nothing but statistics. */
export interface AccountsRepository {
  loadNow(): Promise<number>
  loadAccountMode(organizationId: string): Promise<'prepaid' | 'tracked' | null>
  loadCredits(budgetId: string): Promise<CreditsRecord | null>
  /** Null when the budget was never used. `account` is the organization's in the ledger. Sums all of its postings. */
  loadCreditsDrift(budgetId: string, account: string): Promise<CreditsDrift | null>
  /** Spent in one budget, with what open leases captured; null when it was never used. */
  loadSpent(budgetId: string): Promise<bigint | null>
  sumUsage(organizationId: string): Promise<bigint>
  /** `since`: Unix milliseconds of a midnight each (UTC). */
  sumKeyUsage(keyId: string, since: { day: number; week: number; month: number }): Promise<UsageTotals>
  /** `day`: the day under which the refund is filed. */
  hasRefund(transactionId: string, day: number): Promise<boolean>
  findUsage(generationId: string): Promise<UsageRecord | null>
  listUsages(organizationId: string, limit: number): Promise<UsageRecord[]>
  loadModelStats(limit: number): Promise<ModelStats[]>
  saveModelStats(name: string, stats: readonly ModelStats[]): Promise<void>
}

export function createAccountsRepository(database: Database): AccountsRepository {
  return {
    loadNow: async () =>
      (await database.query<{ now_ms: number }>('select now_ms() as now_ms'))[0]?.now_ms ?? 0,
    loadAccountMode: (organizationId) => loadAccountMode(database, organizationId),
    loadCredits: (budgetId) => loadCredits(database, budgetId),
    loadCreditsDrift: (budgetId, account) => loadCreditsDrift(database, budgetId, account),
    loadSpent: (budgetId) => loadSpent(database, budgetId),
    sumUsage: (organizationId) => sumUsage(database, organizationId),
    sumKeyUsage: (keyId, since) => sumKeyUsage(database, keyId, since),
    hasRefund: async (transactionId, day) => {
      const rows = await database.query(
        'select 1 as found from postings where account = $1 and day = $2 and transaction_id = $3',
        [usageIncomeAccount, day, transactionId],
      )
      return rows.length > 0
    },
    findUsage: async (generationId) => {
      const [row] = await selectUsages(database, 'day = $1 and generation_id = $2', [
        dayOfTransaction(generationId),
        generationId,
      ])
      return row ?? null
    },
    listUsages: (organizationId, limit) =>
      selectUsages(
        database,
        'organization_id = $1 order by created_at_ms desc, generation_id desc limit $2',
        [organizationId, limit],
      ),
    loadModelStats: (limit) => loadModelStats(database, limit),
    saveModelStats: (name, stats) => saveModelStats(database, name, stats),
  }
}

async function loadAccountMode(
  database: Database,
  organizationId: string,
): Promise<'prepaid' | 'tracked' | null> {
  const rows = await database.query<{ account_mode: 'prepaid' | 'tracked' }>(
    'select account_mode from organizations where organization_id = $1',
    [organizationId],
  )
  return rows[0]?.account_mode ?? null
}

/** Captured in the open leases of the budget `b`. */
const openCaptured = `coalesce((select cast(sum(l.captured_nanocredits) as bigint) from leases l
  where l.budget_id = b.budget_id and l.state <> 'closed'), 0)`

/** Spent by batches that were carved out of the budget `$1` and have not ended, open leases included. */
const openBatches = `coalesce((select cast(sum(b.spent_nanocredits + ${openCaptured}) as bigint) from budgets b
  where b.kind = 'batch' and b.closed = 0 and b.organization_id = parent.organization_id
    and replace(b.parents_json, '"' || parent.budget_id || '"', '') <> b.parents_json), 0)`

/** What was spent of the budget `parent`: by itself, in open leases and by open batches. */
const parentUsed = `parent.spent_nanocredits + ${openCaptured.replaceAll('b.budget_id', 'parent.budget_id')}
  + ${openBatches}`

async function loadCredits(database: Database, budgetId: string): Promise<CreditsRecord | null> {
  const rows = await database.query<{ limit_nanocredits: bigint; used_nanocredits: bigint }>(
    `select parent.limit_nanocredits, ${parentUsed} as used_nanocredits
     from budgets parent where parent.budget_id = $1`,
    [budgetId],
  )
  const [row] = rows
  return row ? { totalCredits: row.limit_nanocredits, totalUsage: row.used_nanocredits } : null
}

async function loadCreditsDrift(
  database: Database,
  budgetId: string,
  account: string,
): Promise<CreditsDrift | null> {
  const [row] = await database.query<DriftRow>(
    `select parent.limit_nanocredits, parent.spent_nanocredits, ${parentUsed} as used_nanocredits,
       coalesce((select cast(sum(amount_nanocredits) as bigint) from postings
         where account = $2 and kind = 'grant'), 0) as granted_nanocredits,
       coalesce((select cast(sum(amount_nanocredits) as bigint) from postings
         where account = $2 and kind <> 'grant'), 0) as charged_nanocredits
     from budgets parent where parent.budget_id = $1`,
    [budgetId, account],
  )
  if (!row) return null
  return {
    limit: row.limit_nanocredits,
    spent: row.spent_nanocredits,
    grants: row.granted_nanocredits,
    unspent: -row.charged_nanocredits - row.used_nanocredits,
  }
}

interface DriftRow {
  limit_nanocredits: bigint
  spent_nanocredits: bigint
  used_nanocredits: bigint
  granted_nanocredits: bigint
  charged_nanocredits: bigint
}

async function loadSpent(database: Database, budgetId: string): Promise<bigint | null> {
  return (await loadCredits(database, budgetId))?.totalUsage ?? null
}

async function sumUsage(database: Database, organizationId: string): Promise<bigint> {
  const rows = await database.query<{ sum_nanocredits: bigint }>(
    `select cast(coalesce(sum(cost_nanocredits), 0) as bigint) as sum_nanocredits
     from (${spendingByDay('organization_id', '$1', '$2')}) as spent`,
    [organizationSubject(organizationId), organizationId],
  )
  return rows[0]?.sum_nanocredits ?? 0n
}

function sumSince(parameter: string): string {
  return `cast(coalesce(sum(case when day >= ${parameter} then cost_nanocredits else 0 end), 0) as bigint)`
}

async function sumKeyUsage(
  database: Database,
  keyId: string,
  since: { day: number; week: number; month: number },
): Promise<UsageTotals> {
  const rows = await database.query<TotalsRow>(
    `select cast(coalesce(sum(cost_nanocredits), 0) as bigint) as total_nanocredits,
       ${sumSince('$3')} as daily_nanocredits, ${sumSince('$4')} as weekly_nanocredits,
       ${sumSince('$5')} as monthly_nanocredits
     from (${spendingByDay('key_id', '$1', '$2')}) as spent`,
    [keySubject(keyId), keyId, toDay(since.day), toDay(since.week), toDay(since.month)],
  )
  const [row] = rows
  return {
    total: row?.total_nanocredits ?? 0n,
    daily: row?.daily_nanocredits ?? 0n,
    weekly: row?.weekly_nanocredits ?? 0n,
    monthly: row?.monthly_nanocredits ?? 0n,
  }
}

/** Windows begin at midnight, so whole days add up to them. */
function toDay(windowStartMs: number): number {
  return windowStartMs / 86_400_000
}

interface TotalsRow {
  total_nanocredits: bigint
  daily_nanocredits: bigint
  weekly_nanocredits: bigint
  monthly_nanocredits: bigint
}

interface UsageRow extends Readonly<Record<keyof typeof usageColumns, number | null>> {
  generation_id: string
  organization_id: string
  workspace_id: string
  key_id: string
  batch_id: string | null
  operation: string
  model: string
  provider: string
  endpoint_id: string
  status: string
  is_estimated: number
  is_unpriced: number
  cost_nanocredits: bigint
  upstream_id: string | null
  finish_reason: string | null
  native_finish_reason: string | null
  details_json: string
  streamed: number
  cancelled: number
  latency_ms: number | null
  generation_ms: number | null
  session_id: string | null
  user_id: string | null
  request_id: string | null
  created_at_ms: number
}

/** The refunded part of a row of `usages`. */
const refunded = `coalesce((select cast(sum(amount_nanocredits) as bigint) from postings
  where account = 'organization:' || usages.organization_id and postings.day = usages.day
    and transaction_id in (${refundTransactionIdsOf('usages.generation_id')})), 0)`

async function selectUsages(
  database: Database,
  condition: string,
  params: readonly (string | number)[],
): Promise<UsageRecord[]> {
  const rows = await database.query<UsageRow>(
    `select generation_id, organization_id, workspace_id, key_id, batch_id, operation, model, provider, endpoint_id, status,
       is_estimated, is_unpriced, ${Object.keys(usageColumns).join(', ')}, cost_nanocredits - ${refunded} as cost_nanocredits, upstream_id, finish_reason, native_finish_reason, details_json, streamed,
       cancelled, latency_ms, generation_ms, session_id, user_id, request_id, created_at_ms
     from usages where ${condition}`,
    params,
  )
  return rows.map(toUsageRecord)
}

function toUsageRecord(row: UsageRow): UsageRecord {
  const details = JSON.parse(row.details_json) as CaptureDetails
  return {
    generationId: row.generation_id,
    organizationId: row.organization_id,
    keyId: row.key_id,
    batchId: row.batch_id,
    operation: row.operation,
    model: row.model,
    provider: row.provider,
    endpointId: row.endpoint_id,
    status: row.status,
    isEstimated: row.is_estimated === 1,
    isUnpriced: row.is_unpriced === 1,
    ...countsOf(row),
    audioFeatures: details.audio_features ?? [],
    costNanocredits: row.cost_nanocredits,
    upstreamId: row.upstream_id,
    finishReason: row.finish_reason,
    nativeFinishReason: row.native_finish_reason,
    serviceTier: details.service_tier ?? null,
    responseCacheSourceId: details.response_cache_source_id ?? null,
    reported: details.reported ?? null,
    httpReferer: details.http_referer ?? null,
    appTitle: details.app_title ?? null,
    userAgent: details.user_agent ?? null,
    tries: details.tries ?? null,
    workspaceId: row.workspace_id,
    streamed: row.streamed === 1,
    cancelled: row.cancelled === 1,
    latencyMs: row.latency_ms,
    generationMs: row.generation_ms,
    sessionId: row.session_id,
    userId: row.user_id,
    requestId: row.request_id,
    createdAtMs: row.created_at_ms,
  }
}

function countsOf(row: UsageRow): Usage {
  const counts = Object.entries(usageColumns) as [keyof typeof usageColumns, keyof Usage][]
  return { ...noUsage, ...Object.fromEntries(counts.map(([column, count]) => [count, row[column] ?? 0])) }
}

async function loadModelStats(database: Database, limit: number): Promise<ModelStats[]> {
  const rows = await database.query<{
    organization_id: string
    model: string
    sample_count: number
    ratio_ppm: number
    output_p90: number
  }>(
    `select organization_id, model, sample_count, ratio_ppm, output_p90 from model_stats
     order by updated_at_ms desc limit $1`,
    [limit],
  )
  return rows.map((row) => ({
    organizationId: row.organization_id,
    model: row.model,
    sampleCount: row.sample_count,
    ratioPpm: row.ratio_ppm,
    outputP90: row.output_p90,
  }))
}

async function saveModelStats(database: Database, name: string, stats: readonly ModelStats[]): Promise<void> {
  if (stats.length === 0) return
  await database.commit({
    name,
    statements: [
      {
        sql: `insert into model_stats (organization_id, model, sample_count, ratio_ppm, output_p90, updated_at_ms)
          values ($1, $2, $3, $4, $5, now_ms()) on conflict (organization_id, model) do update set
          sample_count = excluded.sample_count, ratio_ppm = excluded.ratio_ppm, output_p90 = excluded.output_p90,
          updated_at_ms = excluded.updated_at_ms`,
        rows: stats.map((row) => [
          row.organizationId,
          row.model,
          row.sampleCount,
          row.ratioPpm,
          row.outputP90,
        ]),
      },
    ],
  })
}
