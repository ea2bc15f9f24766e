import type { GatewayError } from '../../core/errors.ts'
import { toCredits } from '../../core/money.ts'
import type { Batch, BatchModel, BatchStatus, LaneJob, LaneMove, LaneName } from '../../canonical/batch.ts'
import { isTerminal, shownStatus } from '../../canonical/batch.ts'
import type { Waiting } from '../../canonical/waiting.ts'

/** The contract's batch, in the order of its members there; times are Unix seconds. */
export interface BatchObject {
  id: string
  object: 'batch'
  endpoint: string
  model: string
  completion_window: string
  status: BatchStatus
  created_at: number
  finalized_at: number | null
  expires_at: number | null
  provider: string | null
  request_counts: { total: number; completed: number; failed: number }
  usage: Record<string, unknown> | null
  results: null
  error: { message: string } | null
  headrace_metadata: {
    /** The lane in which the items start. */
    lane: LaneName
    /** The models of the items, in the order of the results; absent where all have one. */
    models?: readonly BatchModel[]
    /** How many items ended in another lane, and why; absent when none did. */
    moved?: readonly LaneMove[]
    /** The jobs of a batch in the lane `native`; absent before there is one. */
    jobs?: readonly LaneJob[]
    /** Present while an accepted batch cannot continue without outside help, such as credits or a free provider. */
    waiting?: ShownWaiting
  }
}

/** What is known of a batch beside its row. */
export interface BatchFacts {
  waiting?: readonly Waiting[] | undefined
  moves?: readonly LaneMove[] | undefined
  jobs?: readonly LaneJob[] | undefined
}

/** What a batch would cost in one of the lanes that it could have, in credits. */
interface ShownOffer {
  lane: LaneName
  estimate: number
  worst_case: number
}

/** A reason why items of a batch wait. Times are Unix seconds. */
interface ShownCause {
  type: string
  message: string
  /**
   * The number of waiting items. Absent when only the batch as a whole is known to wait; the other members are then
   * absent too.
   */
  items?: number
  since?: number
  next_try_at?: number
}

/**
 * The first cause, or the cause of most items, with the figures of all causes together; `causes` lists each of them.
 */
interface ShownWaiting extends ShownCause {
  causes?: ShownCause[]
}

/** What a dry run answers: what the batch would cost, in credits. */
export interface BatchEstimate {
  object: 'batch.estimate'
  endpoint: string
  model: string
  lane: LaneName
  provider: string | null
  total: number
  /** What accepting the batch sets aside. */
  estimate: number
  worst_case: number
  /** Every lane that the batch could have, its own first. */
  lanes: ShownOffer[]
  /** The credits left in the organization's budgets; null when no budget limits the organization. */
  available: number | null
}

/** A batch as callers see it, without its results. */
export function toBatchObject(
  batch: Batch,
  { waiting = [], moves = [], jobs = [] }: BatchFacts = {},
): BatchObject {
  const shown = showWaiting(batch, waiting)
  const isEnded = isTerminal(batch.status)
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    model: batch.model,
    completion_window: batch.completionWindow,
    status: shownStatus(batch.status),
    created_at: seconds(batch.createdAtMs),
    finalized_at: batch.finalizedAtMs === null ? null : seconds(batch.finalizedAtMs),
    expires_at: seconds(batch.expiresAtMs),
    provider: batch.providerSlug,
    request_counts: { total: batch.totalItems, completed: batch.completedItems, failed: batch.failedItems },
    usage: batch.usageJson === null ? null : (JSON.parse(batch.usageJson) as Record<string, unknown>),
    results: null,
    // A running batch only notes what it waits for; that is not a failure.
    error: isEnded && batch.errorJson !== null ? messageOf(batch.errorJson) : null,
    headrace_metadata: {
      lane: batch.lane,
      ...(batch.models === null ? {} : { models: batch.models }),
      ...(moves.length === 0 ? {} : { moved: moves }),
      ...(jobs.length === 0 ? {} : { jobs }),
      ...(shown === null ? {} : { waiting: shown }),
    },
  }
}

/** Whether a running batch waits for money. */
export function isWaiting(batch: Batch): boolean {
  return batch.status === 'in_progress' && batchErrorType(batch.errorJson) === 'payment_required'
}

/** Whether items of the batch may wait. In a later status all items are being ended. */
export function mayWait({ status }: Batch): boolean {
  return status === 'validating' || status === 'in_progress'
}

function showWaiting(batch: Batch, waiting: readonly Waiting[]): ShownWaiting | null {
  const money = isWaiting(batch) ? (JSON.parse(batch.errorJson ?? '{}') as ShownCause) : null
  if (!mayWait(batch) || waiting.length === 0) {
    return money && { type: money.type, message: money.message }
  }
  const causes = waiting.map(({ type, message, items, sinceMs, nextTryMs }) => ({
    type,
    // Only the batch knows which budget is short.
    message: type === 'payment_required' && money !== null ? money.message : message,
    items,
    since: seconds(sinceMs),
    next_try_at: seconds(nextTryMs + 999),
  }))
  const [most] = causes
  return {
    type: most?.type ?? '',
    message: most?.message ?? '',
    items: causes.reduce((sum, { items }) => sum + items, 0),
    since: Math.min(...causes.map(({ since }) => since)),
    next_try_at: Math.min(...causes.map((cause) => cause.next_try_at)),
    causes,
  }
}

/** The error that a batch carries; JSON for its row. */
export function batchErrorJson(error: Pick<GatewayError, 'message' | 'type'>): string {
  return JSON.stringify({ message: error.message, type: error.type })
}

/** The type in a stored error; null when there is none. */
export function batchErrorType(errorJson: string | null): string | null {
  return errorJson === null ? null : (JSON.parse(errorJson) as { type: string }).type
}

/** What all items of a batch would cost in one lane, in nanocredits. */
export interface PricedOffer {
  lane: LaneName
  estimate: bigint
  worstCase: bigint
}

/** The same in credits, as callers see it. */
export function showOffers(offers: readonly PricedOffer[]): ShownOffer[] {
  return offers.map(({ lane, estimate, worstCase }) => ({
    lane,
    estimate: toCredits(estimate),
    worst_case: toCredits(worstCase),
  }))
}

/** A batch that would be accepted. */
export function toBatchEstimate(batch: {
  endpoint: string
  model: string
  lane: LaneName
  providerSlug: string | null
  totalItems: number
  estimate: bigint
  worstCase: bigint
  offers: readonly PricedOffer[]
  available: bigint | null
}): BatchEstimate {
  return {
    object: 'batch.estimate',
    endpoint: batch.endpoint,
    model: batch.model,
    lane: batch.lane,
    provider: batch.providerSlug,
    total: batch.totalItems,
    estimate: toCredits(batch.estimate),
    worst_case: toCredits(batch.worstCase),
    lanes: showOffers(batch.offers),
    available: batch.available === null ? null : toCredits(batch.available),
  }
}

function messageOf(errorJson: string): { message: string } {
  return { message: (JSON.parse(errorJson) as { message: string }).message }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
