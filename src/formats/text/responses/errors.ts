import { keepAliveComment, type StreamFrames } from '../halves.ts'
import type { GatewayError } from '../../../core/errors.ts'

/** An error inside a response, with a code of the format's closed list. */
export function writeResponsesError(error: GatewayError): { code: string; message: string } {
  return { code: responsesCode(error), message: error.message }
}

/** Error types of the contract that the caller can fix; every other failure is the server's. */
const callersFaults: ReadonlySet<string> = new Set([
  'invalid_request',
  'context_length_exceeded',
  'content_policy_violation',
])

function responsesCode({ contractType }: GatewayError): string {
  if (contractType === 'rate_limit_exceeded') return 'rate_limit_exceeded'
  return callersFaults.has(contractType) ? 'invalid_prompt' : 'server_error'
}

/** The frames that a stream shows before any provider has answered. */
export const responsesFrames: StreamFrames = {
  keepAlive: keepAliveComment,
  writeError(error) {
    const { code, message } = writeResponsesError(error)
    const event = { type: 'error', sequence_number: 0, code, message, param: error.param }
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  },
}
