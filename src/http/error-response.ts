import type { GatewayError } from '../core/errors.ts'
import { coolDownDefaultMs } from '../core/limits/routing.ts'
import { writeContractError, type WriteError } from '../formats/client-convention.ts'

/** The groups of routes; the group decides the status of a storage failure. */
export type RouteGroup = 'inference' | 'audio' | 'batches' | 'settings' | 'catalog'

/** How a route answers with an error. */
export interface ErrorRoute {
  group: RouteGroup
  /** The envelope of its clients; the contract's by default. */
  writeError?: WriteError
  /** The id of the failed call; absent or null when no call began. */
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
    // As in the contract: only for refusals by the gateway's own limits, with the time in Unix milliseconds.
    headers.set('x-ratelimit-limit', String(error.rateLimit.limit))
    headers.set('x-ratelimit-remaining', '0')
    headers.set('x-ratelimit-reset', String(Math.ceil(error.rateLimit.resetAtMs)))
  }
  return new Response(JSON.stringify(writeError({ error, status, generationId })), { status, headers })
}

/** A 429 or 503 must state a wait even when no provider named one; this is the default. */
function usualWaitSeconds(status: number): number | null {
  return status === 429 || status === 503 ? coolDownDefaultMs / 1000 : null
}

const ownFailures: ReadonlySet<string> = new Set([
  'storage_unavailable',
  'shutting_down',
  'gateway_overloaded',
  'balance_set_aside',
])

// The status when storage is out of order, or the process is stopping or out of room: 502 on batches, 500 on settings,
// 503 elsewhere. The specification's lists of statuses per operation leave no other choice.
function statusOf(error: GatewayError, group: RouteGroup): number {
  if (ownFailures.has(error.type)) {
    if (group === 'batches') return 502
    if (group === 'settings') return 500
  }
  return error.status
}
