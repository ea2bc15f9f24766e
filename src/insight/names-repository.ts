import type { Database } from '../storage/database.ts'

/** Names that people gave to what rows name by ids. Reads aside; rejects with `storage_unavailable`. */
export interface NamesRepository {
  /** Names of keys by their ids; a key that was deleted has none. */
  keyNames(organizationId: string, keyIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The ids of keys that are named by their id or by their hash; texts that name no key are left as they are. */
  keyIds(organizationId: string, texts: readonly string[]): Promise<string[]>
}

export function createNamesRepository(database: Database): NamesRepository {
  return {
    async keyNames(organizationId, keyIds) {
      const ids = [...new Set(keyIds)].filter((id) => id !== '')
      if (ids.length === 0) return new Map()
      const rows = await database.queryAside<{ key_id: string; name: string }>(
        `select key_id, name from api_keys where organization_id = $1 and key_id in (${placesOf(ids)})`,
        [organizationId, ...ids],
      )
      return new Map(rows.map(({ key_id, name }) => [key_id, name]))
    },
    async keyIds(organizationId, texts) {
      const hashes = texts.filter((text) => /^[0-9a-f]{64}$/.test(text))
      if (hashes.length === 0) return [...texts]
      const rows = await database.queryAside<{ key_hash: string; key_id: string }>(
        `select key_hash, key_id from api_keys where organization_id = $1 and key_hash in (${placesOf(hashes)})`,
        [organizationId, ...hashes],
      )
      const ids = new Map(rows.map(({ key_hash, key_id }) => [key_hash, key_id]))
      return texts.map((text) => ids.get(text) ?? text)
    },
  }
}

/** Parameters for a list, after the first one. */
function placesOf(values: readonly string[]): string {
  return values.map((_, index) => `$${index + 2}`).join(', ')
}
