import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, errorBody } from './errors.ts'
import type { ErrorFault, ErrorKind, Faults } from './faults.ts'
import { lettersOf } from './random.ts'

/** The inputs of the usual headers of an answer. */
export interface HeaderSubject {
  mountName: string
  /** The key of the call, from which its ids come. */
  key: string
  elapsedMs: number
  faults: Faults
}

/** The common rules of all operations of one API. */
export interface ApiStyle {
  /** Throws `ApiError` 401 for a request without a usable key. */
  authenticate(headers: IncomingHttpHeaders): void
  /** The body of a refusal; the key gives it the request id that its headers carry. */
  errorBody(error: ApiError, key: string): string
  /** The API's error for a fault. */
  errorOf(fault: ErrorFault): ApiError
  /** Headers that tell about an error; absent where only the body does. */
  errorHeaders?(error: ApiError): Record<string, string>
  headers(subject: HeaderSubject): Record<string, string>
  /** Whether the body of a refusal is something other than JSON. */
  isPlain?(error: ApiError): boolean
  /** Whether the wait before a retry is in the refusal's body instead of a header. */
  tellsWaitInBody?: true
}

export const requestsPerMinute = 10_000
export const tokensPerMinute = 2_000_000

/** OpenAI's errors by status, when nothing more is known. */
const usual: Record<number, Omit<ErrorFault, 'status'>> = {
  400: { message: 'The request could not be understood.' },
  401: {
    code: 'invalid_api_key',
    message: 'Incorrect API key provided: sk-hidde*****. Check the key in your account.',
  },
  402: { code: 'billing_not_active', message: 'The account has no active billing.' },
  403: { code: 'unsupported_country_region_territory', message: 'This request is not permitted.' },
  404: { code: 'model_not_found', message: 'The model does not exist or is not available to you.' },
  408: { type: 'timeout', message: 'The request took too long.' },
  413: { message: 'The request is too large.' },
  429: {
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests per minute. Limit 500, used 500. Please try again later.',
  },
  503: { type: 'server_error', message: 'The service is temporarily unavailable.' },
  529: { type: 'overloaded_error', code: 'overloaded', message: 'The service is overloaded.' },
}

const ofKind: Record<
  ErrorKind,
  { status: number; message: string; type?: string; param?: string; code?: string }
> = {
  overloaded: {
    status: 503,
    type: 'server_error',
    message: 'The engine is currently overloaded, please try again later.',
  },
  context_length: {
    status: 400,
    param: 'messages',
    code: 'context_length_exceeded',
    message: 'The maximum context length of this model is 128000 tokens. Please shorten the messages.',
  },
  insufficient_quota: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'The current quota is used up. Please check plan and billing.',
  },
}

const serverError = {
  type: 'server_error',
  message: 'The server had an error while processing the request.',
}

function openAiErrorOf(fault: ErrorFault): ApiError {
  if (fault.kind !== undefined) return new ApiError({ ...ofKind[fault.kind] })
  const status = fault.status ?? 500
  const refusal = { message: `The request was refused with status ${status}.` }
  const otherwise = status >= 500 ? serverError : refusal
  const known: Omit<ErrorFault, 'status'> = usual[status] ?? otherwise
  const message = fault.message ?? known.message ?? otherwise.message
  return new ApiError({ ...known, ...fault, message, status })
}

function authenticate({ authorization }: IncomingHttpHeaders): void {
  const key = bearerKeyOf(authorization)
  if (key !== null && !key.startsWith('bad-key')) return
  // OpenAI repeats the beginning and the end of the key in this message; a gateway must not pass that on.
  const shown = key === null ? '' : `: ${key.slice(0, 8)}*****${key.slice(-4)}`
  const message = key === null ? 'No API key was provided.' : `Incorrect API key provided${shown}.`
  throw new ApiError({
    status: 401,
    message: `${message} Send it as "Authorization: Bearer KEY".`,
    code: 'invalid_api_key',
  })
}

/** The key of a bearer header; null when there is none. */
export function bearerKeyOf(header: string | undefined): string | null {
  return /^Bearer\s+(\S+)\s*$/i.exec(header ?? '')?.[1] ?? null
}

function usualHeaders({ mountName, key, elapsedMs, faults }: HeaderSubject): Record<string, string> {
  const headers: Record<string, string> = {
    'x-request-id': `req_${lettersOf(`request ${key}`, 32)}`,
    'openai-processing-ms': String(Math.round(elapsedMs)),
    'openai-version': '2020-10-01',
    'openai-organization': `simulator-${mountName}`,
  }
  if (faults.noRateLimits === true) return headers
  const isLimited = faults.error?.status === 429 || faults.error?.kind === 'insufficient_quota'
  return {
    ...headers,
    'x-ratelimit-limit-requests': String(requestsPerMinute),
    'x-ratelimit-limit-tokens': String(tokensPerMinute),
    'x-ratelimit-remaining-requests': String(isLimited ? 0 : requestsPerMinute - 1),
    'x-ratelimit-remaining-tokens': String(isLimited ? 0 : tokensPerMinute - 1_000),
    'x-ratelimit-reset-requests': isLimited ? `${faults.error?.retryAfterSeconds ?? 1}s` : '6ms',
    'x-ratelimit-reset-tokens': '30ms',
  }
}

/** Chat completions, embeddings, speech, transcriptions and their models, as OpenAI serves them. */
export const openAiStyle: ApiStyle = {
  authenticate,
  errorBody,
  errorOf: openAiErrorOf,
  headers: usualHeaders,
}

/** For responses only the name of the limit differs. */
export const responsesStyle: ApiStyle = {
  ...openAiStyle,
  errorOf(fault) {
    const error = openAiErrorOf(fault)
    if (fault.kind !== 'context_length') return error
    const { status, message, code } = error
    return new ApiError({ status, message, code, param: 'input' })
  },
}
