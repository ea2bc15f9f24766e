import type { IncomingHttpHeaders } from 'node:http'
import type { ApiStyle } from '../../api-style.ts'
import { ApiError } from '../../errors.ts'
import type { ErrorFault, ErrorKind } from '../../faults.ts'
import { requestIdOf } from '../request-id.ts'

/** Deepgram's errors by status: a code and a text. */
const usual: Record<number, { code: string; message: string }> = {
  400: { code: 'Bad Request', message: 'Bad Request: failed to process audio: corrupt or unsupported data' },
  401: { code: 'INVALID_AUTH', message: 'Invalid credentials.' },
  402: {
    code: 'ASR_PAYMENT_REQUIRED',
    message:
      'Project does not have enough credits for an ASR request and does not have an overage agreement.',
  },
  403: {
    code: 'INSUFFICIENT_PERMISSIONS',
    message: 'Project does not have access to the requested model.',
  },
  408: { code: 'SLOW_UPLOAD', message: 'Client took too long to send the data.' },
  413: { code: 'PAYLOAD_TOO_LARGE', message: 'The payload is larger than the limit.' },
  429: { code: 'TOO_MANY_REQUESTS', message: 'Too many requests. Please try again later' },
  503: { code: 'SERVICE_UNAVAILABLE', message: 'The service is currently unavailable.' },
}

const ofKind: Record<ErrorKind, number> = { overloaded: 503, context_length: 413, insufficient_quota: 402 }

function errorOf(fault: ErrorFault): ApiError {
  const status = fault.kind === undefined ? (fault.status ?? 500) : ofKind[fault.kind]
  const known = usual[status] ?? { code: `HTTP_${status}`, message: `The request failed with ${status}.` }
  const { code = known.code, message = known.message } = fault
  return new ApiError({ status, code, message })
}

/** A refusal of Deepgram's with its code. */
export function refusal(status: number, code: string, message: string): ApiError {
  return new ApiError({ status, code, message })
}

/** The categories of refusals of a JSON body. */
const categories = new Set(['INVALID_JSON', 'UNPROCESSABLE_ENTITY'])
/** A 404 for an unknown path or project has plain text. */
const isPlain = ({ status, code }: ApiError) => status === 404 && code === null

function errorBody(error: ApiError, key: string): string {
  const { code, message } = error
  if (isPlain(error)) return message
  const requestId = requestIdOf(key)
  return code !== null && categories.has(code)
    ? JSON.stringify({ category: code, message, details: 'See the message.', request_id: requestId })
    : JSON.stringify({ err_code: code ?? 'Bad Request', err_msg: message, request_id: requestId })
}

const keyPattern = /^Token (\S+)$/
/** Only short-lived tokens (some minutes) are sent as a bearer; they have three parts. */
const tokenPattern = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i

function authenticate({ authorization = '' }: IncomingHttpHeaders): void {
  const key = keyPattern.exec(authorization)?.[1] ?? tokenPattern.exec(authorization)?.[1]
  if (key === undefined || key.startsWith('bad-key')) throw errorOf({ status: 401 })
}

export const deepgramStyle: ApiStyle = {
  authenticate,
  errorBody,
  errorOf,
  isPlain,
  headers: ({ key }) => ({ 'dg-request-id': requestIdOf(key) }),
}
