import { answerOf, commitOnce } from '../../storage/commit-once.ts'
import type { Database } from '../../storage/database.ts'
import { commitPoints } from '../commit-points.ts'
import { cursorGuard, rollUp } from './rollup-statements.ts'

/** Where rolling up stands. */
export interface RollupCursor {
  /** Units so far; rises with every one. */
  position: number
  /** Milliseconds since the last one, by the database's clock; negative when that was set back. */
  idleMs: number
}

/** Reads the tail and moves it into the roll-ups. Everything rejects with `storage_unavailable`. */
export interface RollupRepository {
  loadCursor(): Promise<RollupCursor>
  /** The oldest rows of the tail. Read the cursor before it, never after: ids may come back once their rows are gone. */
  listTail(limit: number): Promise<number[]>
  /** Rolls these rows up; false when the cursor has moved, and then nothing happened. */
  rollUp(position: number, tailIds: readonly number[]): Promise<boolean>
}

export function createRollupRepository(database: Database): RollupRepository {
  return {
    async loadCursor() {
      const [row] = await database.query<{ position: number; idle_ms: number }>(
        `select position, now_ms() - moved_at_ms as idle_ms from rollup_cursors where name = 'usages'`,
      )
      return { position: row?.position ?? 0, idleMs: row?.idle_ms ?? 0 }
    },
    async listTail(limit) {
      const rows = await database.query<{ tail_id: number }>(
        'select tail_id from usage_tail order by tail_id limit $1',
        [limit],
      )
      return rows.map((row) => row.tail_id)
    },
    async rollUp(position, tailIds) {
      const statements = rollUp(position, tailIds)
      const unit = { name: commitPoints.rollUp, statements, rowsEstimate: tailIds.length }
      const answer = answerOf(await commitOnce(database, unit))
      if (answer.type === 'refused' && answer.guard !== cursorGuard) throw answer.error
      return answer.type === 'committed'
    },
  }
}
