import { uncertainCommitsMax, uncertainWaitMs } from '../core/limits/batches.ts'
import { answerOf, askUntilAnswered, commitOnce } from '../storage/commit-once.ts'
import type { CommitOptions, CommitOutcome, Patience, Proof } from '../storage/commit-once.ts'
import type { Database, Row, Statement } from '../storage/database.ts'
import type { BatchCommitPoint, CrashHook } from './batch-commit-points.ts'
import type { Pause } from './running/pause.ts'

export { CommitUnknown } from '../storage/commit-once.ts'
export type { Committed, Patience, Proof } from '../storage/commit-once.ts'

/** The unit is durable, or was refused by a guard (or by a row that was there) without a trace. */
export type CommitAnswer = ReturnType<typeof answerOf>

/** What the first statement of a unit returned; nothing when the unit was refused. */
export function rowsOf(answer: CommitAnswer): readonly Row[] {
  return answer.type === 'committed' ? (answer.rows[0] ?? []) : []
}

/** The one way in which batches write: named units around which a crash can be staged. */
export interface Committer {
  /**
   * Commits a unit. A refusal by a guard is an answer, not an error. A try without an answer is followed by another, and
   * `proof` tells a repetition's refusal from a real one. Rejects with `storage_unavailable` when nothing was written,
   * with CommitUnknown when that cannot be told.
   */
  commit(name: BatchCommitPoint, statements: readonly Statement[], proof?: Proof): Promise<CommitAnswer>
  /** The same as a value: never rejects. */
  commitOnce(
    name: BatchCommitPoint,
    statements: readonly Statement[],
    doubt: Pick<CommitOptions, 'proof' | 'isInDoubt'>,
  ): Promise<CommitOutcome>
  /** Asks until there is an answer whether a unit of unknown outcome became real; null when there was none. */
  ask(proof: Proof, patience: Patience): Promise<boolean | null>
}

/** Everything that `createCommitter` needs. */
export interface CommitterDependencies {
  database: Database
  pause: Pause
  crash: CrashHook | null
}

/** Short, since callers wait for most units of batches; what takes longer has patience of its own. */
const patience: Patience = {
  triesMax: uncertainCommitsMax,
  waitMs: uncertainWaitMs,
  waitMsMax: uncertainWaitMs,
}

export function createCommitter({ database, pause, crash }: CommitterDependencies): Committer {
  const sleep = (milliseconds: number): Promise<void> => pause(milliseconds)
  const committer: Committer = {
    async commit(name, statements, proof) {
      return answerOf(await committer.commitOnce(name, statements, { proof }))
    },
    async commitOnce(name, statements, doubt) {
      crash?.(name, 'before')
      const options = { patience, sleep, isSentAfterOutage: false, ...doubt }
      const outcome = await commitOnce(database, { name, statements }, options)
      if (outcome.type === 'committed' || (outcome.type === 'refused' && outcome.guard !== null))
        crash?.(name, 'after')
      return outcome
    },
    ask: (proof, asking) => askUntilAnswered(proof, asking, sleep),
  }
  return committer
}
