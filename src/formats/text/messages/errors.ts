import type { StreamFrames } from '../halves.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { contractErrorOf, type ShownError } from '../../client-convention.ts'

/** By the contract's `error_type`; every other failure is the API's. */
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

/** Anthropic's word for such a failure. */
function errorTypeOf({ contractType }: GatewayError): string {
  return types[contractType] ?? 'api_error'
}

/** The contract's envelope inside Anthropic's, so that clients of both kinds read it; `request_id` is there the generation. */
export function writeMessagesErrorBody({ error, status, generationId }: ShownError): Record<string, unknown> {
  return {
    type: 'error',
    error: { type: errorTypeOf(error), ...threadDetails(error), ...contractErrorOf(error, status) },
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

/** What a stream shows that nobody has begun. */
export const messagesFrames: StreamFrames = {
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  writeError: (error, { generationId }) => writeMessagesError(error, generationId),
}
