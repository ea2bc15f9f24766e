import { keepAliveComment, type StreamFrames } from '../halves.ts'
import type { GatewayError } from '../../../core/errors.ts'

/** An error inside a response, in the words of the format's closed list. */
export function writeResponsesError(error: GatewayError): { code: string; message: string } {
  return { code: codeOf(error), message: error.message }
}

/** The contract's words for what the caller can mend; every other failure is the server's. */
const callersFaults: ReadonlySet<string> = new Set([
  'invalid_request',
  'context_length_exceeded',
  'content_policy_violation',
])

function codeOf({ contractType }: GatewayError): string {
  if (contractType === 'rate_limit_exceeded') return 'rate_limit_exceeded'
  return callersFaults.has(contractType) ? 'invalid_prompt' : 'server_error'
}

/** What a stream shows that nobody has begun. */
export const responsesFrames: StreamFrames = {
  keepAlive: keepAliveComment,
  writeError(error) {
    const { code, message } = writeResponsesError(error)
    const event = { type: 'error', sequence_number: 0, code, message, param: error.param }
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  },
}
