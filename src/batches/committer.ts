import { answerOf, askUntilAnswered, commitOnce } from '../storage/commit-once.ts'
import type { CommitOptions, CommitOutcome, Patience, Proof } from '../storage/commit-once.ts'
import type { Database, Row, Statement } from '../storage/database.ts'
import type { BatchCommitPoint, CrashHook } from './batch-commit-points.ts'
import type { Pause } from './running/pause.ts'

/** Times a unit with an unknown outcome is committed again before it is left as it is, and the wait between. */
export const uncertainCommitsMax = 5
const uncertainWaitMs = 200

export { CommitUnknown } from '../storage/commit-once.ts'
export type { Committed, Patience, Proof } from '../storage/commit-once.ts'

/** `committed`: the unit is durable. `refused`: a guard, or a row that existed, refused it, and it left no trace. */
export type CommitAnswer = ReturnType<typeof answerOf>

/** The rows that a unit's first statement returned; empty when the unit was refused. */
export function rowsOf(answer: CommitAnswer): readonly Row[] {
  return answer.type === 'committed' ? (answer.rows[0] ?? []) : []
}

/** The only way in which batches write: named units, around which a crash can be staged. */
export interface Committer {
  /**
   * Commits a unit. A refusal by a guard is an answer, not an error. When a try gets no answer, another follows, and
   * `proof` tells whether a refusal is due to the earlier try. Rejects with `storage_unavailable` when nothing was
   * written, and with CommitUnknown when that is not known.
   */
  commit(name: BatchCommitPoint, statements: readonly Statement[], proof?: Proof): Promise<CommitAnswer>
  /** Does the same, but returns every outcome as a value and never rejects. */
  commitOnce(
    name: BatchCommitPoint,
    statements: readonly Statement[],
    doubt: Pick<CommitOptions, 'proof' | 'isInDoubt'>,
  ): Promise<CommitOutcome>
  /** Asks until it knows whether a unit of unknown outcome was committed; null when it got no answer. */
  ask(proof: Proof, patience: Patience): Promise<boolean | null>
}

/** Everything that `createCommitter` needs. */
export interface CommitterDependencies {
  database: Database
  pause: Pause
  crash: CrashHook | null
}

/** Short, since callers wait for most units of batches. A unit that may take longer brings its own patience. */
const patience: Patience = {
  triesMax: uncertainCommitsMax,
  waitMs: uncertainWaitMs,
  waitMsMax: uncertainWaitMs,
}

/** Units of the engine's own work; live calls wait for their captures in the same queue. */
const patientUnits: ReadonlySet<BatchCommitPoint> = new Set(['part.commit'])

export function createCommitter({ database, pause, crash }: CommitterDependencies): Committer {
  const sleep = (milliseconds: number): Promise<void> => pause(milliseconds)
  const committer: Committer = {
    async commit(name, statements, proof) {
      return answerOf(await committer.commitOnce(name, statements, { proof }))
    },
    async commitOnce(name, statements, doubt) {
      crash?.(name, 'before')
      const options = { patience, sleep, isSentAfterOutage: false, ...doubt }
      const isPatient = patientUnits.has(name)
      const outcome = await commitOnce(database, { name, statements, isPatient }, options)
      if (outcome.type === 'committed' || (outcome.type === 'refused' && outcome.guard !== null))
        crash?.(name, 'after')
      return outcome
    },
    ask: (proof, asking) => askUntilAnswered(proof, asking, sleep),
  }
  return committer
}
