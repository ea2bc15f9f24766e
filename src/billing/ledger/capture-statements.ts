import { dayOfTransaction } from '../../core/ids.ts'
import { toStoredPrice } from './capture-row.ts'
import type { CaptureDetails, CaptureRow } from './capture-row.ts'
import { organizationAccount, usageIncomeAccount } from './ledger-statements.ts'
import type { LedgerStatement, LedgerValue } from './ledger-statements.ts'

const safeMax = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * An amount for a column of whole numbers: the same stored value whether it travels as a number or, beyond 2^53, as a
 * bigint, but a number needs no conversion on its way. Not for arithmetic in SQL, which would become that of fractions.
 */
export function toWhole(amount: bigint): number | bigint {
  return amount <= safeMax && amount >= -safeMax ? Number(amount) : amount
}

const insertPricesSql = `insert into prices (price_id, price_json) values ($1, $2) on conflict (price_id) do nothing`

/** The prices of these captures, each written once for ever; in id order, so that units do not wait crosswise. */
export function insertPrices(rows: readonly CaptureRow[]): LedgerStatement {
  const prices = new Map(rows.map(({ price }) => [price, toStoredPrice(price)]))
  const values = [...prices.values()].map(({ priceId, json }) => [priceId, json])
  return {
    sql: insertPricesSql,
    rows: values.toSorted(([first = ''], [second = '']) => (first < second ? -1 : 1)),
  }
}

const usageColumns = [
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
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_milliseconds',
  'characters',
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
  'input_audio_tokens',
  'output_audio_tokens',
  'cache_write_hour_tokens',
  'audio_channels',
  'utf8_bytes',
]
const insertUsagesSql = `insert into usages (${usageColumns.join(', ')}) values (${usageColumns
  .map((_, index) => `$${index + 1}`)
  .join(', ')})`

/** One usage row per capture; a generation that is there already fails the unit. */
export function insertUsages(captures: readonly { row: CaptureRow; held: bigint }[]): LedgerStatement {
  return { sql: insertUsagesSql, rows: captures.map(({ row, held }) => usageValues(row, held)) }
}

const noDetails = '{}'

function usageValues(row: CaptureRow, held: bigint): readonly LedgerValue[] {
  const { usage } = row
  return [
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
    usage.inputTokens,
    usage.cachedInputTokens,
    usage.cacheWriteTokens,
    usage.outputTokens,
    usage.reasoningTokens,
    usage.audioMilliseconds,
    usage.characters,
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
    usage.inputAudioTokens,
    usage.outputAudioTokens,
    usage.cacheWriteHourTokens,
    usage.audioChannels,
    usage.utf8Bytes,
  ]
}

function detailsToJson(details: CaptureDetails): string {
  for (const _ in details) return JSON.stringify(details)
  return noDetails
}

/** Durations are measured with fractions and stored whole. */
function wholeOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds)
}

const insertPostingsSql = `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
  values ($1, $2, $3, $4, $5, 'capture')`

/** Both postings of every capture that cost something; a capture of nothing is a usage row only. */
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
