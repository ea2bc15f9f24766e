import { anthropicStyle } from './messages/errors.ts'
import { type ApiStyle, openAiStyle } from './api-style.ts'
import type { ApiError } from './errors.ts'
import type { ErrorFault, ErrorShape, Faults } from './faults.ts'
import { jsonReply, type Reply } from './reply.ts'

/** The answer that the faults put in place of the real one; null when they let the real answer through. */
export function faultyAnswer(faults: Faults, style: ApiStyle, key: string): Reply | null {
  if (faults.badKey !== undefined) return badKeyReply(faults.badKey)
  if (faults.html === true) return htmlReply(faults.error?.status ?? 502)
  const isError =
    faults.octetStream === true || faults.hiddenError === true || faults.errorShape !== undefined
  const fault = faults.error ?? (isError ? { status: faults.octetStream === true ? 400 : 500 } : undefined)
  if (fault === undefined) return null
  const error = style.errorOf(fault)
  const { contentType, body } =
    faults.errorShape === undefined
      ? { contentType: 'application/json', body: style.errorBody(error, key) }
      : shaped(error, faults.errorShape, key)
  return {
    status: faults.hiddenError === true ? 200 : error.status,
    contentType: faults.octetStream === true ? 'application/octet-stream' : contentType,
    headers: {
      ...style.errorHeaders?.(error),
      ...(style.tellsWaitInBody === true ? {} : retryHeaders(fault)),
    },
    body,
  }
}

function retryHeaders(fault: ErrorFault): Record<string, string> {
  const headers: Record<string, string> = {}
  if (fault.retryAfterSeconds !== undefined) headers['retry-after'] = String(fault.retryAfterSeconds)
  if (fault.retryAfterMs !== undefined) headers['retry-after-ms'] = String(fault.retryAfterMs)
  return headers
}

function shaped(error: ApiError, shape: ErrorShape, key: string): { contentType: string; body: string } {
  const { message, status } = error
  if (shape === 'text') return { contentType: 'text/plain; charset=utf-8', body: message }
  const bodies: Record<Exclude<ErrorShape, 'text'>, () => string> = {
    openai: () => openAiStyle.errorBody(error, key),
    anthropic: () => anthropicStyle.errorBody(error, key),
    string: () => JSON.stringify({ error: message }),
    detail: () => JSON.stringify({ detail: message }),
    detail_list: () =>
      JSON.stringify({
        detail: [{ loc: ['body', error.param ?? 'model'], msg: message, type: 'value_error' }],
      }),
    flat: () => JSON.stringify({ message, type: error.type, param: error.param, code: error.code }),
    reason: () => JSON.stringify({ code: status, reason: (error.code ?? 'FAILED').toUpperCase(), message }),
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
