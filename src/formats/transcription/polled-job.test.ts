import { expect, test } from 'bun:test'
import { askedFor, failureOf, reply, sentBy, walk } from './polled-job.case.ts'
import { polledJob } from './polled-job.ts'
import { testSound } from './transcription-testing.ts'

const adapter = polledJob({
  kind: 'sluice.job',
  path: '/jobs',
  upload: {
    kind: 'sluice.upload',
    request: () => ({ method: 'POST', path: '/files', headers: {}, body: null }),
    addressIn: ({ address }) => (typeof address === 'string' ? address : null),
    idIn: ({ id }) => (typeof id === 'string' ? id : null),
  },
  reserved: ['address'],
  create: (_, { address, options }) => ({
    method: 'POST',
    path: '/jobs',
    headers: {},
    body: [JSON.stringify({ ...options, address })],
  }),
  listing: {
    markerOf: ({ context }) => context.generationId,
    max: 2,
    olderThan: 'before',
    entriesIn: ({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)),
    read: ({ marker, created }) => ({ marker, created }),
  },
  lookWaitsMs: [10, 20],
  stateOf({ state, reason }) {
    if (state === 'failed') return { reason: String(reason), fault: 'account' }
    return state === 'running' || state === 'done' ? state : null
  },
  transcript: { path: '/text' },
  read: ({ text }, { id, wire }) => ({
    text: `${String(text)} of ${id}, ${String(wire['state'])}`,
    language: null,
    durationSeconds: null,
    segments: null,
    words: null,
    confidence: null,
    languageConfidence: null,
    entities: null,
    tokens: null,
    upstreamId: id,
  }),
})

test('a job’s sound is uploaded, the job is created, polled with its waits, and read', () => {
  const steps = walk(adapter, askedFor('sluice', { audio: testSound('mp3') }), [
    { id: 'u1', address: 'https://sluice.example/u1' },
    { id: 'j/1' },
    { state: 'running' },
    { state: 'running' },
    { state: 'done' },
    { text: 'hello' },
  ])
  const sent = steps.slice(0, -1).map((step) => {
    const { request, waitMs } = sentBy(step)
    return [request.method, request.path, waitMs]
  })
  expect(sent).toEqual([
    ['POST', '/files', undefined],
    ['POST', '/jobs', undefined],
    ['GET', '/jobs/j%2F1', 10],
    ['GET', '/jobs/j%2F1', 20],
    ['GET', '/jobs/j%2F1', 20],
    ['GET', '/jobs/j%2F1/text', undefined],
  ])
  expect(steps.at(-1)).toMatchObject({ type: 'answer', answer: { text: 'hello of j/1, done' } })
})

test('a job of an address that the provider can fetch needs no upload', () => {
  const asked = askedFor('sluice')
  const { request, makes } = sentBy(adapter.first(asked))
  expect(request.path).toBe('/jobs')
  expect(makes).toEqual({
    kind: 'sluice.job',
    marker: asked.context.generationId,
    takesIn: ['sluice.upload'],
  })
})

test.each([
  ['an upload without an address', [{}]],
  ['a job without a name', [{ address: 'https://sluice.example/u1' }, {}]],
  [
    'a state that nobody documents',
    [{ address: 'https://sluice.example/u1' }, { id: 'j' }, { state: 'lost' }],
  ],
])('%s is the provider’s failure', (_, replies) => {
  expect(() => walk(adapter, askedFor('sluice', { audio: testSound('mp3') }), replies)).toThrow(
    'without what its documents promise',
  )
})

test('a failed job is the fault of the caller or of the provider, as its row says', () => {
  const failure = failureOf(() =>
    walk(adapter, askedFor('sluice'), [{ id: 'j' }, { state: 'failed', reason: 'x' }]),
  )
  expect([failure.credentialFault, failure.retryElsewhere, failure.retrySame]).toEqual([true, true, false])
})

test('a job is found in a listing page by page, and one without a zone was made at that time in UTC', () => {
  const { remove, listing } = adapter.resources?.['sluice.job'] ?? {}
  expect(remove?.('j/1').path).toBe('/jobs/j%2F1')
  expect([listing?.request(null).path, listing?.request('j/2').path]).toEqual([
    '/jobs?limit=2',
    '/jobs?limit=2&before=j%2F2',
  ])
  const entries = [
    { id: 'a', marker: 'm', created: '2026-11-20T10:00:01Z' },
    { id: 'b', marker: 'n', created: '2026-11-20T10:00:00' },
  ]
  expect(listing?.read(reply(entries), 'm')).toEqual({
    found: [{ id: 'a', createdAtMs: Date.UTC(2026, 10, 20, 10, 0, 1) }],
    oldestAtMs: Date.UTC(2026, 10, 20, 10),
    older: 'b',
  })
})
