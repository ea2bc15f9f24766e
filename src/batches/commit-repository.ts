import type { Database, Row, Statement } from '../storage/database.ts'
import { GuardFailed, isUncertain, UniqueViolation } from '../storage/database.ts'
import { uncertainCommitsMax, uncertainWaitMs } from '../core/limits/batches.ts'
import type { CommitPoint, CrashHook } from './commit-points.ts'
import type { Pause } from './running/pause.ts'

/** How a unit ended: with the rows of its statements, or refused by a guard (or a row that was there) without a trace. */
export type Committed = { rows: Row[][]; guard: null } | { rows: null; guard: string; refusal: Error }

/** A commit whose outcome stayed unknown. Nothing that the unit may refer to can be cleaned up now. */
export class CommitUncertain extends Error {
  constructor(unit: string) {
    super(`the outcome of "${unit}" is unknown`)
    this.name = 'CommitUncertain'
  }
}

/** The one way in which batches write: named units around which a crash can be staged. */
export interface Committer {
  /**
   * Commits a unit. A refusal by a guard is an answer, not an error. When the connection was lost while committing, the
   * unit is tried again, and `wasCommitted` tells a repetition's refusal from a real one. Rejects with
   * `storage_unavailable` when nothing was written, with CommitUncertain when that cannot be told.
   */
  commit(
    name: CommitPoint,
    statements: readonly Statement[],
    wasCommitted?: () => Promise<boolean>,
  ): Promise<Committed>
}

/** Everything that `createCommitter` needs. */
export interface CommitterParts {
  database: Database
  pause: Pause
  crash: CrashHook | null
}

export function createCommitter({ database, pause, crash }: CommitterParts): Committer {
  return {
    async commit(name, statements, wasCommitted) {
      crash?.(name, 'before')
      const committed = await commitCertainly({ database, pause }, { name, statements }, wasCommitted)
      crash?.(name, 'after')
      return committed
    },
  }
}

async function commitCertainly(
  { database, pause }: { database: Database; pause: Pause },
  unit: { name: string; statements: readonly Statement[] },
  wasCommitted: (() => Promise<boolean>) | undefined,
): Promise<Committed> {
  let sawUncertain = false
  for (let attempt = 0; attempt < uncertainCommitsMax; attempt++) {
    try {
      return { rows: await database.commit(unit), guard: null }
    } catch (thrown) {
      if (isUncertain(thrown)) {
        sawUncertain = true
        await pause(uncertainWaitMs)
        continue
      }
      const isRefusal = thrown instanceof GuardFailed || thrown instanceof UniqueViolation
      const wasOurs = isRefusal && sawUncertain ? await ask(wasCommitted) : false
      // Nobody can say whether the refusal is a repetition's, so nothing may be cleaned up.
      if (wasOurs === null) break
      if (wasOurs) return { rows: [], guard: null }
      if (thrown instanceof GuardFailed) return { rows: null, guard: thrown.guard, refusal: thrown }
      if (thrown instanceof UniqueViolation)
        return { rows: null, guard: thrown.table ?? 'unique', refusal: thrown }
      // Nothing is known when the repetition could not even be tried.
      if (sawUncertain) break
      throw thrown
    }
  }
  throw new CommitUncertain(unit.name)
}

/** Null when there is no answer. */
async function ask(wasCommitted: (() => Promise<boolean>) | undefined): Promise<boolean | null> {
  try {
    return (await wasCommitted?.()) ?? false
  } catch {
    return null
  }
}
