import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import {
  type ApiStyle,
  bearerKeyOf,
  type HeaderSubject,
  requestsPerMinute,
  tokensPerMinute,
} from '../api-style.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import type { ErrorFault, ErrorKind } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'

/** Anthropic's error type for a status and its text, when nothing more is known. */
const usual: Record<number, { type: string; message: string }> = {
  400: { type: 'invalid_request_error', message: 'The request could not be understood.' },
  401: { type: 'authentication_error', message: 'invalid x-api-key' },
  402: { type: 'billing_error', message: 'The credit balance is too low. Please check plan and billing.' },
  403: { type: 'permission_error', message: 'The API key has no permission for this resource.' },
  404: { type: 'not_found_error', message: 'The requested resource was not found.' },
  409: { type: 'conflict_error', message: 'The request conflicts with another one.' },
  413: { type: 'request_too_large', message: 'Request exceeds the maximum size' },
  429: {
    type: 'rate_limit_error',
    message: 'This request would exceed the rate limit of the organization: 500 requests per minute.',
  },
  500: { type: 'api_error', message: 'Internal server error' },
  504: { type: 'timeout_error', message: 'The request took too long.' },
  529: { type: 'overloaded_error', message: 'Overloaded' },
}

const ofKind: Record<ErrorKind, { status: number; message?: string }> = {
  overloaded: { status: 529 },
  context_length: { status: 400, message: 'prompt is too long: 200001 tokens > 200000 maximum' },
  insufficient_quota: { status: 402 },
}

function usualOf(status: number): { type: string; message: string } {
  const known = usual[status]
  if (known !== undefined) return known
  if (status >= 500) return { type: 'api_error', message: 'Internal server error' }
  return { type: 'invalid_request_error', message: `The request was refused with status ${status}.` }
}

/** Anthropic's error for a fault. */
function anthropicErrorOf(fault: ErrorFault): ApiError {
  const { status, message } = fault.kind === undefined ? { ...fault } : ofKind[fault.kind]
  const known = usualOf(status ?? 500)
  return new ApiError({
    status: status ?? 500,
    type: fault.type ?? known.type,
    message: fault.message ?? message ?? known.message,
  })
}

/** Messages of the shared checks that Anthropic words in its own way, by their code. */
const worded: Record<string, string> = {
  missing_required_parameter: 'Field required',
  unknown_parameter: 'Extra inputs are not permitted',
}

/** The error object of Anthropic's envelope, which bodies and streams share. */
export function errorObject(error: ApiError): JsonObject {
  const type = error.type === 'invalid_request_error' ? usualOf(error.status).type : error.type
  // The shared checks name members as OpenAI does, `messages[0].role`; Anthropic puts the path first.
  const path = error.param?.replaceAll(/\[(\d+)\]/g, '.$1') ?? null
  const text = worded[error.code ?? ''] ?? error.message
  const isNamed = path === null || text.startsWith(path)
  const { details } = error
  const message = isNamed ? text : `${path}: ${text}`
  return { type, message, ...(details === undefined ? {} : { details }) }
}

/** The id of a request, the same in its headers and in its error. */
export function requestIdOf(key: string): string {
  return `req_011${lettersOf(`request ${key}`, 21)}`
}

/** The body of a refusal in Anthropic's envelope. */
function anthropicErrorBody(error: ApiError, key: string): string {
  return JSON.stringify({ type: 'error', error: errorObject(error), request_id: requestIdOf(key) })
}

function authenticate(headers: IncomingHttpHeaders): void {
  const bearer = bearerKeyOf(headers.authorization)
  const header = headers['x-api-key']
  const own = typeof header === 'string' && header !== '' ? header : null
  if (bearer !== null && own !== null && bearer !== own)
    throw new ApiError({ status: 401, message: 'x-api-key and Authorization carry different keys.' })
  const key = own ?? bearer
  if (key === null) throw new ApiError({ status: 401, message: 'x-api-key header is required' })
  if (key.startsWith('bad-key')) throw new ApiError({ status: 401, message: 'invalid x-api-key' })
}

const versions = ['2023-06-01', '2026-10-21'] as const
/** A version of the API that a request may name. */
export type ApiVersion = (typeof versions)[number]

/** The version that a request names. Throws `ApiError` 400 for none and for an unknown one. */
export function versionOf(headers: IncomingHttpHeaders): ApiVersion {
  const given = headers['anthropic-version']
  if (given === undefined) throw invalidRequest('anthropic-version: header is required')
  const known = versions.find((version) => version === given)
  if (known !== undefined) return known
  throw invalidRequest(`anthropic-version: "${String(given)}" is not a valid version.`)
}

function usualHeaders({ mountName, key, faults }: HeaderSubject): Record<string, string> {
  const headers: Record<string, string> = {
    'request-id': requestIdOf(key),
    'anthropic-organization-id': `simulator-${mountName}`,
  }
  if (faults.noRateLimits === true) return headers
  const isLimited = faults.error?.status === 429
  const resetAt = Date.now() + (isLimited ? (faults.error?.retryAfterSeconds ?? 1) * 1000 : 0)
  const reset = `${new Date(resetAt).toISOString().slice(0, 19)}Z`
  const limits = { requests: requestsPerMinute, tokens: tokensPerMinute }
  for (const [name, limit] of Object.entries({
    ...limits,
    'input-tokens': tokensPerMinute / 2,
    'output-tokens': tokensPerMinute / 2,
  })) {
    headers[`anthropic-ratelimit-${name}-limit`] = String(limit)
    headers[`anthropic-ratelimit-${name}-remaining`] = String(isLimited ? 0 : limit - 1)
    headers[`anthropic-ratelimit-${name}-reset`] = reset
  }
  return headers
}

/** Messages, token counting and models, as Anthropic serves them. */
export const anthropicStyle: ApiStyle = {
  authenticate,
  errorBody: anthropicErrorBody,
  errorOf: anthropicErrorOf,
  headers: usualHeaders,
}

/** A request with the usual version where it names none, as a line of a batch and a body at another host. */
export function versioned(request: IncomingMessage): IncomingMessage {
  const headers = { 'anthropic-version': '2023-06-01', ...request.headers }
  return Object.create(request, { headers: { value: headers } }) as IncomingMessage
}
