import { expect, test } from 'bun:test'
import { GatewayError, type ErrorType } from '../../../core/errors.ts'
import { writeResponsesError } from './errors.ts'

test('the code is `invalid_prompt` only for faults of the prompt, and a rate limit has its own code', () => {
  const codeOf = (type: ErrorType) => writeResponsesError(new GatewayError(type, 'No.')).code
  expect(codeOf('upstream_rate_limited')).toBe('rate_limit_exceeded')
  expect(codeOf('invalid_request')).toBe('invalid_prompt')
  expect(codeOf('context_length_exceeded')).toBe('invalid_prompt')
  expect(codeOf('content_policy_violation')).toBe('invalid_prompt')
  expect(codeOf('no_matching_endpoint')).toBe('server_error')
  expect(codeOf('payment_required')).toBe('server_error')
  expect(codeOf('payload_too_large')).toBe('server_error')
  expect(codeOf('provider_overloaded')).toBe('server_error')
})
