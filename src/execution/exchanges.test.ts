import { expect, jest, test } from 'bun:test'
import type { TextCall } from '../canonical/call.ts'
import type { Adapter, CallAt } from '../canonical/steps.ts'
import type { UpstreamFailure, UpstreamRequest } from '../canonical/upstream.ts'
import { GatewayError } from '../core/errors.ts'
import { exchangesMax } from '../core/limits/calls.ts'
import { nextTurn } from '../core/turns.ts'
import { AttemptFailed } from '../canonical/attempt-failed.ts'
import { exchange, type Work } from './exchanges.ts'
import type { Losses } from './metadata.ts'

const request = (method: 'GET' | 'POST', path: string): UpstreamRequest => ({
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

/** A provider that takes a job, and has it done when it is asked often enough. */
const polled: Adapter<TextCall, Job, string> = {
  first: () => ({
    type: 'send',
    exchange: { request: request('POST', '/jobs'), dropped: ['seed'] },
    state: null,
  }),
  next(state, { bytes }) {
    const told = JSON.parse(new TextDecoder().decode(bytes)) as { id?: string; text?: string }
    if (told.text !== undefined) return { type: 'answer', answer: told.text }
    const id = state?.id ?? told.id ?? ''
    return { type: 'send', exchange: { request: request('GET', `/jobs/${id}`), waitMs: 500 }, state: { id } }
  },
  readError: () => refusal,
}

const asked = { call: {}, endpoint: {}, context: {} } as unknown as CallAt<TextCall>

function setUp(answers: (path: string) => unknown, { remainingMs = 60_000, status = 200 } = {}) {
  const leaving = new AbortController()
  const sent: string[] = []
  const dropped: string[] = []
  const work = {
    attempt: {
      endpoint: { deployment: { baseUrl: 'http://localhost' }, model: 'a/m', upstreamModel: 'm' },
      credential: { reference: { id: 'operator:a', isByok: false }, auth: { type: 'none' } },
    },
    state: {
      call: { operation: 'chat_completions', model: 'a/m', parameters: [] },
      scope: { signal: leaving.signal },
      noteLosses: (losses: Losses) => void dropped.push(...losses.dropped),
      elapsedMs: () => 1,
      remainingMs: () => remainingMs,
      firstByteMs: () => remainingMs,
    },
    dependencies: {
      transport: {
        send: async ({ method, path }: UpstreamRequest) => {
          if (leaving.signal.aborted) throw new GatewayError('deadline', 'The call was ended.')
          sent.push(`${method} ${path}`)
          const bytes = new TextEncoder().encode(JSON.stringify(answers(path)))
          return { status, headers: new Headers(), readAll: async () => bytes }
        },
      },
    },
  } as unknown as Work
  const run = () => exchange(polled, polled.first(asked), asked, work)
  return { run, sent, dropped, leaving, attempt: work.attempt }
}

test('a job is asked for until it is done, not before the wait that the adapter names', async () => {
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

test('a caller who leaves ends the wait, and nothing more is sent', async () => {
  const { run, sent, leaving } = setUp(() => ({ id: 'j1' }))
  const reached = run().catch((error: unknown) => error)
  await nextTurn()
  leaving.abort()
  expect(await reached).toMatchObject({ type: 'deadline' })
  expect(sent).toEqual(['POST /jobs'])
})

test('a job that is never done ends, also when nothing bounds its time', async () => {
  const { run, sent } = setUp(() => ({ id: 'j1' }), { remainingMs: 0 })
  expect(await run().catch((error: unknown) => error)).toMatchObject({ type: 'provider_failed' })
  expect(sent).toHaveLength(exchangesMax)
})

test('what a refusal means is what the adapter reads in it', async () => {
  const { run, sent } = setUp(() => ({ error: 'busy' }), { status: 503 })
  const thrown = await run().catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(AttemptFailed)
  expect((thrown as AttemptFailed).failure).toBe(refusal)
  expect(sent).toEqual(['POST /jobs'])
})
