import type { StreamFrames } from '../halves.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { contractErrorOf, type ShownError } from '../../client-convention.ts'

/** Anthropic's error types by the contract's `error_type`; every other failure is an `api_error`. */
const types: Readonly<Record<string, string>> = {
  invalid_request: 'invalid_request_error',
  context_length_exceeded: 'invalid_request_error',
  max_tokens_exceeded: 'invalid_request_error',
  string_too_long: 'invalid_request_error',
  content_policy_violation: 'invalid_request_error',
  unprocessable: 'invalid_request_error',
  authentication: 'authentication_error',
  payment_required: 'billing_error',
  permission_denied: 'permission_error',
  not_found: 'not_found_error',
  precondition_failed: 'conflict_error',
  payload_too_large: 'request_too_large',
  rate_limit_exceeded: 'rate_limit_error',
  provider_overloaded: 'overloaded_error',
  timeout: 'timeout_error',
}

/** Anthropic's error type for a failure of this `error_type`. */
export function messagesErrorTypeOf(contractType: string): string {
  return types[contractType] ?? 'api_error'
}

function errorTypeOf({ contractType }: GatewayError): string {
  return messagesErrorTypeOf(contractType)
}

/**
 * The contract's envelope inside Anthropic's, so that clients of both kinds can read it; `request_id` in it is the
 * generation's id.
 */
export function writeMessagesErrorBody({ error, status, generationId }: ShownError): Record<string, unknown> {
  return {
    type: 'error',
    error: { type: errorTypeOf(error), ...threadDetails(error), ...contractErrorOf(error, status) },
    request_id: generationId,
  }
}

/** This code tells Anthropic's clients to send the whole conversation instead of the newest part of a thread. */
function threadDetails({ param }: GatewayError): Record<string, unknown> {
  return param === 'thread' ? { details: { error_code: 'thread_unsupported_request' } } : {}
}

/** An error event in Anthropic's form, with the contract's members inside. */
export function writeMessagesError(error: GatewayError, generationId: string): string {
  const event = {
    type: 'error',
    error: {
      type: errorTypeOf(error),
      message: error.message,
      code: error.status,
      error_type: error.contractType,
      ...(error.metadata === null ? {} : { metadata: error.metadata }),
    },
    request_id: generationId,
  }
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`
}

/** The frames that a stream shows before any provider has answered. */
export const messagesFrames: StreamFrames = {
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  writeError: (error, { generationId }) => writeMessagesError(error, generationId),
}
