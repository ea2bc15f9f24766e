import type { IncomingHttpHeaders } from 'node:http'
import type { ApiStyle } from '../../api-style.ts'
import { ApiError } from '../../errors.ts'
import type { ErrorKind } from '../../faults.ts'

/** AssemblyAI's errors by status: only a text. */
const usual: Readonly<Record<number, string>> = {
  400: 'Invalid endpoint schema, please refer to documentation for examples.',
  401: 'Authentication error, API token missing/invalid',
  403: 'Cannot access uploaded file',
  404: 'Not found',
  429: 'Too many requests. Please retry after the wait that the header names.',
  500: 'Server error, developers have been alerted.',
}

const statusOf: Readonly<Record<ErrorKind, number>> = {
  overloaded: 503,
  context_length: 400,
  insufficient_quota: 400,
}

/** A refusal in AssemblyAI's words. */
export function refusal(
  status: number,
  message = usual[status] ?? `Request failed with status ${status}`,
): ApiError {
  return new ApiError({ status, message })
}

/** The header has only the key, without a scheme before it. */
function authenticate({ authorization }: IncomingHttpHeaders): void {
  const isKey = authorization !== undefined && /^\S+$/.test(authorization)
  if (!isKey || authorization.startsWith('bad-key')) throw refusal(401)
}

/** How AssemblyAI takes keys and words refusals. */
export const assemblyAiStyle: ApiStyle = {
  authenticate,
  errorBody: ({ message }) => JSON.stringify({ error: message }),
  errorOf({ status, kind, message }) {
    const told = status ?? (kind === undefined ? 500 : statusOf[kind])
    const words =
      kind === 'insufficient_quota'
        ? 'Your current account balance is negative. Please top up to continue using the API.'
        : undefined
    return refusal(told, message ?? words)
  },
  headers: () => ({}),
}
