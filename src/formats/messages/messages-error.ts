import type { GatewayError } from '../../core/errors.ts'
import { contractErrorOf, type ShownError } from '../client-convention.ts'

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  524: 'timeout_error',
  529: 'overloaded_error',
}

/** Anthropic's word for a failure with this status. */
function errorTypeOf(status: number): string {
  return types[status] ?? 'api_error'
}

/** The contract's envelope inside Anthropic's, so that clients of both kinds read it; `request_id` is there the generation. */
export function writeMessagesErrorBody({ error, status, generationId }: ShownError): Record<string, unknown> {
  return {
    type: 'error',
    error: { type: errorTypeOf(status), ...threadDetails(error), ...contractErrorOf(error, status) },
    request_id: generationId,
  }
}

/** By this code Anthropic's clients know that they have to send the whole conversation instead of a thread's newest part. */
function threadDetails({ param }: GatewayError): Record<string, unknown> {
  return param === 'thread' ? { details: { error_code: 'thread_unsupported_request' } } : {}
}

/** An error event as Anthropic's clients read it, with the contract's members inside. */
export function writeMessagesError(error: GatewayError, generationId: string): string {
  const event = {
    type: 'error',
    error: {
      type: errorTypeOf(error.status),
      message: error.message,
      code: error.status,
      error_type: error.contractType,
      ...(error.metadata === null ? {} : { metadata: error.metadata }),
    },
    request_id: generationId,
  }
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`
}
