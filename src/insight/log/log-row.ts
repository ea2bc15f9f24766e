import type { RequestLine } from '../../telemetry/call-line.ts'
import { redactForLog } from '../../telemetry/logger.ts'
import { detailsTextOf, wholeOrNull } from './log-details.ts'

/** Characters of a text that a caller chose, such as a model's name. */
const callerTextMax = 200

/**
 * How a call ended. `refused`: the gateway said no, before any provider was asked. `failed`: the provider or the gateway
 * failed. `cancelled`: the caller left.
 */
export type LoggedOutcome = 'answered' | 'refused' | 'failed' | 'cancelled'

export const outcomes: readonly LoggedOutcome[] = ['answered', 'refused', 'failed', 'cancelled']

/** One call that has ended, as the log keeps it. */
export interface LogRow {
  organizationId: string
  /** Begins with the time of the request, so rows in the order of their ids are in the order of time. */
  requestId: string
  generationId: string | null
  keyId: string
  outcome: LoggedOutcome
  status: number
  errorType: string | null
  operation: string | null
  /** A model of the catalog, or what the caller asked for where no provider was asked. */
  model: string | null
  /** Slug of the provider that was asked last. */
  provider: string | null
  deployment: string | null
  userId: string | null
  sessionId: string | null
  batchId: string | null
  streamed: boolean
  attempts: number
  inputTokens: number
  outputTokens: number
  firstByteMs: number | null
  totalMs: number
  costNanocredits: bigint | null
  isEstimated: boolean
  clientAddress: string | null
  /** As `detailsTextOf` writes it. */
  detailsJson: string
  /** Whether `model` is one of the catalog: only those have sums of their own. */
  isKnownModel: boolean
  /** Whether its time counts in the sums: that of an item of a provider's job says nothing. */
  hasTime: boolean
}

/** The row of a live call that has ended. */
export function toLogRow(line: RequestLine, organizationId: string): LogRow {
  const { facts, asker } = line
  const { story } = facts
  const last = story?.attempts.at(-1) ?? null
  const lastTried = facts.tried.at(-1) ?? null
  return {
    organizationId,
    requestId: line.requestId,
    generationId: facts.generationId,
    keyId: asker.keyId ?? '',
    outcome: outcomeOf(line),
    status: line.status,
    errorType: facts.errorType,
    operation: facts.operation,
    model: lastTried || facts.model === null ? facts.model : shownText(facts.model),
    provider: last?.endpoint.deployment.provider ?? null,
    deployment: lastTried?.deployment ?? null,
    userId: story?.call.userId ?? null,
    sessionId: story?.call.sessionId ?? null,
    batchId: null,
    streamed: story?.prepared?.isStreamed ?? false,
    attempts: facts.attempts,
    inputTokens: facts.inputTokens,
    outputTokens: facts.outputTokens,
    firstByteMs: wholeOrNull(facts.firstByteMs ?? last?.firstTokenMs ?? null),
    totalMs: Math.round(line.durationMs),
    costNanocredits: facts.costNanocredits,
    isEstimated: facts.isEstimated,
    clientAddress: asker.clientAddress === '' ? null : asker.clientAddress,
    detailsJson: detailsTextOf(facts),
    isKnownModel: lastTried !== null,
    hasTime: true,
  }
}

function outcomeOf({ status, facts }: RequestLine): LoggedOutcome {
  if (facts.errorType === null) return facts.isCancelled ? 'cancelled' : 'answered'
  if (facts.attempts > 0 || status >= 500 || status < 400) return 'failed'
  return 'refused'
}

/** A text of the caller: it may be anything, also a key in the wrong place. */
function shownText(text: string): string {
  return redactForLog(text.slice(0, callerTextMax))
}

/** The time at which the request of this id began, Unix milliseconds. */
export function beganAtMs(requestId: string): number {
  return Number.parseInt(requestId.slice(idPrefix.length, idPrefix.length + timeLength), 36)
}

const idPrefix = 'req_'
const timeLength = 9

/** The least id of a request that began at this time. */
export function firstIdAt(atMs: number): string {
  return idPrefix + Math.max(0, Math.floor(atMs)).toString(36).padStart(timeLength, '0')
}
