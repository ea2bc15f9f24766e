import type { LaneMove, LaneName } from '../../canonical/batch.ts'
import type { BatchId } from '../../core/ids.ts'
import type { Database, Statement } from '../../storage/database.ts'

/** Reads of the table `batch_moves`. */
export interface MoveRepository {
  /** How many items of these batches left their lane, and why; batches without moves are left out. */
  listOf(batchIds: readonly BatchId[]): Promise<ReadonlyMap<BatchId, readonly LaneMove[]>>
}

export function createMoveRepository(database: Database): MoveRepository {
  return {
    async listOf(batchIds) {
      const found = new Map<BatchId, LaneMove[]>()
      if (batchIds.length === 0) return found
      const places = batchIds.map((_, index) => `$${index + 1}`).join(', ')
      const rows = await database.query(
        `select * from batch_moves where batch_id in (${places}) order by batch_id, items desc, reason`,
        batchIds,
      )
      for (const row of rows) {
        const batchId = String(row['batch_id'])
        const move: LaneMove = {
          from: row['from_lane'] as LaneName,
          to: row['to_lane'] as LaneName,
          reason: String(row['reason']),
          items: Number(row['items']),
        }
        found.set(batchId, [...(found.get(batchId) ?? []), move])
      }
      return found
    },
  }
}

/** Counts items that ended in another lane; committed with the part that has their results. */
export function countMoves(batchId: BatchId, moves: readonly LaneMove[]): Statement[] {
  return moves.map(({ from, to, reason, items }) => ({
    sql: `insert into batch_moves (batch_id, from_lane, to_lane, reason, items) values ($1, $2, $3, $4, $5)
      on conflict (batch_id, from_lane, to_lane, reason) do update set items = batch_moves.items + excluded.items`,
    params: [batchId, from, to, reason, items],
  }))
}

/** Removes the counts of a batch whose row goes. */
export function purgeMoves(batchId: BatchId): Statement {
  return { sql: 'delete from batch_moves where batch_id = $1', params: [batchId] }
}
