import { describe, expect, test } from 'bun:test'
import { retryAfterMsMax } from '../core/limits/text.ts'
import { testContext } from './text/testing.ts'
import { readReportedError, readUpstreamFailure } from './upstream-errors.ts'

const google = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, status, message, details },
})
const retry = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay })
const reason = (word: string) => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: word })

function failureOf(body: ReturnType<typeof google>) {
  return readUpstreamFailure({
    status: body.error.code,
    headers: new Headers(),
    body: new TextEncoder().encode(JSON.stringify(body)),
    requestedModel: 'google/gemini-2.5-flash',
    parameterNames: [],
  })
}

describe('Google’s refusal', () => {
  test('of a key comes as 400, and takes the credential out', () => {
    const body = google(400, 'INVALID_ARGUMENT', 'Something about the key.', [reason('API_KEY_INVALID')])
    const { error, credentialFault, retryElsewhere } = failureOf(body)
    expect([error.type, credentialFault, retryElsewhere]).toEqual(['provider_failed', true, true])
  })

  test('by a limit calls it a quota, and names the wait in its body', () => {
    const body = google(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan.',
      [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] }, retry('34.4s')],
    )
    const { error, credentialFault, retryAfterMs } = failureOf(body)
    expect([error.type, credentialFault, retryAfterMs]).toEqual(['upstream_rate_limited', false, 34_400])
    expect(error.retryAfterSeconds).toBe(35)
  })

  test('names no wait when there is none or when it is beyond the bound', () => {
    const waitOf = (delay: string) =>
      failureOf(google(429, 'RESOURCE_EXHAUSTED', 'Slow.', [retry(delay)])).retryAfterMs
    expect(['soon', '-3s', '3', '1e3s'].map(waitOf)).toEqual([null, null, null, null])
    expect(waitOf('999999999s')).toBe(retryAfterMsMax)
  })

  test.each([
    [400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.', 'invalid_request'],
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      'context_length_exceeded',
    ],
    [403, 'PERMISSION_DENIED', 'The caller has no permission.', 'provider_failed'],
    [404, 'NOT_FOUND', 'models/gemini-9 is not found.', 'no_matching_endpoint'],
    [500, 'INTERNAL', 'An internal error has occurred.', 'provider_failed'],
    [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.', 'provider_overloaded'],
    [504, 'DEADLINE_EXCEEDED', 'The deadline expired.', 'provider_timeout'],
  ])('%i %s, %s, is %s, as a response and inside a stream', (code, status, message, type) => {
    const body = google(code, status, message)
    expect(failureOf(body).error.type).toBe(type as never)
    expect(readReportedError(body.error, testContext).type).toBe(type as never)
  })
})
