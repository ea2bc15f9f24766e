import { ApiError, errorBody } from './errors.ts'
import type { ErrorFault, ErrorShape, Faults } from './faults.ts'
import { jsonReply, type Reply } from './reply.ts'

/** What OpenAI says with a status when nothing more is known. */
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

/** The answer that stands in for the real one, or null when these faults let it through. */
export function faultyAnswer(faults: Faults): Reply | null {
  if (faults.badKey !== undefined) return badKeyReply(faults.badKey)
  if (faults.html === true) return htmlReply(faults.error?.status ?? 502)
  const isError = faults.octetStream === true || faults.errorShape !== undefined
  const fault = faults.error ?? (isError ? { status: faults.octetStream === true ? 400 : 500 } : undefined)
  if (fault === undefined) return null
  const { contentType, body } = shaped(fault, faults.errorShape ?? 'openai')
  return {
    status: fault.status,
    contentType: faults.octetStream === true ? 'application/octet-stream' : contentType,
    headers: retryHeaders(fault),
    body,
  }
}

function retryHeaders(fault: ErrorFault): Record<string, string> {
  const headers: Record<string, string> = {}
  if (fault.retryAfterSeconds !== undefined) headers['retry-after'] = String(fault.retryAfterSeconds)
  if (fault.retryAfterMs !== undefined) headers['retry-after-ms'] = String(fault.retryAfterMs)
  return headers
}

/** The error object of a fault, with what OpenAI usually says where the fault does not. */
export function errorOf(fault: ErrorFault): ApiError {
  const serverError = {
    type: 'server_error',
    message: 'The server had an error while processing the request.',
  }
  return new ApiError({ ...serverErrorOr(fault.status, serverError), ...fault })
}

function serverErrorOr(status: number, otherwise: Omit<ErrorFault, 'status'> & { message: string }) {
  const known = usual[status]
  if (known !== undefined) return { message: otherwise.message, ...known }
  return status >= 500 ? otherwise : { message: `The request was refused with status ${status}.` }
}

function shaped(fault: ErrorFault, shape: ErrorShape): { contentType: string; body: string } {
  const error = errorOf(fault)
  const { message, status } = error
  if (shape === 'text') return { contentType: 'text/plain; charset=utf-8', body: message }
  const bodies: Record<Exclude<ErrorShape, 'text'>, () => string> = {
    openai: () => errorBody(error),
    string: () => JSON.stringify({ error: message }),
    detail: () => JSON.stringify({ detail: message }),
    detail_list: () =>
      JSON.stringify({
        detail: [{ loc: ['body', error.param ?? 'model'], msg: message, type: 'value_error' }],
      }),
    message: () => JSON.stringify({ id: 'c0ffee00-0000-4000-8000-000000000000', message }),
    fault: () => JSON.stringify({ fault: { faultstring: message, detail: { errorcode: String(status) } } }),
    google: () =>
      JSON.stringify({ error: { code: status, message, status: googleStatus(status), details: [] } }),
  }
  return { contentType: 'application/json', body: bodies[shape]() }
}

function googleStatus(status: number): string {
  const names: Record<number, string> = {
    400: 'INVALID_ARGUMENT',
    401: 'UNAUTHENTICATED',
    403: 'PERMISSION_DENIED',
  }
  if (status === 429) return 'RESOURCE_EXHAUSTED'
  return names[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'FAILED_PRECONDITION')
}

function badKeyReply(shape: 'xai' | 'gemini'): Reply {
  if (shape === 'xai') {
    const error = 'Incorrect API key provided: sk***en. Manage keys in the console.'
    return jsonReply(JSON.stringify({ code: 'invalid-argument', error }), 400)
  }
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
  const error = { code: 400, message: 'The API key is not valid.', status: 'INVALID_ARGUMENT', details }
  return jsonReply(JSON.stringify({ error }), 400)
}

function htmlReply(status: number): Reply {
  const body = `<html>\r\n<head><title>${status} Bad Gateway</title></head>\r\n<body><h1>${status} Bad Gateway</h1></body>\r\n</html>\r\n`
  return { status, contentType: 'text/html', body }
}
