import type { Database } from './database.ts'

/** The blob store that a database names as its own. */
export interface KnownStore {
  storeId: string
  /** Its place when a process last started with it, for an operator: machine and folder. */
  location: string
}

/** Owns the table `blob_stores`, which has one row. All methods reject with `storage_unavailable`. */
export interface BlobStoresRepository {
  /** Null before the first start with payloads of its own. */
  load(): Promise<KnownStore | null>
  /** Names this store, unless the database names one already. */
  insert(store: KnownStore): Promise<void>
  /** Replaces the store with that id; does nothing when another process has changed it. */
  replace(storeId: string, store: KnownStore): Promise<void>
  /** Keys of the newest payloads that batches need. */
  listNeeded(limit: number): Promise<string[]>
}

/** The key of the only row. */
const name = 'payloads'

export function createBlobStoresRepository(database: Database): BlobStoresRepository {
  const change = async (unit: string, sql: string, params: string[]): Promise<void> => {
    await database.commit({ name: unit, statements: [{ sql, params }] })
  }
  return {
    async load() {
      const [row] = await database.query<{ store_id: string; location: string }>(
        'select store_id, location from blob_stores where name = $1',
        [name],
      )
      return row ? { storeId: row.store_id, location: row.location } : null
    },
    insert: ({ storeId, location }) =>
      change(
        'blobs.adopt',
        `insert into blob_stores (name, store_id, location, adopted_at_ms) values ($1, $2, $3, now_ms())
          on conflict (name) do nothing`,
        [name, storeId, location],
      ),
    replace: (before, { storeId, location }) =>
      change(
        'blobs.replace',
        `update blob_stores set store_id = $3, location = $4, adopted_at_ms = now_ms()
          where name = $1 and store_id = $2`,
        [name, before, storeId, location],
      ),
    async listNeeded(limit) {
      const rows = await database.query<{ blob: string }>(
        `select s.blob from segments s join batches b on b.batch_id = s.batch_id
          where b.deleted_at_ms is null order by s.batch_id desc, s.ordinal limit $1`,
        [limit],
      )
      return rows.map(({ blob }) => blob)
    },
  }
}
