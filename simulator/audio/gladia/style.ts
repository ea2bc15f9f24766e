import type { IncomingHttpHeaders } from 'node:http'
import type { ApiStyle } from '../../api-style.ts'
import { ApiError } from '../../errors.ts'
import { requestIdOf } from '../request-id.ts'

/** Gladia's texts by HTTP status. */
const usual: Readonly<Record<number, string>> = {
  400: 'Invalid parameter(s)',
  401: 'gladia key not found',
  403: 'Forbidden',
  404: 'Not found',
  422: 'The audio cannot be processed',
  429: 'Too many requests',
}

/** A refusal in Gladia's words. */
export function refusal(
  status: number,
  message = usual[status] ?? `The request failed with ${status}`,
): ApiError {
  return new ApiError({ status, message })
}

function authenticate(headers: IncomingHttpHeaders): void {
  const key = headers['x-gladia-key']
  if (typeof key !== 'string' || key === '' || key.startsWith('bad-key')) throw refusal(401)
}

/** How Gladia takes keys and words refusals. */
export const gladiaStyle: ApiStyle = {
  authenticate,
  errorBody: ({ message }, key) =>
    JSON.stringify({ message, request_id: `G-${requestIdOf(key).slice(0, 8)}` }),
  errorOf: ({ status, kind, message }) => refusal(status ?? (kind === 'overloaded' ? 503 : 400), message),
  headers: () => ({}),
}
