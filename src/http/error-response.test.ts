import { expect, test } from 'bun:test'
import { GatewayError } from '../core/errors.ts'
import { errorResponse } from './error-response.ts'

test('429 and 503 say when to try again, even if no wait is known', () => {
  const waitOf = (error: GatewayError) =>
    errorResponse(error, { group: 'inference' }, new Headers()).headers.get('retry-after')
  expect(waitOf(new GatewayError('upstream_rate_limited', 'Later.'))).toBe('5')
  expect(waitOf(new GatewayError('no_healthy_endpoint', 'Later.'))).toBe('5')
  expect(waitOf(new GatewayError('upstream_rate_limited', 'Later.', { retryAfterSeconds: 30 }))).toBe('30')
  expect(waitOf(new GatewayError('provider_failed', 'No.'))).toBeNull()
})
