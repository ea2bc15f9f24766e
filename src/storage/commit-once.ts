import { GatewayError } from '../core/errors.ts'
import { GuardFailed, StorageFailure, UniqueViolation } from './database.ts'
import type { Database, Row, Unit } from './database.ts'

/** The unit is durable. `rows` are of its statements; empty when only a proof told that it is durable. */
export interface Committed {
  readonly type: 'committed'
  readonly rows: Row[][]
}

/**
 * The unit left no trace. `guard`: one of its conditions did not hold. `duplicate`: a row with its key exists; then
 * `guard` is that row's table. `outage`: storage did not take the unit, but may later. `fault`: storage will never take it.
 */
export type RefusedCommit =
  | {
      readonly type: 'refused'
      readonly by: 'guard' | 'duplicate'
      readonly guard: string
      readonly error: Error
    }
  | { readonly type: 'refused'; readonly by: 'outage' | 'fault'; readonly guard: null; readonly error: Error }

/** The unit may have been committed, or may still be. So nothing that it refers to may be cleaned up or given back. */
export interface Unknown {
  readonly type: 'unknown'
  readonly error: CommitUnknown
}

/** The outcome of a unit. */
export type CommitOutcome = Committed | RefusedCommit | Unknown

/** For callers that treat an unknown outcome as a failure; `cause` is the last try's error. */
export class CommitUnknown extends GatewayError {
  constructor(cause: unknown) {
    super('storage_unavailable', 'Storage is temporarily unavailable. Try again shortly.', {
      cause,
      retryAfterSeconds: 1,
    })
    this.name = 'CommitUnknown'
  }
}

/** Asks the database whether the unit was committed, by an id that only this unit writes. Rejects when it cannot tell. */
export type Proof = () => Promise<boolean>

/** The number of tries, and the wait between them, which doubles up to a maximum. */
export interface Patience {
  readonly triesMax: number
  readonly waitMs: number
  readonly waitMsMax: number
}

/** How `commitOnce` repeats a unit and finds out its outcome. */
export interface CommitOptions {
  readonly patience: Patience
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Whether a unit is also sent again when storage certainly did not take it. */
  readonly isSentAfterOutage: boolean
  /**
   * Tells whether a refusal is due to an earlier try of the same unit. Without it every refusal counts as real. That is
   * right for a unit whose guards fail once it is committed, and for a caller that knows what a duplicate of its ids means.
   */
  readonly proof?: Proof | undefined
  /** An earlier commit of the same unit got no answer. */
  readonly isInDoubt?: boolean
  /** Called for every try that is followed by another. */
  readonly onUnanswered?: ((error: Error) => void) | undefined
}

/**
 * Commits a unit, sends it again while its outcome is unknown, and returns the outcome. `unit` may build the unit anew
 * for every try, with the same ids. Never rejects. Only three things end a doubt: a try is committed; a proof finds the
 * unit; a guard or a duplicate refuses the unit and the proof does not find it. An outage or a fault of a later try tells
 * nothing about an earlier one.
 */
export async function commitOnce(
  database: Pick<Database, 'commit'>,
  unit: Unit | (() => Unit),
  options: CommitOptions | null = null,
): Promise<CommitOutcome> {
  let isInDoubt = options?.isInDoubt ?? false
  let waitMs = options?.patience.waitMs ?? 0
  for (let tries = 1; ; tries += 1) {
    const sent = typeof unit === 'function' ? unit() : unit
    let failed: RefusedCommit | Unknown
    try {
      return { type: 'committed', rows: await database.commit(sent) }
    } catch (thrown) {
      failed = outcomeOf(thrown)
    }
    if (failed.type === 'unknown') isInDoubt = true
    else if (failed.by === 'guard' || failed.by === 'duplicate')
      return isInDoubt && options?.proof ? judge(failed, options.proof) : failed
    const isRepeated = failed.type === 'unknown' || (failed.by === 'outage' && options?.isSentAfterOutage)
    if (!options || !isRepeated || tries >= options.patience.triesMax)
      return isInDoubt && failed.type === 'refused' ? unknown(failed.error) : failed
    options.onUnanswered?.(failed.error)
    await options.sleep(waitMs)
    waitMs = Math.min(waitMs * 2, options.patience.waitMsMax)
  }
}

/** The outcome that a rejected try means for its unit. */
export function outcomeOf(thrown: unknown): RefusedCommit | Unknown {
  if (thrown instanceof GuardFailed)
    return { type: 'refused', by: 'guard', guard: thrown.guard, error: thrown }
  if (thrown instanceof UniqueViolation)
    return { type: 'refused', by: 'duplicate', guard: thrown.table ?? 'unique', error: thrown }
  if (thrown instanceof GatewayError) {
    // Only a failure that is marked as certain left no trace.
    const isCertain = thrown.cause instanceof StorageFailure && !thrown.cause.uncertain
    return isCertain ? { type: 'refused', by: 'outage', guard: null, error: thrown } : unknown(thrown)
  }
  const error = thrown instanceof Error ? thrown : new Error('a commit failed', { cause: thrown })
  return { type: 'refused', by: 'fault', guard: null, error }
}

/** Returns the outcome if the database answered; throws the error if it did not, or could not take the unit. */
export function answerOf(outcome: CommitOutcome): Committed | Extract<RefusedCommit, { guard: string }> {
  if (outcome.type === 'committed') return outcome
  if (outcome.type === 'unknown' || outcome.guard === null) throw outcome.error
  return outcome
}

/** Asks until the database answers; null when it never did. */
export async function askUntilAnswered(
  proof: Proof,
  { triesMax, waitMs, waitMsMax }: Patience,
  sleep: (milliseconds: number) => Promise<void>,
): Promise<boolean | null> {
  let nextMs = waitMs
  for (let tries = 1; ; tries += 1) {
    try {
      return await proof()
    } catch {
      if (tries >= triesMax) return null
    }
    await sleep(nextMs)
    nextMs = Math.min(nextMs * 2, waitMsMax)
  }
}

/** A repeated unit was refused: decides whether an earlier try of it was committed. */
async function judge(refused: RefusedCommit, proof: Proof): Promise<CommitOutcome> {
  try {
    return (await proof()) ? { type: 'committed', rows: [] } : refused
  } catch (thrown) {
    return unknown(thrown)
  }
}

function unknown(cause: unknown): Unknown {
  return { type: 'unknown', error: new CommitUnknown(cause) }
}
