import type { ApiStyle } from '../../api-style.ts'
import { bearerKeyOf } from '../../api-style.ts'
import { ApiError } from '../../errors.ts'

/** Speechmatics' errors by status: a word from the documented list. */
const usual: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Permission Denied',
  403: 'Forbidden',
  404: 'Job not found',
  410: 'Job Expired',
  423: 'Resource Locked',
  429: 'Rate Limited',
  500: 'Internal Server Error',
}

/** A refusal in Speechmatics' words; `detail` says more. */
export function refusal(status: number, detail?: string): ApiError {
  const message = usual[status] ?? `Status ${status}`
  return new ApiError({ status, message, ...(detail === undefined ? {} : { code: detail }) })
}

/** How Speechmatics takes keys and words refusals. */
export const speechmaticsStyle: ApiStyle = {
  authenticate({ authorization }) {
    const key = bearerKeyOf(authorization)
    if (key === null || key.startsWith('bad-key')) throw refusal(401)
  },
  errorBody: ({ status, message, code }) =>
    JSON.stringify({ code: status, error: message, ...(code === null ? {} : { detail: code }) }),
  errorOf: ({ status, kind, message }) => refusal(status ?? (kind === 'overloaded' ? 503 : 400), message),
  headers: () => ({}),
}
