import { GatewayError } from '../core/errors.ts'
import { isOutOfDescriptors, noDescriptors, type Descriptors } from './descriptors.ts'

/** The caller of the exchange ended it. */
export function abandoned(): GatewayError {
  return new GatewayError('deadline', 'The call was ended before the provider had answered.')
}

/** The exchange ran out of its whole time. */
export function deadlinePassed(): GatewayError {
  return new GatewayError('deadline', 'The call ran out of its time before the provider had answered.')
}

/** The head of the answer is late. */
export function timedOut(): GatewayError {
  return new GatewayError('provider_timeout', 'The provider did not begin to answer in time.')
}

/** The body was silent for too long. */
export function stalled(): GatewayError {
  return new GatewayError('provider_failed', 'The provider stopped in the middle of its answer.')
}

/** The answer names another address. */
export function redirected(status: number): GatewayError {
  return new GatewayError(
    'provider_failed',
    'The provider answered with a redirect, which is not followed.',
    {
      cause: new Error(`status ${status}`),
    },
  )
}

/** The error for a request without a response. The runtime has several codes for a connection that this process could not open. */
export function unsent(thrown: unknown, descriptors: Pick<Descriptors, 'areUsedUp'> | null): GatewayError {
  const failure = toFailure(thrown)
  if (thrown === failure) return failure
  return isOutOfDescriptors(thrown) || descriptors?.areUsedUp() === true
    ? noDescriptors(failure.cause)
    : failure
}

/** The error for a broken connection. It keeps only the code: the runtime's messages name the host. */
export function toFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
  const cause = new Error(`connection: ${code}`)
  if (unreachable.has(code))
    return new GatewayError('provider_failed', 'The provider could not be reached.', { cause })
  return new GatewayError('provider_failed', 'The connection to the provider broke off.', { cause })
}

const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'FailedToOpenSocket',
])
