import { afterEach, expect, jest, test } from 'bun:test'
import { endpointOf } from '../../../test/simulation/billing-fixtures.ts'
import { createLearning } from '../../billing/metering/learning.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { defaultPreferences, type SpeechCall } from '../../canonical/call.ts'
import type { UpstreamFailure } from '../../canonical/upstream.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError, type ErrorType } from '../../core/errors.ts'
import { nextTurn } from '../../core/turns.ts'
import { createHealth } from '../../routing/health.ts'
import { createLimiter } from '../../routing/limiter.ts'
import { createStickyRoutes } from '../../routing/sticky.ts'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import { firstToAnswer } from './attempts.ts'
import { CallState } from '../call/call-state.ts'
import { operations } from '../operations.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import type { Attempt } from '../call/metadata.ts'
import type { Answered, Kind, Run } from '../call/call-hooks.ts'
import type { Candidate } from '../call/prepared.ts'
import type { Serving } from '../serving.ts'
import { noFacts, type RequestScope } from '../call/scope.ts'

afterEach(() => void jest.useRealTimers())

function endpoint(name: string, model = 'a/m'): Endpoint {
  const { deployment, ...rest } = endpointOf('speech', {})
  return {
    ...rest,
    id: `${name}/m`,
    deployment: { ...deployment, id: name, preset: name, provider: name, providerName: name },
    model,
    upstreamModel: 'm',
  }
}

function candidate(name: string, model?: string): Candidate {
  const credential = { id: `operator:${name}`, isByok: false }
  return { endpoint: endpoint(name, model), credential, promptRatio: 1 }
}

const serving = {
  credentialOf: ({ id }: { id: string }) => ({
    reference: { id: `operator:${id}`, isByok: false },
    auth: { type: 'none' },
  }),
} as unknown as Serving

const call: SpeechCall = {
  kind: 'speech',
  operation: 'speech',
  model: 'a/m',
  fallbackModels: [],
  preferences: defaultPreferences,
  parameters: [],
  demand: { inputTokens: 0, outputTokensMax: null, choices: 1, audioMilliseconds: 0, characters: 1 },
  sessionId: null,
  userId: null,
  trace: null,
  dropped: [],
  input: 'x',
  voice: null,
  responseFormat: 'pcm',
  isWav: false,
  speed: 1,
  references: [],
}

function setUp(signal = new AbortController().signal, sessionId: string | null = null) {
  const dependencies = {
    clock: systemClock,
    learning: createLearning(),
    health: createHealth({ clock: systemClock }),
    limiter: createLimiter({ clock: systemClock }),
    sticky: createStickyRoutes({ clock: systemClock }),
    serving: () => serving,
  } as unknown as ExecutionDependencies
  const scope = {
    principal: { organizationId: 'org_1' },
    signal,
    priority: 'live',
    metadata: 'none',
    batch: null,
    facts: noFacts(),
  } as unknown as RequestScope
  return { dependencies, state: new CallState({ ...call, sessionId }, scope, dependencies) }
}

/** The outcome of a call over this route when a candidate is tried with `tryOne`. */
function firstOf<T>(
  route: readonly Candidate[],
  state: CallState,
  dependencies: ExecutionDependencies,
  tryOne: (candidate: Candidate, attempt: Attempt) => Promise<T>,
): Promise<Answered<T>> {
  const run = {
    row: {
      ask: (tried: Candidate) => ({ candidate: tried, adapter: {}, at: {} }),
      firstStep: () => ({ type: 'answer' }),
      hear: (_reached: unknown, attempt: Attempt) => tryOne(attempt.candidate, attempt),
    },
    call: state.call,
    state,
    dependencies,
    asked: [],
    prepared: { route },
    first: null,
    answered: null,
  }
  return firstToAnswer(run as unknown as Run<Kind & { heard: T }>)
}

function failing(type: ErrorType, rest: Partial<UpstreamFailure> = {}): AttemptFailed {
  return new AttemptFailed({
    error: new GatewayError(type, `${type}.`),
    retryElsewhere: true,
    retrySame: true,
    credentialFault: false,
    retryAfterMs: null,
    ...rest,
  })
}

test('the next endpoint answers when the first fails, and the attempts are recorded', async () => {
  const { dependencies, state } = setUp()
  const [one, two] = [candidate('one'), candidate('two')]
  const answered = await firstOf([one, two], state, dependencies, (tried) =>
    tried === one ? Promise.reject(failing('provider_failed')) : Promise.resolve(tried.endpoint.id),
  )
  expect(answered.value).toBe('two/m')
  expect(state.attempts.map(({ endpoint: { id }, errorType }) => [id, errorType])).toEqual([
    ['one/m', 'provider_failed'],
    ['two/m', null],
  ])
})

test('a provider is not asked again before the time it named', async () => {
  jest.useFakeTimers()
  const { dependencies, state } = setUp()
  let tries = 0
  const answered = firstOf([candidate('one')], state, dependencies, () => {
    tries += 1
    return tries === 1
      ? Promise.reject(failing('upstream_rate_limited', { retryAfterMs: 600 }))
      : Promise.resolve(1)
  })
  await nextTurn()
  jest.advanceTimersByTime(599)
  await nextTurn()
  expect(tries).toBe(1)
  jest.advanceTimersByTime(2)
  await answered
  expect(tries).toBe(2)
})

test('a wait longer than a caller would accept is reported to the caller', async () => {
  const { dependencies, state } = setUp()
  const limited = new GatewayError('upstream_rate_limited', 'Busy.', { retryAfterSeconds: 30 })
  let tries = 0
  const thrown = await firstOf([candidate('one')], state, dependencies, () => {
    tries += 1
    return Promise.reject(failing('upstream_rate_limited', { error: limited, retryAfterMs: 30_000 }))
  }).catch((error: unknown) => error)
  expect(tries).toBe(1)
  expect(thrown).toMatchObject({ type: limited.type, message: limited.message })
})

test('an item that waited long for its place has all of its time, a live caller does not', async () => {
  let nowMs = 0
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const left: number[] = []
  for (const priority of ['batch', 'live'] as const) {
    const { dependencies, state: idle } = setUp()
    const busy = { ...dependencies, clock, limiter: createLimiter({ clock }) }
    const state = new CallState(call, { ...idle.scope, priority }, busy)
    const only = endpoint('one')
    const single = { ...only, deployment: { ...only.deployment, concurrencyMax: 1 } }
    const running = await busy.limiter.acquire(single.deployment, 'live')
    const answered = firstOf([{ ...candidate('one'), endpoint: single }], state, busy, async () =>
      left.push(state.remainingMs()),
    )
    nowMs += 60 * 60_000
    running.release({ type: 'other' })
    await answered
  }
  const deadlineMs = operations.speech.deadlineMs
  expect(left).toEqual([deadlineMs, deadlineMs - 60 * 60_000])
})

test('an endpoint with too many waiting calls is passed over; if all endpoints are, the caller is told', async () => {
  const { dependencies, state } = setUp()
  const [one, two] = [candidate('one'), candidate('two')]
  const crowded = new GatewayError('no_healthy_endpoint', 'Too many wait.', { retryAfterSeconds: 1 })
  const { limiter } = dependencies
  const full = new Set([one])
  const isFull = (deployment: Endpoint['deployment']) =>
    [...full].some((crowdedOne) => crowdedOne.endpoint.deployment === deployment)
  dependencies.limiter = {
    ...limiter,
    acquire: (deployment, admission, signal) =>
      isFull(deployment) ? Promise.reject(crowded) : limiter.acquire(deployment, admission, signal),
  }
  const answered = await firstOf([one, two], state, dependencies, (tried) =>
    Promise.resolve(tried.endpoint.id),
  )
  expect(answered.value).toBe('two/m')
  expect(dependencies.health.stateOf(one.endpoint)).toBe('healthy')
  full.add(two)
  let tries = 0
  const refused = await firstOf([one, two], state, dependencies, async () => (tries += 1)).catch(
    (error: unknown) => error,
  )
  expect(tries).toBe(0)
  expect(refused).toMatchObject({ type: 'no_healthy_endpoint', retryAfterSeconds: 1 })
})

test('a fault of the caller is not tried at another endpoint', async () => {
  const { dependencies, state } = setUp()
  let tries = 0
  const thrown = await firstOf([candidate('one'), candidate('two')], state, dependencies, () => {
    tries += 1
    return Promise.reject(failing('invalid_request', { retryElsewhere: false, retrySame: false }))
  }).catch((error: unknown) => error)
  expect([tries, (thrown as GatewayError).type]).toEqual([1, 'invalid_request'])
})

test('a call that a model refuses is tried on the next model, not on another endpoint of the same model', async () => {
  const { dependencies, state } = setUp()
  const route = [candidate('a'), candidate('b'), candidate('c', 'a/other'), candidate('d', 'a/third')]
  const tried: string[] = []
  const answered = await firstOf(route, state, dependencies, ({ endpoint: { deployment } }) => {
    tried.push(deployment.id)
    if (deployment.id === 'd') return Promise.resolve('answer')
    return Promise.reject(failing('content_policy_violation', { retryElsewhere: false, retrySame: false }))
  })
  expect(answered.value).toBe('answer')
  expect(tried).toEqual(['a', 'c', 'd'])
})

test('a call that cannot be sent to one endpoint is tried on the next', async () => {
  const { dependencies, state } = setUp()
  const [one, two] = [candidate('one'), candidate('two')]
  const answered = await firstOf([one, two], state, dependencies, (tried) =>
    tried === one
      ? Promise.reject(new GatewayError('invalid_request', 'n: at most 1 here.'))
      : Promise.resolve(tried.endpoint.id),
  )
  expect(answered.value).toBe('two/m')
})

test('a caller who leaves ends the attempts, and no failure counts against a provider', async () => {
  const leaving = new AbortController()
  const { dependencies, state } = setUp(leaving.signal)
  const one = candidate('one')
  let tries = 0
  await firstOf([one, candidate('two')], state, dependencies, () => {
    tries += 1
    leaving.abort()
    return Promise.reject(failing('deadline'))
  }).catch(() => null)
  expect([tries, dependencies.health.stateOf(one.endpoint)]).toEqual([1, 'healthy'])
})

test('all attempts together are bounded, and the last error names the earlier ones', async () => {
  const { dependencies, state } = setUp()
  const route = ['a', 'b', 'c', 'd', 'e'].map((name) => candidate(name))
  let tries = 0
  const thrown = await firstOf(route, state, dependencies, () => {
    tries += 1
    return Promise.reject(failing('provider_failed', { retryAfterMs: 1 }))
  }).catch((error: unknown) => error)
  expect(tries).toBe(6)
  expect((thrown as GatewayError).metadata?.['previous_errors']).toHaveLength(6)
})

test('a conversation leaves the endpoint that failed it, and no other one', async () => {
  const { dependencies, state } = setUp(undefined, 's')
  const { sticky } = dependencies
  const conversation = { organizationId: 'org_1', model: 'a/m', key: 's' }
  const fail = (type: ErrorType) =>
    firstOf([candidate('a')], state, dependencies, () =>
      Promise.reject(failing(type, { retryElsewhere: false, retrySame: false })),
    ).catch(() => undefined)
  sticky.remember(conversation, 'b/m')
  await fail('provider_failed')
  expect(sticky.endpointOf(conversation)).toBe('b/m')
  sticky.remember(conversation, 'a/m')
  await fail('invalid_request')
  expect(sticky.endpointOf(conversation)).toBe('a/m')
  await fail('provider_failed')
  expect(sticky.endpointOf(conversation)).toBeNull()
})

test('a call for which this process has no room counts against no provider', async () => {
  const { dependencies, state } = setUp()
  const one = candidate('one')
  const signals: unknown[] = []
  const failure: unknown = await firstOf([one], state, dependencies, () => {
    signals.push(dependencies.health.stateOf(one.endpoint))
    return Promise.reject(failing('gateway_overloaded', { retrySame: false }))
  }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ type: 'gateway_overloaded', status: 503 })
  expect((failure as GatewayError).metadata).not.toHaveProperty('provider_name')
  expect([...signals, dependencies.health.stateOf(one.endpoint)]).toEqual(['healthy', 'healthy'])
})
