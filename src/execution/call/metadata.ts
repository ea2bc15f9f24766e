import type { BodyPieces } from '../../core/body.ts'
import type { Call } from '../../canonical/call.ts'
import type { Credential } from '../../canonical/credential.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { shownType, type ErrorType } from '../../core/errors.ts'
import { splitVariant } from '../../catalog/model-ids.ts'
import type { Exclusion } from '../../routing/exclusion.ts'
import type { AttemptLine } from '../../telemetry/call-line.ts'
import type { Candidate } from './prepared.ts'
import type { RequestScope } from './scope.ts'

/** One try of a call against one endpoint, with the marks that callers can see. Times are milliseconds from the call's start. */
export interface Attempt {
  endpoint: Endpoint
  candidate: Candidate
  /** With its secret; never shown. */
  credential: Credential
  startedMs: number
  headersMs: number | null
  firstTokenMs: number | null
  endedMs: number | null
  /** When a provider that refused may be asked again, by its own words; null where it named no time. */
  againMs: number | null
  status: number | null
  /** How long the provider has no room after this answer, by its headers; null where they do not say so. */
  restMs: number | null
  errorType: ErrorType | null
  /** The request body, kept for a caller who asked to see it. */
  sentBody?: BodyPieces
  /** The same attempt for the log and the metrics. */
  line: AttemptLine
}

/** The facts of a call that `metadataOf` shows to its caller. */
export interface MetadataSource {
  call: Call
  generationId: string
  attempts: readonly Attempt[]
  excluded: readonly Exclusion[]
  candidates: readonly Candidate[]
  chosen: Candidate | null
  losses: LostMembers
}

/** Names of a request's members that its provider does not get, and of those that it gets in another way. */
export interface LostMembers {
  dropped: readonly string[]
  approximated?: readonly string[]
}

/**
 * The `headrace_metadata` object: by default only the members that were lost, everything when the caller asked. The
 * members that the contract's `openrouter_metadata` requires are among them, so that one object serves both names.
 */
export function metadataOf(source: MetadataSource, scope: RequestScope): Record<string, unknown> | null {
  const lost = lostOf(source)
  if (scope.metadata === 'none') return lost
  const chosen = source.chosen
  return {
    requested: source.call.model,
    strategy: strategyOf(source),
    region: chosen?.endpoint.deployment.region ?? null,
    summary: summaryOf(source),
    attempt: Math.max(1, source.attempts.length),
    is_byok: chosen?.credential.isByok ?? false,
    generation_id: source.generationId,
    endpoints: {
      total: source.candidates.length + source.excluded.length,
      available: source.candidates.map((candidate) => ({
        provider: candidate.endpoint.deployment.providerName,
        model: candidate.endpoint.model,
        selected: candidate === chosen,
      })),
    },
    excluded: source.excluded.map(({ provider, model, step, reason }) => ({ provider, model, step, reason })),
    attempts: source.attempts.map(renderAttempt),
    ...lost,
  }
}

/** `alias` where the caller named the model by anything but its id or a variant of its id. */
function strategyOf({ attempts, call, chosen }: MetadataSource): 'fallback' | 'alias' | 'direct' {
  if (attempts.length > 1 || call.fallbackModels.length > 0) return 'fallback'
  const model = chosen?.endpoint.model ?? call.model
  return model === call.model || model === splitVariant(call.model).base ? 'direct' : 'alias'
}

/** Null when nothing was lost. */
function lostOf({ call, losses }: MetadataSource): Record<string, readonly string[]> | null {
  const dropped = [...new Set([...call.dropped, ...losses.dropped])]
  const { approximated = [] } = losses
  if (dropped.length === 0 && approximated.length === 0) return null
  return {
    ...(dropped.length > 0 ? { dropped } : {}),
    ...(approximated.length > 0 ? { approximated } : {}),
  }
}

function renderAttempt(attempt: Attempt): Record<string, unknown> {
  return {
    provider: attempt.endpoint.deployment.providerName,
    model: attempt.endpoint.model,
    status: attempt.status,
    ...(attempt.errorType ? { error_type: shownType(attempt.errorType).error_type } : {}),
    adapter_request_ms: Math.round(attempt.startedMs),
    upstream_headers_received_ms: rounded(attempt.headersMs),
    first_token_received_ms: rounded(attempt.firstTokenMs),
    upstream_body_ended_ms: rounded(attempt.endedMs),
  }
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value)
}

function summaryOf(source: MetadataSource): string {
  const tried = source.attempts.length
  const name = source.chosen?.endpoint.deployment.providerName ?? 'no provider'
  const { length } = source.candidates
  return `${name} answered at attempt ${tried}, with ${length} candidate${length === 1 ? '' : 's'}`
}
