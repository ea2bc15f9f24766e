import type { BatchId } from '../../core/ids.ts'
import type { Database, Row, Statement } from '../../storage/database.ts'
import { batchOfBlob } from './payloads.ts'

/** A part's row. */
export interface ResultPart {
  id: string
  batchId: BatchId
  segmentOrdinal: number
  sequence: number
  itemCount: number
  /** The part is in a blob or inline in its row; compressed in both cases. */
  blob: string | null
  inlineBody: Uint8Array | null
  /** Uncompressed. */
  bytes: number
}

/** Reads of the table `parts`. */
export interface PartRepository {
  /** All parts of a segment, in commit order. */
  listOfSegment(batchId: BatchId, segmentOrdinal: number): Promise<ResultPart[]>
  /** Parts in commit order, behind `afterSequence`. */
  listAfter(batchId: BatchId, afterSequence: number, limit: number): Promise<ResultPart[]>
  /** Whether this part was committed. */
  exists(partId: string): Promise<boolean>
  /** Some parts of a batch that is to be purged, with their blobs; empty when none are left. */
  listPurgeable(batchId: BatchId, limit: number): Promise<{ ids: string[]; blobs: string[] }>
  /** Whether a part names this blob. */
  isReferenced(blob: string): Promise<boolean>
}

export function createPartRepository(database: Database): PartRepository {
  return {
    async listOfSegment(batchId, segmentOrdinal) {
      const rows = await database.query(
        `select * from parts where batch_id = $1 and segment_ordinal = $2 order by sequence`,
        [batchId, segmentOrdinal],
      )
      return rows.map(toPart)
    },
    async listAfter(batchId, afterSequence, limit) {
      const rows = await database.query(
        `select * from parts where batch_id = $1 and sequence > $2 order by sequence limit $3`,
        [batchId, afterSequence, limit],
      )
      return rows.map(toPart)
    },
    async exists(partId) {
      return (await database.query(`select part_id from parts where part_id = $1`, [partId])).length > 0
    },
    async listPurgeable(batchId, limit) {
      const rows = await database.query<{ part_id: string; blob: string | null }>(
        `select part_id, blob from parts where batch_id = $1 order by sequence limit $2`,
        [batchId, limit],
      )
      const blobs = rows.map((row) => row.blob).filter((blob) => blob !== null)
      return { ids: rows.map((row) => row.part_id), blobs }
    },
    async isReferenced(blob) {
      const sql = `select part_id from parts where batch_id = $1 and blob = $2 limit 1`
      return (await database.query(sql, [batchOfBlob(blob), blob])).length > 0
    },
  }
}

/**
 * Inserts a part, numbered after the batch's last one. The unit must have locked the batch's row before; otherwise
 * parts that are committed at the same time could become visible out of order, and a cursor would skip one.
 */
export function insertPart(part: ResultPart, epoch: number): Statement {
  return {
    sql: `insert into parts (part_id, batch_id, segment_ordinal, epoch, sequence, item_count, blob, inline_body, bytes,
        created_at_ms)
      select cast($1 as text), cast($2 as text), cast($3 as bigint), cast($4 as bigint), coalesce(max(sequence), 0) + 1,
        cast($5 as bigint), cast($6 as text), cast($7 as {{bytes}}), cast($8 as bigint), now_ms()
      from parts where batch_id = $2`,
    params: [
      part.id,
      part.batchId,
      part.segmentOrdinal,
      epoch,
      part.itemCount,
      part.blob,
      part.inlineBody,
      part.bytes,
    ],
  }
}

/** Removes rows of a deleted batch, after their blobs. */
export function purgeParts(batchId: BatchId, ids: readonly string[]): Statement {
  const places = ids.map((_, index) => `$${index + 2}`).join(', ')
  return {
    sql: `delete from parts where batch_id = $1 and part_id in (${places})`,
    params: [batchId, ...ids],
  }
}

function toPart(row: Row): ResultPart {
  return {
    id: String(row['part_id']),
    batchId: String(row['batch_id']),
    segmentOrdinal: Number(row['segment_ordinal']),
    sequence: Number(row['sequence']),
    itemCount: Number(row['item_count']),
    blob: row['blob'] as string | null,
    inlineBody: row['inline_body'] as Uint8Array | null,
    bytes: Number(row['bytes']),
  }
}
