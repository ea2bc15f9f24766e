import type { GatewayError } from '../core/errors.ts'
import { coolDownDefaultMs } from '../core/limits/routing.ts'
import { writeContractError, type WriteError } from '../formats/client-convention.ts'

/** Which failures of storage mean which status on a route. */
export type RouteGroup = 'inference' | 'audio' | 'batches' | 'settings' | 'catalog'

/** How a route answers with an error. */
export interface ErrorRoute {
  group: RouteGroup
  /** The envelope of its clients; the contract's by default. */
  writeError?: WriteError
  /** The call that failed; absent or null where none began. */
  generationId?: string | null
}

/** A GatewayError as a response of such a route. */
export function errorResponse(error: GatewayError, route: ErrorRoute, headers: Headers): Response {
  const { group, writeError = writeContractError, generationId = null } = route
  headers.set('content-type', 'application/json')
  const status = statusOf(error, group)
  const waitSeconds = error.retryAfterSeconds ?? usualWaitSeconds(status)
  if (generationId !== null) headers.set('x-generation-id', generationId)
  if (waitSeconds !== null) headers.set('retry-after', String(Math.max(1, Math.ceil(waitSeconds))))
  if (error.rateLimit !== null) {
    // As the contract has them: on refusals by limits of the gateway's own alone, the time in Unix milliseconds.
    headers.set('x-ratelimit-limit', String(error.rateLimit.limit))
    headers.set('x-ratelimit-remaining', '0')
    headers.set('x-ratelimit-reset', String(Math.ceil(error.rateLimit.resetAtMs)))
  }
  return new Response(JSON.stringify(writeError({ error, status, generationId })), { status, headers })
}

/** Errors that promise a time to come again must state one even when a provider named none; then it is this rest. */
function usualWaitSeconds(status: number): number | null {
  return status === 429 || status === 503 ? coolDownDefaultMs / 1000 : null
}

const ownFailures: ReadonlySet<string> = new Set([
  'storage_unavailable',
  'shutting_down',
  'gateway_overloaded',
  'balance_set_aside',
])

// Storage out of order, or a process that is stopping or has no room: 502 on batches, 500 on settings, 503 elsewhere, as the
// specification's lists of statuses per operation leave no other slot.
function statusOf(error: GatewayError, group: RouteGroup): number {
  if (ownFailures.has(error.type)) {
    if (group === 'batches') return 502
    if (group === 'settings') return 500
  }
  return error.status
}
