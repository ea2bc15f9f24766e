import type { Database, Statement } from '../../storage/database.ts'

/** Reads of the table `blob_deletions`: blobs that were seen without a row, to be looked at again later. */
export interface BlobDeletionRepository {
  /** `unseen`: not seen without a row before. `waiting`: seen so lately. `due`: seen so long enough ago to be deleted. */
  stateOf(blob: string): Promise<'unseen' | 'waiting' | 'due'>
}

export function createBlobDeletionRepository(database: Database): BlobDeletionRepository {
  return {
    async stateOf(blob) {
      const [row] = await database.query<{ is_due: number }>(
        `select case when due_at_ms <= now_ms() then 1 else 0 end as is_due from blob_deletions where blob = $1`,
        [blob],
      )
      if (row === undefined) return 'unseen'
      return row.is_due === 1 ? 'due' : 'waiting'
    },
  }
}

/** Remembers that a blob was seen without a row. */
export function noteOrphan(blob: string, waitMs: number): Statement {
  return {
    sql: `insert into blob_deletions (blob, due_at_ms) values ($1, now_ms() + cast($2 as bigint))
      on conflict (blob) do nothing`,
    params: [blob, waitMs],
  }
}

/** Forgets a blob that was deleted or has a row after all. */
export function forgetOrphan(blob: string): Statement {
  return { sql: `delete from blob_deletions where blob = $1`, params: [blob] }
}
