import type { AttemptLine, CallStory, RequestLine } from '../../telemetry/call-line.ts'
import { redactForLog } from '../../telemetry/logger.ts'

/** Characters of a text that a caller chose, such as a model's name. */
const callerTextMax = 200
/** Attempts and left-out endpoints that a row tells, and characters of a provider's words: a row has about 1 kB at most. */
export const attemptsToldMax = 8
export const excludedToldMax = 20
const saidLengthMax = 300
const detailsLengthMax = 4_000

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
  detailsJson: string
  /** Whether `model` is one of the catalog: only those have sums of their own. */
  isKnownModel: boolean
}

/** What a row tells besides its columns. Members are absent where there is nothing to tell. */
export interface LogDetails {
  hold_nanocredits?: string
  attempts?: readonly LoggedAttempt[]
  excluded?: readonly { provider: string; model: string; step: string; reason: string }[]
}

/** One attempt of a logged call; times are whole milliseconds since the call began. */
export interface LoggedAttempt {
  deployment: string
  provider_name: string
  model: string
  outcome: AttemptLine['outcome']
  status: number | null
  error_type: string | null
  said?: string
  started_ms: number
  headers_ms: number | null
  first_token_ms: number | null
  ended_ms: number | null
}

/** The row of a call that has ended. `batchId` is null for live calls. */
export function toLogRow(line: RequestLine, organizationId: string, batchId: string | null = null): LogRow {
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
    batchId,
    streamed: story?.prepared?.isStreamed ?? false,
    attempts: facts.attempts,
    inputTokens: facts.inputTokens,
    outputTokens: facts.outputTokens,
    firstByteMs: wholeOrNull(facts.firstByteMs ?? last?.firstTokenMs ?? null),
    totalMs: Math.round(line.durationMs),
    costNanocredits: facts.costNanocredits,
    isEstimated: facts.isEstimated,
    clientAddress: asker.clientAddress === '' ? null : asker.clientAddress,
    detailsJson: detailsOf(story),
    isKnownModel: lastTried !== null,
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

const nothing = '{}'

function detailsOf(story: CallStory | null): string {
  if (story === null) return nothing
  const { prepared, attempts, excluded } = story
  const details: LogDetails = {
    ...(prepared === null ? {} : { hold_nanocredits: prepared.hold.amountNanocredits.toString() }),
    ...(attempts.length === 0 ? {} : { attempts: attempts.slice(-attemptsToldMax).map(toldAttempt) }),
    ...(excluded.length === 0 ? {} : { excluded: excluded.slice(0, excludedToldMax).map(toldExclusion) }),
  }
  const text = JSON.stringify(details)
  if (text.length <= detailsLengthMax) return text
  const { excluded: _, ...shorter } = details
  return JSON.stringify(shorter)
}

function toldAttempt({ endpoint, line, status, ...times }: CallStory['attempts'][number]): LoggedAttempt {
  return {
    deployment: line.deployment,
    provider_name: endpoint.deployment.providerName,
    model: line.model,
    outcome: line.outcome,
    status: line.status ?? status,
    error_type: line.errorType,
    ...(line.said === null ? {} : { said: line.said.slice(0, saidLengthMax) }),
    started_ms: Math.round(times.startedMs),
    headers_ms: wholeOrNull(times.headersMs),
    first_token_ms: wholeOrNull(times.firstTokenMs),
    ended_ms: wholeOrNull(times.endedMs),
  }
}

function toldExclusion({ provider, model, step, reason }: CallStory['excluded'][number]) {
  return { provider, model, step, reason }
}

function wholeOrNull(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds)
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
