import type { IncomingHttpHeaders } from 'node:http'
import {
  type ApiStyle,
  bearerKeyOf,
  type HeaderSubject,
  openAiStyle,
  requestsPerMinute,
  tokensPerMinute,
} from '../api-style.ts'
import { ApiError } from '../errors.ts'
import { lettersOf } from '../random.ts'

/** Codes that Azure has in place of OpenAI's. */
const codes: Record<number, string> = { 401: '401', 429: 'RateLimitReached' }

function azureErrorBody({ status, code, message, param }: ApiError): string {
  const named = param === null ? {} : { param }
  return JSON.stringify({ error: { code: codes[status] ?? code ?? String(status), message, ...named } })
}

/** The key from the header `api-key`, or from a bearer header, which tokens of Entra use. */
function authenticate({ 'api-key': own, authorization }: IncomingHttpHeaders): void {
  const key = typeof own === 'string' && own !== '' ? own : bearerKeyOf(authorization)
  if (key !== null && !key.startsWith('bad-key')) return
  throw new ApiError({
    status: 401,
    message: 'Access denied: the subscription key is not valid, or the address is that of another resource.',
  })
}

/** The names of the limits are OpenAI's; their resets are whole seconds. */
function usualHeaders({ key, faults }: HeaderSubject): Record<string, string> {
  const id = lettersOf(`request ${key}`, 32)
  const headers = { 'apim-request-id': id, 'x-request-id': id, 'x-ms-region': 'Simulated' }
  if (faults.noRateLimits === true) return headers
  const isLimited = faults.error?.status === 429 || faults.error?.kind === 'insufficient_quota'
  return {
    ...headers,
    'x-ratelimit-limit-requests': String(requestsPerMinute),
    'x-ratelimit-limit-tokens': String(tokensPerMinute),
    'x-ratelimit-remaining-requests': String(isLimited ? 0 : requestsPerMinute - 1),
    'x-ratelimit-remaining-tokens': String(isLimited ? 0 : tokensPerMinute - 1_000),
    'x-ratelimit-reset-requests': String(isLimited ? (faults.error?.retryAfterSeconds ?? 1) : 0),
    'x-ratelimit-reset-tokens': '0',
  }
}

/** OpenAI's operations as a resource of Azure OpenAI or Microsoft Foundry serves them. */
export const azureStyle: ApiStyle = {
  ...openAiStyle,
  authenticate,
  errorBody: azureErrorBody,
  headers: usualHeaders,
}
