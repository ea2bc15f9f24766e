import type { GatewayError } from '../core/errors.ts'
import { coolDownDefaultMs } from '../core/limits/routing.ts'
import { messagesErrorType } from '../formats/messages/messages-error.ts'

/** Which envelope a route answers with, and which failures of storage mean which status there. */
export type RouteGroup = 'inference' | 'messages' | 'audio' | 'batches' | 'settings' | 'catalog'

/**
 * The contract's envelope: `code` equals the HTTP status, both members always present. On messages it stands inside
 * Anthropic's, so that clients of both kinds read it; `request_id` is there the generation, null where none began.
 */
export function errorBody(
  error: GatewayError,
  group: RouteGroup = 'inference',
  generationId: string | null = null,
): Record<string, unknown> {
  const status = statusOf(error, group)
  const metadata = { error_type: error.contractType, ...error.metadata }
  const isMessages = group === 'messages'
  return {
    ...(isMessages ? { type: 'error' } : {}),
    error: {
      ...(isMessages ? { type: messagesErrorType(status), ...threadDetails(error) } : {}),
      code: status,
      message: error.message,
      ...(error.param === null ? {} : { param: error.param }),
      error_type: error.contractType,
      metadata,
    },
    ...(isMessages ? { request_id: generationId } : {}),
  }
}

/** By this code Anthropic's clients know that they have to send the whole conversation instead of a thread's newest part. */
function threadDetails({ param }: GatewayError): Record<string, unknown> {
  return param === 'thread' ? { details: { error_code: 'thread_unsupported_request' } } : {}
}

/** A GatewayError as a response of a route of this group. */
export function errorResponse(
  error: GatewayError,
  group: RouteGroup,
  headers: Headers,
  generationId: string | null = null,
): Response {
  headers.set('content-type', 'application/json')
  const status = statusOf(error, group)
  const waitSeconds = error.retryAfterSeconds ?? usualWaitSeconds(status)
  if (generationId !== null) headers.set('x-generation-id', generationId)
  if (waitSeconds !== null) headers.set('retry-after', String(Math.max(1, Math.ceil(waitSeconds))))
  return new Response(JSON.stringify(errorBody(error, group, generationId)), { status, headers })
}

/** What is promised to say when to come again says so although a provider named no time: then it rests for this long. */
function usualWaitSeconds(status: number): number | null {
  return status === 429 || status === 503 ? coolDownDefaultMs / 1000 : null
}

// Storage out of order or a process that is stopping: 502 on batches, 500 on settings, 503 elsewhere, as the
// specification's lists of statuses per operation leave no other slot.
function statusOf(error: GatewayError, group: RouteGroup): number {
  if (error.type === 'storage_unavailable' || error.type === 'shutting_down') {
    if (group === 'batches') return 502
    if (group === 'settings') return 500
  }
  return error.status
}
