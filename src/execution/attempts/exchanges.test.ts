import { expect, jest, test } from 'bun:test'
import type { TextCall } from '../../canonical/call.ts'
import type { Adapter, CallAt } from '../../canonical/steps.ts'
import type { UpstreamFailure, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { nextTurn } from '../../core/turns.ts'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import { exchange, exchangesMax, pollFailuresMax, pollRetryWaitMs } from './exchanges.ts'
import type { Attempt, LostMembers } from '../call/metadata.ts'
import type { Asking, Kind, Run } from '../call/call-hooks.ts'
import type { ResourcePlace, ResourceTrail } from '../resources/upstream-resources.ts'

const request = (method: UpstreamRequest['method'], path: string): UpstreamRequest => ({
  method,
  path,
  headers: {},
  body: null,
})

type Job = { id: string } | null

const refusal: UpstreamFailure = {
  error: new GatewayError('provider_overloaded', 'The provider is overloaded.'),
  retryElsewhere: true,
  retrySame: true,
  credentialFault: false,
  retryAfterMs: null,
}

/** A provider that takes a job and finishes it after a number of polls. */
const polledEvery = (waitMs: number): Adapter<TextCall, Job, string> => ({
  first: () => ({
    type: 'send',
    exchange: {
      request: request('POST', '/jobs'),
      dropped: ['seed'],
      makes: { kind: 'fake.job', marker: 'm1' },
    },
    state: null,
  }),
  next(state, { bytes }) {
    const told = JSON.parse(new TextDecoder().decode(bytes)) as { id?: string; text?: string }
    if (told.text !== undefined) return { type: 'answer', answer: told.text }
    const id = state?.id ?? told.id ?? ''
    return { type: 'send', exchange: { request: request('GET', `/jobs/${id}`), waitMs }, state: { id } }
  },
  readError: () => refusal,
  resources: {
    'fake.job': {
      readId: ({ bytes }) => (JSON.parse(new TextDecoder().decode(bytes)) as { id: string }).id,
      remove: (id) => request('DELETE', `/jobs/${id}`),
      listing: null,
    },
  },
})
const polled = polledEvery(500)

const asked = { call: {}, endpoint: {}, context: {} } as unknown as CallAt<TextCall>

type PolledKind = Kind & { call: TextCall; answer: string; reader: never }

interface Scripted {
  remainingMs?: () => number
  status?: (path: string) => number
  adapter?: typeof polled
}

function setUp(answers: (path: string) => unknown, scripted: Scripted = {}) {
  const { remainingMs = () => 60_000, status = () => 200, adapter = polled } = scripted
  const leaving = new AbortController()
  const sent: string[] = []
  const trail: string[] = []
  const dropped: string[] = []
  const attempt = {
    endpoint: { deployment: { id: 'a', baseUrl: 'http://localhost' }, model: 'a/m', upstreamModel: 'm' },
    credential: { reference: { id: 'operator:a', isByok: false }, auth: { type: 'none' } },
  } as unknown as Attempt
  const work = {
    state: {
      call: { operation: 'chat_completions', model: 'a/m', parameters: [] },
      scope: { signal: leaving.signal },
      noteLosses: (losses: LostMembers) => void dropped.push(...losses.dropped),
      elapsedMs: () => 1,
      remainingMs,
      firstByteMs: remainingMs,
      generationId: 'gen-stt-1',
    },
    dependencies: {
      resources: {
        trail: ({ deploymentId, credentialId, usedBy }: ResourcePlace): ResourceTrail => {
          trail.push(`${usedBy} at ${deploymentId} by ${credentialId}`)
          return {
            begin: async ({ kind, marker }) => void trail.push(`begin ${kind} ${marker} ${sent.length}`),
            refused: (refusedStatus) => void trail.push(`refused ${refusedStatus}`),
            replied: async ({ bytes }) => void trail.push(`replied ${new TextDecoder().decode(bytes)}`),
            end: () => void trail.push('end'),
          }
        },
      },
      transport: {
        send: async ({ method, path }: UpstreamRequest) => {
          if (leaving.signal.aborted) throw new GatewayError('deadline', 'The call was ended.')
          sent.push(`${method} ${path}`)
          const bytes = new TextEncoder().encode(JSON.stringify(answers(path)))
          return { status: status(path), headers: new Headers(), readAll: async () => bytes }
        },
      },
    },
  } as unknown as Run<PolledKind>
  const asking = { adapter, at: asked } as unknown as Asking<PolledKind>
  const run = () => exchange(asking, adapter.first(asked), attempt, work)
  return { run, sent, dropped, leaving, trail, attempt }
}

test('a job is polled until it is done, each time after the wait that the adapter names', async () => {
  jest.useFakeTimers()
  let looks = 0
  const { run, sent, dropped, attempt } = setUp((path) => {
    if (path === '/jobs') return { id: 'j1' }
    looks += 1
    return looks === 2 ? { text: 'done' } : { state: 'queued' }
  })
  const reached = run()
  for (const ms of [499, 1, 499, 1]) {
    await nextTurn()
    jest.advanceTimersByTime(ms)
  }
  expect(await reached).toEqual({ type: 'answer', answer: 'done' })
  jest.useRealTimers()
  expect(sent).toEqual(['POST /jobs', 'GET /jobs/j1', 'GET /jobs/j1'])
  expect(dropped).toEqual(['seed'])
  expect(attempt.endedMs).toBe(1)
})

test('the resource that a job leaves is recorded before the job is created, and released when the call has its answer', async () => {
  const { run, sent, trail } = setUp((path) => (path === '/jobs' ? { id: 'j1' } : { text: 'done' }), {
    adapter: polledEvery(0),
  })
  await run()
  expect(trail).toEqual(['gen-stt-1 at a by operator:a', 'begin fake.job m1 0', 'replied {"id":"j1"}', 'end'])
  expect(sent).toEqual(['POST /jobs', 'GET /jobs/j1'])
})

test('a caller who leaves ends the wait, nothing more is sent, and the job is given up', async () => {
  const { run, sent, leaving, trail } = setUp(() => ({ id: 'j1' }))
  const reached = run().catch((error: unknown) => error)
  await nextTurn()
  leaving.abort()
  expect(await reached).toMatchObject({ type: 'deadline' })
  expect(sent).toEqual(['POST /jobs'])
  expect(trail.at(-1)).toBe('end')
})

test('a job is no longer polled when the call’s time is over', async () => {
  jest.useFakeTimers()
  let leftMs = 700
  const { run, sent, trail } = setUp(() => ({ id: 'j1' }), { remainingMs: () => leftMs })
  const reached = run().catch((error: unknown) => error)
  await nextTurn()
  leftMs = 200
  jest.advanceTimersByTime(500)
  await nextTurn()
  // The second wait ends with the call's time.
  leftMs = 0
  jest.advanceTimersByTime(200)
  expect(await reached).toMatchObject({ type: 'deadline' })
  jest.useRealTimers()
  expect(sent).toEqual(['POST /jobs', 'GET /jobs/j1'])
  expect(trail.at(-1)).toBe('end')
})

test('polling of a job that is never done ends, even when the call has no deadline', async () => {
  const { run, sent } = setUp(() => ({ id: 'j1' }), { adapter: polledEvery(0) })
  expect(await run().catch((error: unknown) => error)).toMatchObject({ type: 'provider_failed' })
  expect(sent).toHaveLength(exchangesMax)
})

test('the adapter decides the meaning of a refusal', async () => {
  const { run, sent, trail } = setUp(() => ({ error: 'busy' }), { status: () => 503 })
  const thrown = await run().catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(AttemptFailed)
  expect((thrown as AttemptFailed).failure).toBe(refusal)
  expect(sent).toEqual(['POST /jobs'])
  expect(trail.slice(1)).toEqual(['begin fake.job m1 0', 'refused 503', 'end'])
})

test('a failed poll is repeated, and the job goes on', async () => {
  jest.useFakeTimers()
  let looks = 0
  const { run, sent } = setUp((path) => (path === '/jobs' ? { id: 'j1' } : { text: 'done' }), {
    adapter: polledEvery(0),
    status: (path) => (path === '/jobs' || ++looks > 2 ? 200 : 503),
  })
  const reached = run()
  for (const ms of [pollRetryWaitMs, pollRetryWaitMs * 2]) {
    await nextTurn()
    jest.advanceTimersByTime(ms)
  }
  expect(await reached).toEqual({ type: 'answer', answer: 'done' })
  jest.useRealTimers()
  expect(sent).toEqual(['POST /jobs', 'GET /jobs/j1', 'GET /jobs/j1', 'GET /jobs/j1'])
})

test('a job whose polls all fail is given up', async () => {
  jest.useFakeTimers()
  const { run, sent } = setUp(() => ({ id: 'j1' }), {
    adapter: polledEvery(0),
    status: (path) => (path === '/jobs' ? 200 : 503),
  })
  const reached = run().catch((error: unknown) => error)
  for (let failure = 0; failure < pollFailuresMax; failure += 1) {
    await nextTurn()
    jest.advanceTimersByTime(pollRetryWaitMs * 2 ** failure)
  }
  expect(await reached).toBeInstanceOf(AttemptFailed)
  jest.useRealTimers()
  expect(sent).toHaveLength(2 + pollFailuresMax)
})
