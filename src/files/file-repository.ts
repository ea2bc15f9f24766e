import type { StoredFile } from '../canonical/file.ts'
import { resultFileId } from '../canonical/file.ts'
import type { BatchId, OrganizationId } from '../core/ids.ts'
import type { Database, Row, Statement } from '../storage/database.ts'

/** Which files to list. */
export interface FileQuery {
  organizationId: OrganizationId
  purpose: string | null
  after: Pick<StoredFile, 'id' | 'createdAtMs'> | null
  order: 'asc' | 'desc'
  limit: number
}

/** Reads of the table `files`. A file that has expired is not found. */
export interface FileRepository {
  load(id: string, organizationId: OrganizationId): Promise<StoredFile | null>
  list(query: FileQuery): Promise<StoredFile[]>
  /** Files that have expired, with their blobs. */
  listExpired(limit: number): Promise<StoredFile[]>
  /** Whether a file has this blob. */
  isReferenced(blob: string): Promise<boolean>
}

const isAlive = '(expires_at_ms is null or expires_at_ms > now_ms())'

export function createFileRepository(database: Database): FileRepository {
  return {
    async load(id, organizationId) {
      const sql = `select * from files where file_id = $1 and organization_id = $2 and ${isAlive}`
      const [row] = await database.query(sql, [id, organizationId])
      return row === undefined ? null : toFile(row)
    },
    async list({ organizationId, purpose, after, order, limit }) {
      const params: (string | number)[] = []
      const parameter = (value: string | number): string => `$${params.push(value)}`
      const conditions = [`organization_id = ${parameter(organizationId)}`, isAlive]
      if (purpose !== null) conditions.push(`purpose = ${parameter(purpose)}`)
      if (after !== null) {
        const sign = order === 'asc' ? '>' : '<'
        const place = `(${parameter(after.createdAtMs)}, ${parameter(after.id)})`
        conditions.push(`(created_at_ms, file_id) ${sign} ${place}`)
      }
      const sql = `select * from files where ${conditions.join(' and ')}
        order by created_at_ms ${order}, file_id ${order} limit ${parameter(limit)}`
      return (await database.query(sql, params)).map(toFile)
    },
    async listExpired(limit) {
      const sql = `select * from files where expires_at_ms <= now_ms() order by expires_at_ms limit $1`
      return (await database.query(sql, [limit])).map(toFile)
    },
    async isReferenced(blob) {
      return (await database.query(`select 1 as found from files where blob = $1 limit 1`, [blob])).length > 0
    },
  }
}

/** A file about to be stored; its time is set by the database. */
export type NewFile = Pick<
  StoredFile,
  'id' | 'organizationId' | 'purpose' | 'name' | 'mediaType' | 'bytes'
> & {
  blob: string
  /** How long it is kept; null: until it is deleted. */
  lifeMs: number | null
}

/** The guard of `insertFile`: it fails when the organization's files would be too large together. */
export const filesQuotaGuard = 'files_quota'

/** Stores a file whose blob is durable, unless the organization's files are then larger than `bytesMax` together. */
export function insertFile(file: NewFile, bytesMax: number): Statement {
  return {
    sql: `insert into files (file_id, organization_id, purpose, name, media_type, bytes, blob, created_at_ms, expires_at_ms)
      select cast($1 as text), cast($2 as text), cast($3 as text), cast($4 as text), cast($5 as text),
        cast($6 as bigint), cast($7 as text), now_ms(), now_ms() + cast($8 as bigint)
      where (select coalesce(cast(sum(bytes) as bigint), 0) from files where organization_id = $2 and blob is not null)
        + cast($6 as bigint) <= cast($9 as bigint)
      returning *`,
    params: [
      file.id,
      file.organizationId,
      file.purpose,
      file.name,
      file.mediaType,
      file.bytes,
      file.blob,
      file.lifeMs,
      bytesMax,
    ],
    expect: 1,
    guard: filesQuotaGuard,
  }
}

/** Stores the files with the results of a batch that has ended; only those that are not empty. */
export function insertResultFiles(batchId: BatchId): Statement[] {
  const files = [
    { kind: 'out', column: 'output_bytes', name: `${batchId}_output.jsonl` },
    { kind: 'err', column: 'error_bytes', name: `${batchId}_error.jsonl` },
  ] as const
  return files.map(({ kind, column, name }) => ({
    sql: `insert into files (file_id, organization_id, purpose, name, media_type, bytes, batch_id, created_at_ms)
      select cast($1 as text), organization_id, 'batch_output', cast($2 as text), 'application/x-ndjson', ${column},
        batch_id, now_ms()
      from batches where batch_id = $3 and ${column} > 0`,
    params: [resultFileId(batchId, kind), name, batchId],
  }))
}

/** Forgets the files with results of a batch. */
export function deleteResultFiles(batchId: BatchId): Statement {
  return { sql: `delete from files where batch_id = $1`, params: [batchId] }
}

/** Forgets a file; its blob is to be deleted then. */
export function deleteFile(id: string): Statement {
  return { sql: `delete from files where file_id = $1`, params: [id] }
}

/** A row of `files` as a value. */
export function toFile(row: Row): StoredFile {
  return {
    id: String(row['file_id']),
    organizationId: String(row['organization_id']),
    purpose: String(row['purpose']),
    name: String(row['name']),
    mediaType: String(row['media_type']),
    bytes: Number(row['bytes']),
    blob: row['blob'] as string | null,
    batchId: row['batch_id'] as string | null,
    createdAtMs: Number(row['created_at_ms']),
    expiresAtMs: row['expires_at_ms'] as number | null,
  }
}
