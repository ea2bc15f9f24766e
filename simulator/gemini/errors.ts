import type { IncomingHttpHeaders } from 'node:http'
import type { ApiStyle, HeaderSubject } from '../api-style.ts'
import { ApiError } from '../errors.ts'
import type { ErrorFault, ErrorKind } from '../faults.ts'
import type { JsonObject } from '../json.ts'

/** Google's error status and its text, when nothing more is known. */
const usual: Record<number, { status: string; message: string }> = {
  400: { status: 'INVALID_ARGUMENT', message: 'Request contains an invalid argument.' },
  401: { status: 'UNAUTHENTICATED', message: 'The request had invalid authentication credentials.' },
  403: { status: 'PERMISSION_DENIED', message: 'The caller does not have permission.' },
  404: { status: 'NOT_FOUND', message: 'The requested entity was not found.' },
  429: { status: 'RESOURCE_EXHAUSTED', message: 'Resource has been exhausted (e.g. check quota).' },
  500: { status: 'INTERNAL', message: 'An internal error has occurred.' },
  503: { status: 'UNAVAILABLE', message: 'The service is currently unavailable.' },
  504: { status: 'DEADLINE_EXCEEDED', message: 'The deadline expired before the request was finished.' },
}

const ofKind: Record<ErrorKind, { status: number; message: string }> = {
  overloaded: { status: 503, message: 'The model is overloaded. Please try again later.' },
  context_length: {
    status: 400,
    message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  },
  insufficient_quota: {
    status: 429,
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
}

/** Google's error for a fault. A wait is stated in the body. */
function googleErrorOf(fault: ErrorFault): ApiError {
  const status = fault.kind === undefined ? (fault.status ?? 500) : ofKind[fault.kind].status
  const message =
    fault.message ??
    (fault.kind === undefined ? undefined : ofKind[fault.kind].message) ??
    usual[status]?.message ??
    `The request was refused with status ${status}.`
  const seconds = fault.retryAfterMs === undefined ? fault.retryAfterSeconds : fault.retryAfterMs / 1000
  const details = seconds === undefined ? undefined : retryInfo(seconds)
  return new ApiError({ status, message, ...(details === undefined ? {} : { details }) })
}

function retryInfo(seconds: number): JsonObject {
  return { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }
}

function statusOf(status: number): string {
  return usual[status]?.status ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

/** Messages of the shared checks that Google words in its own way, by their code. */
function wordsOf({ code, message, param }: ApiError): string {
  const name = param?.split('.').at(-1) ?? ''
  if (code === 'unknown_parameter')
    return `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`
  if (code === 'missing_required_parameter') return `* ${param}: required field is not specified`
  return message
}

/** The error object of Google's envelope, which bodies and streams share. */
export function googleErrorObject(error: ApiError): JsonObject {
  const details = error.details === undefined ? {} : { details: [error.details] }
  return { code: error.status, message: wordsOf(error), status: statusOf(error.status), ...details }
}

function authenticate(headers: IncomingHttpHeaders): void {
  const key = headers['x-goog-api-key']
  if (typeof key !== 'string' || key === '') {
    const message = "Method doesn't allow unregistered callers. Please use API Key to call this API."
    throw new ApiError({ status: 403, message })
  }
  if (!key.startsWith('bad-key')) return
  throw new ApiError({
    status: 400,
    message: 'API key not valid. Please pass a valid API key.',
    details: {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
    },
  })
}

/** Google's answers have no headers about limits. */
function usualHeaders({ elapsedMs }: HeaderSubject): Record<string, string> {
  return { 'server-timing': `gfet4t7; dur=${Math.round(elapsedMs)}` }
}

/** Contents, embeddings and models, as Google AI Studio serves them. */
export const googleStyle: ApiStyle = {
  authenticate,
  errorBody: (error) => JSON.stringify({ error: googleErrorObject(error) }, null, 2),
  errorOf: googleErrorOf,
  headers: usualHeaders,
  tellsWaitInBody: true,
}
