import { GatewayError } from '../core/errors.ts'
import { GuardFailed, StorageFailure, UniqueViolation } from './database.ts'
import type { Database, Row, Unit } from './database.ts'

/** The unit is durable: with the rows of its statements, or without any when only a proof said so. */
export interface Committed {
  readonly type: 'committed'
  readonly rows: Row[][]
}

/**
 * The unit left no trace. `guard`: a condition of it did not hold. `duplicate`: a row with its key was there; `guard` is
 * then that row's table. `outage`: storage did not take it and may later. `fault`: storage will never take it as it is.
 */
export type RefusedCommit =
  | {
      readonly type: 'refused'
      readonly by: 'guard' | 'duplicate'
      readonly guard: string
      readonly error: Error
    }
  | { readonly type: 'refused'; readonly by: 'outage' | 'fault'; readonly guard: null; readonly error: Error }

/** The unit may have become real, or still become so. Nothing that it may refer to can be cleaned up or given back. */
export interface Unknown {
  readonly type: 'unknown'
  readonly error: CommitUnknown
}

/** What became of a unit. */
export type CommitOutcome = Committed | RefusedCommit | Unknown

/** For callers to whom an outcome that stays unknown is a failure; `cause` is what the last try was answered with. */
export class CommitUnknown extends GatewayError {
  constructor(cause: unknown) {
    super('storage_unavailable', 'Storage is temporarily unavailable. Try again shortly.', {
      cause,
      retryAfterSeconds: 1,
    })
    this.name = 'CommitUnknown'
  }
}

/** Asks the database whether the unit became real: by an id that only this unit writes. Rejects when it cannot tell. */
export type Proof = () => Promise<boolean>

/** How often something is tried, and the wait between, which doubles up to the longest. */
export interface Patience {
  readonly triesMax: number
  readonly waitMs: number
  readonly waitMsMax: number
}

/** How `commitOnce` finds out. */
export interface CommitOptions {
  readonly patience: Patience
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Whether a unit that storage certainly did not take is sent again too. */
  readonly isSentAfterOutage: boolean
  /**
   * Tells a repetition's refusal from a real one. Without it a refusal is one: right for a unit that changes only what
   * is still as it was read, and for a caller who knows what a duplicate of its ids means.
   */
  readonly proof?: Proof | undefined
  /** An earlier commit of the same unit had no answer. */
  readonly isInDoubt?: boolean
  /** Called for every try that is followed by another. */
  readonly onUnanswered?: ((error: Error) => void) | undefined
}

/**
 * Commits a unit, sends it again while nobody knows what became of it, and says what did. A unit may be made anew for
 * every try, with the same ids. Never rejects. A doubt ends in three ways only: a try is committed, a proof finds the
 * unit, or a guard or a duplicate refuses the unit and the proof does not find it. An outage or a fault says nothing
 * of the try before it.
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

/** What one try that rejected says of its unit. */
export function outcomeOf(thrown: unknown): RefusedCommit | Unknown {
  if (thrown instanceof GuardFailed)
    return { type: 'refused', by: 'guard', guard: thrown.guard, error: thrown }
  if (thrown instanceof UniqueViolation)
    return { type: 'refused', by: 'duplicate', guard: thrown.table ?? 'unique', error: thrown }
  if (thrown instanceof GatewayError) {
    // Only a failure that says so certainly left no trace.
    const isCertain = thrown.cause instanceof StorageFailure && !thrown.cause.uncertain
    return isCertain ? { type: 'refused', by: 'outage', guard: null, error: thrown } : unknown(thrown)
  }
  const error = thrown instanceof Error ? thrown : new Error('a commit failed', { cause: thrown })
  return { type: 'refused', by: 'fault', guard: null, error }
}

/** The outcome where the database answered; throws the error of one where it did not, or could not take the unit. */
export function answerOf(outcome: CommitOutcome): Committed | Extract<RefusedCommit, { guard: string }> {
  if (outcome.type === 'committed') return outcome
  if (outcome.type === 'unknown' || outcome.guard === null) throw outcome.error
  return outcome
}

/** Asks until there is an answer; null when there was none. */
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

/** A repetition was refused: by what an earlier try made real, or by something else. */
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
