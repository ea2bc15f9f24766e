import type { GatewayError } from '../core/errors.ts'
import { toCredits } from '../core/money.ts'
import type { Batch, BatchStatus } from './batch.ts'
import { isTerminal, shownStatus } from './batch.ts'

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
  /** Present while a batch that was accepted cannot go on by itself. */
  headrace_metadata?: { waiting: { type: string; message: string } }
}

/** What a dry run answers: what the batch would cost, in credits. */
export interface BatchEstimate {
  object: 'batch.estimate'
  endpoint: string
  model: string
  lane: string
  provider: string | null
  total: number
  estimate: number
  worst_case: number
  /** What the organization's budgets have; null when nothing limits it. */
  available: number | null
}

/** A batch as callers see it, without its results. */
export function toBatchObject(batch: Batch): BatchObject {
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
    // Before the end it only notes what the batch waits for, which is no failure.
    error: isEnded && batch.errorJson !== null ? messageOf(batch.errorJson) : null,
    ...(isWaiting(batch) ? { headrace_metadata: { waiting: waitingOf(batch) } } : {}),
  }
}

/** Whether a running batch waits for money. */
export function isWaiting(batch: Batch): boolean {
  return batch.status === 'in_progress' && batchErrorType(batch.errorJson) === 'payment_required'
}

function waitingOf({ errorJson }: Batch): { type: string; message: string } {
  const { type, message } = JSON.parse(errorJson ?? '{}') as { type: string; message: string }
  return { type, message }
}

/** The error that a batch carries; JSON for its row. */
export function batchErrorJson(error: Pick<GatewayError, 'message' | 'type'>): string {
  return JSON.stringify({ message: error.message, type: error.type })
}

/** The type in a stored error; null when there is none. */
export function batchErrorType(errorJson: string | null): string | null {
  return errorJson === null ? null : (JSON.parse(errorJson) as { type: string }).type
}

/** A batch that would be accepted. */
export function toBatchEstimate(batch: {
  endpoint: string
  model: string
  lane: string
  providerSlug: string | null
  totalItems: number
  estimate: bigint
  worstCase: bigint
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
    available: batch.available === null ? null : toCredits(batch.available),
  }
}

function messageOf(errorJson: string): { message: string } {
  return { message: (JSON.parse(errorJson) as { message: string }).message }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
