import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { Deployment } from '../../canonical/endpoint.ts'
import type { UpstreamFailure } from '../../canonical/upstream.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { ProviderReport } from '../../formats/upstream-errors.ts'
import type { CallOutcome } from '../../routing/limiter.ts'
import { callerCredentialId } from './caller-login.ts'
import type { Attempt } from './metadata.ts'

/** What an attempt threw, as a failure of its provider. */
export function failureOf(thrown: unknown, attempt: Attempt): UpstreamFailure {
  if (thrown instanceof AttemptFailed) return thrown.failure
  const error = toGatewayError(thrown)
  // This process may have room again in a moment, so its own overload is tried again too.
  const isUpstream =
    isOwnFault(error) || error.type.startsWith('provider_') || error.type === 'upstream_rate_limited'
  // Without a status, the request was refused while it was encoded, before anything was sent. Another endpoint may
  // carry what this one cannot.
  return {
    error,
    retryElsewhere: isUpstream || (attempt.status === null && isUnsuited(error)),
    retrySame: isUpstream && error.type !== 'provider_timeout',
    credentialFault: false,
    retryAfterMs: error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1000,
  }
}

/** A deployment is not asked, because its quota has no room for so long: another may have, or this one in a moment. */
export function quotaUsedUp({ providerName }: Deployment, waitMs: number): UpstreamFailure {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  return {
    error: new GatewayError(
      'quota_used_up',
      `The quota of ${providerName} for a minute is used up. Try again in ${retryAfterSeconds} s.`,
      { retryAfterSeconds },
    ),
    retryElsewhere: true,
    retrySame: true,
    credentialFault: false,
    retryAfterMs: waitMs,
  }
}

/** Whether the failure is the gateway's own, which says nothing about a provider. */
export function isOwnFault({ type }: GatewayError): boolean {
  return type === 'gateway_overloaded'
}

/**
 * Whether a caller's own login failed, or used up its allowance. That says nothing about the operator's credential, so
 * neither the deployment's health nor its capacity for other callers changes.
 */
export function isOwnMatter({ error, credentialFault }: UpstreamFailure, { candidate }: Attempt): boolean {
  if (candidate.credential.id !== callerCredentialId) return false
  return credentialFault || error.type === 'upstream_rate_limited' || error.type === 'payment_required'
}

/** Whether only this endpoint refuses what is asked: another one may be able to carry it. */
export function isUnsuited(error: unknown): error is GatewayError {
  return (
    error instanceof GatewayError &&
    (error.type === 'invalid_request' || error.type === 'no_matching_endpoint')
  )
}

/** Whether the provider refused for want of room. */
export function isWithoutRoom({ type }: Pick<GatewayError, 'type'>): boolean {
  return type === 'upstream_rate_limited' || type === 'provider_overloaded'
}

/** What a gateway in front of a provider answers when it does not reach it; 52x are Cloudflare's. */
const unreachedStatuses: ReadonlySet<number> = new Set([502, 504, 520, 521, 522, 523, 524, 525, 526, 530])

/** Whether the provider itself answered that it failed. Otherwise it was not reached, as far as one can tell. */
export function isAnsweredFailure({ type, cause }: GatewayError): boolean {
  if (type !== 'provider_failed' || !(cause instanceof ProviderReport) || cause.status === null) return false
  return cause.status >= 500 && !unreachedStatuses.has(cause.status)
}

/** What a failure says about the provider's capacity. */
export function capacityOf(failure: UpstreamFailure): CallOutcome {
  return isWithoutRoom(failure.error)
    ? { type: 'refused', retryAfterMs: failure.retryAfterMs }
    : { type: 'other' }
}

/** The failure of a caller's refused login, in words for that caller; any other failure as it is. */
export function asOwn(failure: UpstreamFailure, attempt: Attempt): UpstreamFailure {
  if (!failure.credentialFault || !isOwnMatter(failure, attempt)) return failure
  const { providerName } = attempt.endpoint.deployment
  const message = `${providerName} refused the login that came with the call in "Authorization"; sign in there again.`
  const error = new GatewayError('authentication', message, { cause: failure.error.cause })
  return { ...failure, error, retryElsewhere: false, retrySame: false }
}
