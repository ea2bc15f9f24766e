import type { Database, Row, Statement } from '../../storage/database.ts'

/** Every unit of the response cache. A crash at any of them loses at most an entry, and never gives a wrong one. */
export const cacheCommitPoints = { keep: 'cache.keep', drop: 'cache.drop', trim: 'cache.trim' } as const

/** Keys of one statement. */
const removedAtOnce = 100

/** An answer that is kept. */
export interface CachedAnswer {
  readonly key: string
  readonly organizationId: string
  readonly blob: string
  readonly bytes: number
  /** The generation whose answer it is. */
  readonly generationId: string
  readonly model: string
  readonly provider: string
  readonly providerName: string
  readonly endpointId: string
  readonly finishReason: string | null
  readonly nativeFinishReason: string | null
  readonly ttlSeconds: number
}

/** The same with its age by the database's clock. */
export interface FoundAnswer extends CachedAnswer {
  readonly ageMs: number
}

/** Reads and units of the table `cached_answers`. Units return the blobs that no row names any more. */
export interface CachedAnswerRepository {
  /** The entry of a key; null when there is none, or its time is over. */
  load(key: string): Promise<FoundAnswer | null>
  /** Keeps an answer in place of the one before. */
  keep(answer: CachedAnswer): Promise<string[]>
  drop(key: string): Promise<string[]>
  /** Removes entries whose time is over. */
  removeExpired(limit: number): Promise<string[]>
  remove(keys: readonly string[]): Promise<string[]>
  /** Entries in the order in which they were kept, after this one. */
  listOldest(after: Pick<KeptEntry, 'createdAtMs' | 'key'>, limit: number): Promise<KeptEntry[]>
  /** What each organization has. */
  listSizes(): Promise<{ organizationId: string; bytes: number; entries: number }[]>
}

/** An entry as far as the bounds are concerned. */
export interface KeptEntry {
  readonly key: string
  readonly organizationId: string
  readonly bytes: number
  readonly createdAtMs: number
}

export function createCachedAnswerRepository(database: Database): CachedAnswerRepository {
  return { ...forAnswers(database), ...forBounds(database) }
}

function forAnswers(database: Database): Pick<CachedAnswerRepository, 'load' | 'keep' | 'drop'> {
  return {
    async load(key) {
      const [row] = await database.query(
        `select cached_answers.*, now_ms() - created_at_ms as age_ms from cached_answers
         where cache_key = $1 and expires_at_ms > now_ms()`,
        [key],
      )
      return row === undefined ? null : toFound(row)
    },
    async keep(answer) {
      const [replaced] = await database.commit({
        name: cacheCommitPoints.keep,
        statements: [
          { sql: 'delete from cached_answers where cache_key = $1 returning blob', params: [answer.key] },
          {
            sql: `insert into cached_answers (cache_key, organization_id, blob, bytes, generation_id, model, provider,
                provider_name, endpoint_id, finish_reason, native_finish_reason, ttl_seconds, created_at_ms, expires_at_ms)
              values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now_ms(), now_ms() + cast($13 as bigint))`,
            params: [
              answer.key,
              answer.organizationId,
              answer.blob,
              answer.bytes,
              answer.generationId,
              answer.model,
              answer.provider,
              answer.providerName,
              answer.endpointId,
              answer.finishReason,
              answer.nativeFinishReason,
              answer.ttlSeconds,
              answer.ttlSeconds * 1_000,
            ],
          },
        ],
      })
      return blobsOf(replaced)
    },
    async drop(key) {
      const [dropped] = await database.commit({
        name: cacheCommitPoints.drop,
        statements: [
          { sql: 'delete from cached_answers where cache_key = $1 returning blob', params: [key] },
        ],
      })
      return blobsOf(dropped)
    },
  }
}

function forBounds(
  database: Database,
): Pick<CachedAnswerRepository, 'removeExpired' | 'remove' | 'listOldest' | 'listSizes'> {
  const remove = async (keys: readonly string[]): Promise<string[]> => {
    if (keys.length === 0) return []
    const statements: Statement[] = []
    for (let start = 0; start < keys.length; start += removedAtOnce) {
      const some = keys.slice(start, start + removedAtOnce)
      const list = some.map((_, index) => `$${index + 1}`).join(', ')
      statements.push({
        sql: `delete from cached_answers where cache_key in (${list}) returning blob`,
        params: some,
      })
    }
    const removed = await database.commit({ name: cacheCommitPoints.trim, statements })
    return blobsOf(removed.flat())
  }
  return {
    async removeExpired(limit) {
      const expired = await database.query<{ cache_key: string }>(
        `select cache_key from cached_answers where expires_at_ms <= now_ms() order by expires_at_ms limit $1`,
        [limit],
      )
      return remove(expired.map((row) => row.cache_key))
    },
    async listOldest({ createdAtMs, key }, limit) {
      const rows = await database.query(
        `select cache_key, organization_id, bytes, created_at_ms from cached_answers
         where created_at_ms > cast($1 as bigint) or (created_at_ms = cast($1 as bigint) and cache_key > cast($2 as text))
         order by created_at_ms, cache_key limit $3`,
        [createdAtMs, key, limit],
      )
      return rows.map((row) => ({
        key: String(row['cache_key']),
        organizationId: String(row['organization_id']),
        bytes: Number(row['bytes']),
        createdAtMs: Number(row['created_at_ms']),
      }))
    },
    remove,
    async listSizes() {
      const rows = await database.query(
        `select organization_id, cast(sum(bytes) as bigint) as bytes, count(*) as entries from cached_answers
         group by organization_id`,
      )
      return rows.map((row) => ({
        organizationId: String(row['organization_id']),
        bytes: Number(row['bytes']),
        entries: Number(row['entries']),
      }))
    },
  }
}

function toFound(row: Row): FoundAnswer {
  return {
    key: String(row['cache_key']),
    organizationId: String(row['organization_id']),
    blob: String(row['blob']),
    bytes: Number(row['bytes']),
    generationId: String(row['generation_id']),
    model: String(row['model']),
    provider: String(row['provider']),
    providerName: String(row['provider_name']),
    endpointId: String(row['endpoint_id']),
    finishReason: row['finish_reason'] as string | null,
    nativeFinishReason: row['native_finish_reason'] as string | null,
    ttlSeconds: Number(row['ttl_seconds']),
    ageMs: Math.max(0, Number(row['age_ms'])),
  }
}

function blobsOf(rows: readonly Row[] | undefined): string[] {
  return (rows ?? []).map((row) => String(row['blob']))
}
