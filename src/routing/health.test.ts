import { performanceSamplesMax, performanceWindowMs } from './latency-samples.ts'
import { expect, test } from 'bun:test'
import type { Endpoint } from '../canonical/endpoint.ts'
import { GatewayError } from '../core/errors.ts'
import { coolDownDefaultMs, coolDownMaxMs } from '../core/limits/routing.ts'
import { createHealth, credentialRetryMs, failureMemoryMs } from './health.ts'
import { createStickyRoutes, stickyIdleMs, stickyPerOrganizationMax } from './sticky.ts'

const endpoint = { id: 'a/x', deployment: { id: 'a' } } as Endpoint

function setUp() {
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }
  const changes: string[] = []
  const health = createHealth({
    clock,
    report: ({ type, endpoint: { deployment, id } }) => void changes.push(`${deployment.id} ${type} (${id})`),
  })
  return { clock, health, changes, sticky: createStickyRoutes({ clock }) }
}

const limited = (retryAfterMs: number | null) => ({
  error: new GatewayError('upstream_rate_limited', 'limited'),
  retryElsewhere: true,
  retrySame: true,
  credentialFault: false,
  retryAfterMs,
})

const failed = {
  error: new GatewayError('provider_failed', 'failed'),
  retryElsewhere: true,
  retrySame: true,
  credentialFault: false,
  retryAfterMs: null,
}
const minuteMs = 60_000

test('percentiles are of the last five minutes and of the newest samples', () => {
  const { clock, health } = setUp()
  expect(health.performanceOf(endpoint)).toEqual({ latencyMs: null, throughput: null })
  for (const latencyMs of [5, 1, 9]) health.recordSuccess(endpoint, { latencyMs })
  expect(health.performanceOf(endpoint)).toEqual({
    latencyMs: { p50: 5, p75: 9, p90: 9, p99: 9 },
    throughput: null,
  })
  for (let i = 0; i < performanceSamplesMax; i++)
    health.recordSuccess(endpoint, { latencyMs: 50, throughput: 7 })
  expect(health.performanceOf(endpoint)).toEqual({
    latencyMs: { p50: 50, p75: 50, p90: 50, p99: 50 },
    throughput: { p50: 7, p75: 7, p90: 7, p99: 7 },
  })
  clock.ms += performanceWindowMs
  expect(health.performanceOf(endpoint).latencyMs).toBeNull()
})

test('shown figures of an endpoint are of the last half hour and day, and absent without calls', () => {
  const { clock, health } = setUp()
  const nothing = { latencyMs: null, throughput: null, uptime5m: null, uptime30m: null, uptime1d: null }
  expect(health.figuresOf(endpoint)).toEqual(nothing)
  for (const latencyMs of [100, 400, 200, 300]) health.recordSuccess(endpoint, { latencyMs, throughput: 10 })
  health.recordFailure(endpoint, failed)
  // A rate limit does not count as an outage.
  health.recordFailure(endpoint, limited(null))
  expect(health.figuresOf(endpoint)).toEqual({
    latencyMs: { p50: 300, p75: 400, p90: 400, p99: 400 },
    throughput: { p50: 10, p75: 10, p90: 10, p99: 10 },
    uptime5m: 80,
    uptime30m: 80,
    uptime1d: 80,
  })
  clock.ms += 10 * minuteMs
  health.recordFailure(endpoint, failed)
  expect(health.figuresOf(endpoint)).toMatchObject({ uptime5m: 0, uptime30m: (4 / 6) * 100 })
  clock.ms += 25 * minuteMs
  expect(health.figuresOf(endpoint)).toMatchObject({
    latencyMs: null,
    uptime5m: null,
    uptime30m: 0,
    uptime1d: (4 / 6) * 100,
  })
  clock.ms += 24 * 60 * minuteMs
  expect(health.figuresOf(endpoint)).toEqual(nothing)
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

const broken = { ...limited(null), error: new GatewayError('provider_failed', 'failed') }

test('a deployment that begins to fail is reported once, and once more when no call has failed lately', () => {
  const { clock, health, changes } = setUp()
  const neighbour = { id: 'a/y', deployment: { id: 'a' } } as Endpoint
  for (let call = 0; call < 10; call += 1) {
    health.recordFailure(endpoint, broken)
    health.recordSuccess(neighbour, { latencyMs: 1 })
    health.recordSuccess(endpoint, { latencyMs: 1 })
    clock.ms += failureMemoryMs - 1
  }
  expect(changes).toEqual(['a circuit_open (a/x)'])
  health.recordFailure(neighbour, limited(60_000))
  clock.ms += failureMemoryMs
  health.recordSuccess(endpoint, { latencyMs: 1 })
  expect(changes).toHaveLength(1)
  health.recordSuccess(neighbour, { latencyMs: 1 })
  health.recordSuccess(neighbour, { latencyMs: 1 })
  expect(changes).toEqual(['a circuit_open (a/x)', 'a recovered (a/y)'])
  health.recordFailure(endpoint, broken)
  expect(changes).toHaveLength(3)
})

test('a refused credential is reported once, and once more when it is accepted again', () => {
  const { clock, health, changes } = setUp()
  for (let trial = 0; trial < 5; trial += 1) {
    health.recordFailure(endpoint, { ...broken, credentialFault: true })
    clock.ms += credentialRetryMs
  }
  health.recordSuccess(endpoint, { latencyMs: 1 })
  health.recordSuccess(endpoint, { latencyMs: 1 })
  expect(changes).toEqual(['a credential_lost (a/x)', 'a recovered (a/x)'])
})

test('faults of callers do not count against a deployment', () => {
  const { health, changes } = setUp()
  health.recordFailure(endpoint, { ...broken, error: new GatewayError('invalid_request', 'no') })
  health.recordSuccess(endpoint, { latencyMs: 1 })
  expect(changes).toEqual([])
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
