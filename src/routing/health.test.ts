import { expect, test } from 'bun:test'
import type { Endpoint } from '../canonical/endpoint.ts'
import { GatewayError } from '../core/errors.ts'
import {
  coolDownDefaultMs,
  coolDownMaxMs,
  performanceSamplesMax,
  performanceWindowMs,
  stickyIdleMs,
  stickyPerOrganizationMax,
} from '../core/limits.ts'
import { createHealth } from './health.ts'
import { createStickyRoutes } from './sticky.ts'

const endpoint = { id: 'a/x', deployment: { id: 'a' } } as Endpoint

function setUp() {
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }
  return { clock, health: createHealth({ clock }), sticky: createStickyRoutes({ clock }) }
}

const limited = (retryAfterMs: number | null) => ({
  error: new GatewayError('upstream_rate_limited', 'limited'),
  retryElsewhere: true,
  retrySame: true,
  credentialFault: false,
  retryAfterMs,
})

test('medians are of the last five minutes and of the newest samples', () => {
  const { clock, health } = setUp()
  expect(health.performanceOf(endpoint)).toEqual({ latencyMs: null, throughput: null })
  for (const latencyMs of [5, 1, 9]) health.recordSuccess(endpoint, { latencyMs })
  expect(health.performanceOf(endpoint)).toEqual({ latencyMs: 5, throughput: null })
  for (let i = 0; i < performanceSamplesMax; i++)
    health.recordSuccess(endpoint, { latencyMs: 50, throughput: 7 })
  expect(health.performanceOf(endpoint)).toEqual({ latencyMs: 50, throughput: 7 })
  clock.ms += performanceWindowMs
  expect(health.performanceOf(endpoint).latencyMs).toBeNull()
})

test('a refusal cools down for the time it named, within bounds, and for a moment when it named none', () => {
  const { clock, health } = setUp()
  health.recordFailure(endpoint, limited(null))
  expect(health.waitMsOf(endpoint)).toBe(coolDownDefaultMs)
  health.recordFailure(endpoint, limited(10 ** 9))
  expect(health.waitMsOf(endpoint)).toBe(coolDownMaxMs)
  expect(health.stateOf(endpoint)).toBe('cooling_down')
  clock.ms += coolDownMaxMs
  expect(health.stateOf(endpoint)).toBe('healthy')
})

test('an answer ends a cool-down and brings a refused deployment back', () => {
  const { health } = setUp()
  health.recordFailure(endpoint, { ...limited(60_000), credentialFault: true })
  expect(health.stateOf(endpoint)).toBe('out')
  health.recordSuccess(endpoint, { latencyMs: 1 })
  expect(health.stateOf(endpoint)).toBe('healthy')
})

test('conversations are forgotten after ten idle minutes, when released, and when there are too many', () => {
  const { clock, sticky } = setUp()
  const conversation = (key: string) => ({ organizationId: 'o', model: 'm', key })
  sticky.remember(conversation('a'), 'e1')
  clock.ms += stickyIdleMs - 1
  expect(sticky.endpointOf(conversation('a'))).toBe('e1')
  clock.ms += 1
  expect(sticky.endpointOf(conversation('a'))).toBeNull()
  sticky.remember(conversation('b'), 'e1')
  sticky.release(conversation('b'))
  expect(sticky.endpointOf(conversation('b'))).toBeNull()
  for (let i = 0; i <= stickyPerOrganizationMax; i++) sticky.remember(conversation(`k${i}`), 'e2')
  expect(sticky.endpointOf(conversation('k0'))).toBeNull()
  expect(sticky.endpointOf(conversation('k1'))).toBe('e2')
})
