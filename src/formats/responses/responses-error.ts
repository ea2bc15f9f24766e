import type { GatewayError } from '../../core/errors.ts'

/** An error inside a response, in the words of the format's closed list. */
export function writeResponsesError(error: GatewayError): { code: string; message: string } {
  return { code: codeOf(error), message: error.message }
}

function codeOf({ status, type }: GatewayError): string {
  if (status === 429) return 'rate_limit_exceeded'
  if (type === 'content_policy_violation') return 'invalid_prompt'
  return status < 500 ? 'invalid_prompt' : 'server_error'
}
