import type { Database } from '../../storage/database.ts'

/** The groups for sums of usage: a day (UTC), the key, the model, the caller's own `user`, the provider. */
export const usageGroups = ['day', 'key', 'model', 'user', 'provider'] as const
/** One of them. */
export type UsageGroup = (typeof usageGroups)[number]

/** The sum of the usage rows of one group. */
export interface UsageGroupSum {
  /** The values of the groups, in the requested order: days since 1970, ids, names; null when a row has none. */
  values: readonly (string | number | null)[]
  requests: number
  inputTokens: number
  outputTokens: number
  /** Parts of the input tokens: read from the provider's cache, and written to it; the last is a part of those written. */
  cachedTokens: number
  cacheWriteTokens: number
  cacheWriteHourTokens: number
  audioMilliseconds: number
  characters: number
  /** Rows with estimated usage or surcharge, and rows with a unit without a price. */
  estimated: number
  unpriced: number
  costNanocredits: bigint
}

/** The rows to sum, and their grouping. */
export interface UsageQuestion {
  organizationId: string
  by: readonly UsageGroup[]
  sinceMs: number
  limit: number
}

/** Reads the usage rows; writes nothing. */
export interface UsageRepository {
  /** Ordered by falling cost; with groups of days, by day. The database computes the sums. */
  sum(question: UsageQuestion): Promise<UsageGroupSum[]>
}

const columnOf: Readonly<Record<UsageGroup, string>> = {
  day: 'day',
  key: 'key_id',
  model: 'model',
  user: 'user_id',
  provider: 'provider',
}

interface SumRow extends Record<string, unknown> {
  requests: number
  input_tokens: number
  output_tokens: number
  cached_input_tokens: number
  cache_write_tokens: number
  cache_write_hour_tokens: number
  audio_milliseconds: number
  characters: number
  estimated: number
  unpriced: number
  cost_nanocredits: bigint
}

const sums = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'cache_write_hour_tokens',
  'audio_milliseconds',
  'characters',
]

/** Usage from the gateway's own tables. */
export function createUsageRepository(database: Database): UsageRepository {
  return {
    async sum({ organizationId, by, sinceMs, limit }) {
      const columns = by.map((group) => columnOf[group])
      const grouped = columns.length === 0 ? '' : `group by ${columns.join(', ')}`
      const order = by.includes('day') ? 'day, cost_nanocredits desc' : 'cost_nanocredits desc'
      const rows = await database.query<SumRow>(
        `select ${[...columns, ''].join(', ')} count(*) as requests,
          ${sums.map((name) => `cast(coalesce(sum(${name}), 0) as bigint) as ${name}`).join(', ')},
          cast(coalesce(sum(is_estimated), 0) as bigint) as estimated,
          cast(coalesce(sum(is_unpriced), 0) as bigint) as unpriced,
          cast(coalesce(sum(cost_nanocredits), 0) as bigint) as cost_nanocredits
          from usages where organization_id = $1 and created_at_ms >= $2
          ${grouped} order by ${columns.length === 0 ? 'requests' : order} limit $3`,
        [organizationId, sinceMs, limit],
      )
      return rows.map((row) => ({
        values: columns.map((column) => row[column] as string | number | null),
        requests: row.requests,
        inputTokens: row.input_tokens,
        outputTokens: row.output_tokens,
        cachedTokens: row.cached_input_tokens,
        cacheWriteTokens: row.cache_write_tokens,
        cacheWriteHourTokens: row.cache_write_hour_tokens,
        audioMilliseconds: row.audio_milliseconds,
        characters: row.characters,
        estimated: row.estimated,
        unpriced: row.unpriced,
        costNanocredits: row.cost_nanocredits,
      }))
    },
  }
}
