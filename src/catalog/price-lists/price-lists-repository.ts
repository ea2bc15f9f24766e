import { UniqueViolation, type Database } from '../../storage/database.ts'
import type { PriceList } from './price-list.ts'

/** Owns the table `price_lists`. */
export interface PriceListsRepository {
  /** The version in effect; 0 when no list was ever taken. */
  loadVersion(): Promise<number>
  /** The list in effect, or null when none was ever taken. */
  loadNewest(): Promise<PriceList | null>
  /** All lists without their contents, the newest first. */
  list(): Promise<Omit<PriceList, 'content'>[]>
  /** False when there is a list of this version already, because another process was first. */
  insert(list: PriceList): Promise<boolean>
}

/** Price lists in the given database, where every process of the gateway finds them. */
export function createPriceListsRepository(database: Database): PriceListsRepository {
  return {
    async loadVersion() {
      const [row] = await database.query<{ version: number }>(
        'select coalesce(max(version), 0) as version from price_lists',
      )
      return row?.version ?? 0
    },
    async loadNewest() {
      const [row] = await database.query<ListRow & { content: string }>(
        'select version, source, checksum, content, created_at_ms from price_lists order by version desc limit 1',
      )
      return row ? { ...toList(row), content: row.content } : null
    },
    async list() {
      const rows = await database.query<ListRow>(
        'select version, source, checksum, created_at_ms from price_lists order by version desc limit 100',
      )
      return rows.map(toList)
    },
    async insert({ version, source, checksum, content, createdAtMs }) {
      try {
        await database.commit({
          name: 'insert price list',
          statements: [
            {
              sql: `insert into price_lists (version, source, checksum, content, created_at_ms)
                values ($1, $2, $3, $4, $5)`,
              params: [version, source, checksum, content, createdAtMs],
            },
          ],
        })
        return true
      } catch (error) {
        if (error instanceof UniqueViolation) return false
        throw error
      }
    },
  }
}

interface ListRow {
  version: number
  source: string
  checksum: string
  created_at_ms: number
}

function toList(row: ListRow): Omit<PriceList, 'content'> {
  return {
    version: row.version,
    source: row.source,
    checksum: row.checksum,
    createdAtMs: row.created_at_ms,
  }
}
