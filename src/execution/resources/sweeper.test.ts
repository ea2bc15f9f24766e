import { describe, expect, test } from 'bun:test'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { systemClock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { lostLookWaitsMs, removalTriesMax, removalWaitMs } from './removal.ts'
import type { Database } from '../../storage/database.ts'
import { openDatabase } from '../../storage/open-database.ts'
import type { RemovalPlace, RemovalResponse } from './removal.ts'
import { createResourceSweeper } from './sweeper.ts'
import { createUpstreamResourceRepository } from './upstream-resource-repository.ts'
import { createUpstreamResources, type ResourceTrail } from './upstream-resources.ts'

const get = (path: string): UpstreamRequest => ({ method: 'GET', path, headers: {}, body: null })
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

const job: ResourceKind = {
  readId: ({ bytes }) => (JSON.parse(textOf(bytes)) as { id?: string }).id ?? null,
  remove: (id) => ({ ...get(`/jobs/${id}`), method: 'DELETE' }),
  listing: {
    request: (older) => get(older === null ? '/jobs' : `/jobs?older=${older}`),
    read({ bytes }, marker) {
      const { jobs } = JSON.parse(textOf(bytes)) as { jobs?: { id: string; mark: string; at: number }[] }
      if (!jobs) throw new GatewayError('provider_failed', 'The provider answered without a list.')
      const found = jobs.filter(({ mark }) => mark === marker)
      return {
        found: found.map(({ id, at }) => ({ id, createdAtMs: at })),
        oldestAtMs: jobs.at(-1)?.at ?? null,
        older: null,
      }
    },
  },
}
const file: ResourceKind = { ...job, listing: null, remove: null }
/** Its removal makes it end, and then it has a file. */
const slowJob: ResourceKind = {
  ...job,
  remains: {
    look: (id) => get(`/ends/${id}`),
    read({ bytes }) {
      const { file: made } = JSON.parse(textOf(bytes)) as { file?: string }
      return made === undefined ? null : [{ ...get(`/files/${made}`), method: 'DELETE' }]
    },
  },
}
const kinds = { 'fake.job': job, 'fake.file': file, 'fake.slow': slowJob }

/** The part of a provider that removals use. */
class FakeProvider {
  jobs: { id: string; mark: string; at: number }[] = []
  asked: string[] = []
  /** Answers that come first, as long as there are some. */
  statuses: number[] = []
  headers = new Headers()
  ended: Record<string, string> = {}
  onSend: () => Promise<void> = () => Promise.resolve()

  async send({ method, path }: UpstreamRequest): Promise<RemovalResponse> {
    this.asked.push(`${method} ${path}`)
    await this.onSend()
    const status = this.statuses.shift() ?? 200
    if (status === 0) throw new GatewayError('provider_failed', 'The provider could not be reached.')
    const answer = (code: number, value: unknown) => ({
      status: code,
      headers: this.headers,
      bytes: bytesOf(value),
    })
    if (status !== 200) return answer(status, {})
    if (path.startsWith('/ends/')) return answer(200, this.ended)
    if (method === 'GET') return answer(200, { jobs: this.jobs })
    const id = path.split('/').at(-1)
    const isThere = this.jobs.some((each) => each.id === id)
    this.jobs = this.jobs.filter((each) => each.id !== id)
    return answer(isThere ? 200 : 404, {})
  }
}

const reference = { id: 'operator:a', isByok: false }
const place: RemovalPlace = {
  target: { baseUrl: 'http://localhost', credential: { reference, auth: { type: 'none' } } },
  kinds,
}

/** A process of a gateway: what its calls do, and its sweeper. */
function processOn(
  database: Database,
  provider: FakeProvider,
  places: Record<string, RemovalPlace> = { a: place },
) {
  const warnings: Record<string, unknown>[] = []
  const warn = (_: string, facts: Readonly<Record<string, unknown>>) => void warnings.push(facts)
  const repository = createUpstreamResourceRepository(database)
  const resources = createUpstreamResources({ repository, clock: systemClock, warn })
  const sweeper = createResourceSweeper({
    repository,
    resources,
    placeOf: (id) => places[id] ?? null,
    send: (request) => provider.send(request),
    warn,
  })
  // The test itself starts every sweep.
  resources.onLeft = () => undefined
  const trail = (credentialId = 'operator:a', deploymentId = 'a'): ResourceTrail =>
    resources.trail({ deploymentId, credentialId, usedBy: 'gen-stt-1', kinds })
  return { sweeper, resources, trail, warnings, repository }
}

const reply = (value: unknown) => ({ headers: new Headers(), bytes: bytesOf(value) })

const rowsOf = (database: Database) =>
  database.query<{
    state: string
    upstream_id: string | null
    reason: string | null
    tries: number
    due_in: number
  }>(
    `select state, upstream_id, reason, tries, due_at_ms - now_ms() as due_in from upstream_resources
     order by resource_id limit 100`,
  )

eachDatabase((_, __, { openFresh }) => {
  /** A database whose clock the test moves. */
  async function setUp() {
    const { database, url } = await openFresh()
    const provider = new FakeProvider()
    const later = async (ms: number) =>
      void (await database.commit({
        name: 'later',
        statements: [
          {
            sql: 'update upstream_resources set due_at_ms = due_at_ms - cast($1 as bigint)',
            params: [ms],
          },
        ],
      }))
    return { database, url, provider, later, ...processOn(database, provider) }
  }

  describe('a resource that a call leaves at a provider', () => {
    test('is recorded before it is made, and its row goes when the provider has removed it', async () => {
      const { database, provider, trail, resources, sweeper } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      expect(await rowsOf(database)).toMatchObject([{ state: 'used', upstream_id: null }])
      provider.jobs = [{ id: 'j1', mark: 'm', at: Date.now() }]
      await call.replied(reply({ id: 'j1' }))
      expect(await rowsOf(database)).toMatchObject([{ state: 'used', upstream_id: 'j1' }])
      await sweeper.look()
      expect(provider.asked).toEqual([])
      call.end()
      await resources.settle()
      await sweeper.look()
      expect(provider.asked).toEqual(['DELETE /jobs/j1'])
      expect(provider.jobs).toEqual([])
      expect(await rowsOf(database)).toEqual([])
    })

    test('does not exist after a refusal, and may exist after a failure', async () => {
      const { database, trail, resources } = await setUp()
      const refused = trail()
      await refused.begin({ kind: 'fake.job', marker: 'm' })
      refused.refused(400)
      refused.end()
      await resources.settle()
      expect(await rowsOf(database)).toEqual([])
      const failed = trail()
      await failed.begin({ kind: 'fake.job', marker: 'm' })
      failed.refused(502)
      failed.end()
      await resources.settle()
      expect(await rowsOf(database)).toMatchObject([{ state: 'left', upstream_id: null }])
    })

    test('may exist after an unreadable reply, and does not exist after a reply without an id', async () => {
      const { database, trail, resources } = await setUp()
      const nameless = trail()
      await nameless.begin({ kind: 'fake.job', marker: 'm' })
      await nameless.replied(reply({}))
      nameless.end()
      await resources.settle()
      expect(await rowsOf(database)).toEqual([])
      const broken = trail()
      await broken.begin({ kind: 'fake.job', marker: 'm' })
      await broken.replied({ headers: new Headers(), bytes: new TextEncoder().encode('{"id') })
      broken.end()
      await resources.settle()
      expect(await rowsOf(database)).toMatchObject([{ state: 'left', upstream_id: null }])
    })

    test('has one row when the provider removes an upload together with its job', async () => {
      const { database, trail } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.file', marker: null })
      await call.replied(reply({ id: 'f1' }))
      await call.begin({ kind: 'fake.job', marker: 'm', takesIn: ['fake.file'] })
      expect(await rowsOf(database)).toHaveLength(2)
      await call.replied(reply({ id: 'j1' }))
      expect(await rowsOf(database)).toMatchObject([{ upstream_id: 'j1' }])
    })

    test('stays when no call removes it, and its row says why', async () => {
      const { database, provider, trail, resources, sweeper, warnings } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.file', marker: null })
      await call.replied(reply({ id: 'f1' }))
      call.end()
      await resources.settle()
      await sweeper.look()
      expect(provider.asked).toEqual([])
      expect(await rowsOf(database)).toMatchObject([
        { state: 'kept', upstream_id: 'f1', reason: 'the provider documents no call that removes it' },
      ])
      expect(warnings).toEqual([])
    })

    test('is gone when it has ended after its removal, and what that has made is removed too', async () => {
      const { database, provider, trail, resources, sweeper, later } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.slow', marker: 'm' })
      await call.replied(reply({ id: 'j1' }))
      call.end()
      await resources.settle()
      const running = { id: 'j1', mark: 'm', at: Date.now() }
      provider.jobs = [running]
      await sweeper.look()
      const [row] = await rowsOf(database)
      expect(row).toMatchObject({ state: 'left', reason: 'it is ending at the provider' })
      expect(row?.due_in).toBeGreaterThan(30_000)
      provider.ended = { file: 'f9' }
      provider.asked = []
      await later(60_000)
      provider.jobs = [running]
      await sweeper.look()
      expect(provider.asked).toEqual(['DELETE /jobs/j1', 'GET /ends/j1', 'DELETE /files/f9'])
      expect(await rowsOf(database)).toEqual([])
    })

    test('that stays at the provider is forgotten after 30 days', async () => {
      const { database, trail, resources, sweeper, later } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.file', marker: null })
      call.end()
      await resources.settle()
      await sweeper.look()
      await later(29 * 86_400_000)
      await sweeper.look()
      expect(await rowsOf(database)).toHaveLength(1)
      await later(86_400_000)
      await sweeper.look()
      expect(await rowsOf(database)).toEqual([])
    })
  })

  describe('a removal that fails', () => {
    test('is tried again after growing waits, and given up after 30 tries', async () => {
      const { database, provider, trail, resources, sweeper, warnings, later } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      await call.replied(reply({ id: 'j1' }))
      call.end()
      await resources.settle()
      provider.statuses = [500, 0, ...Array.from({ length: removalTriesMax }, () => 401)]
      await sweeper.look()
      const [first] = await rowsOf(database)
      expect(first).toMatchObject({ state: 'left', reason: 'the provider answered 500', tries: 1 })
      expect(first?.due_in).toBeGreaterThan(removalWaitMs / 2)
      expect(first?.due_in).toBeLessThanOrEqual(removalWaitMs)
      await sweeper.look()
      expect(provider.asked).toHaveLength(1)
      await later(removalWaitMs)
      await sweeper.look()
      expect(await rowsOf(database)).toMatchObject([
        { reason: 'The provider could not be reached.', tries: 2 },
      ])
      for (let tries = 2; tries < removalTriesMax; tries += 1) {
        await later(7_200_000)
        await sweeper.look()
      }
      expect(await rowsOf(database)).toMatchObject([
        { state: 'kept', reason: `the provider answered 401; given up after ${removalTriesMax} tries` },
      ])
      expect(warnings).toMatchObject([{ kind: 'fake.job', deployment: 'a', upstream_id: 'j1' }])
      await later(7_200_000)
      await sweeper.look()
      expect(provider.asked).toHaveLength(removalTriesMax)
    })

    test('waits as long as the provider says', async () => {
      const { database, provider, trail, resources, sweeper } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      await call.replied(reply({ id: 'j1' }))
      call.end()
      await resources.settle()
      provider.statuses = [429]
      provider.headers.set('retry-after', '90')
      await sweeper.look()
      const [row] = await rowsOf(database)
      expect(row?.due_in).toBeGreaterThan(60_000)
    })

    test('names the reason when the deployment, its login or its provider no longer exists', async () => {
      const { database, provider, trail, resources } = await setUp()
      const others: RemovalPlace = { ...place, kinds: {} }
      for (const [credentialId, deploymentId] of [
        ['operator:gone', 'gone'],
        ['caller', 'a'],
        ['operator:a', 'other'],
      ]) {
        const call = trail(credentialId, deploymentId)
        await call.begin({ kind: 'fake.job', marker: 'm' })
        await call.replied(reply({ id: 'j1' }))
        call.end()
        await resources.settle()
      }
      await processOn(database, provider, { a: place, other: others }).sweeper.look()
      expect((await rowsOf(database)).map(({ state, reason }) => [state, reason])).toEqual([
        ['left', 'the provider "gone" is not configured any more'],
        ['kept', 'it was made with a login of the caller, which is not stored'],
        ['left', '"other" is another provider now, without fake.job'],
      ])
      expect(provider.asked).toEqual([])
    })
  })

  describe('a resource whose id never came', () => {
    test('is found by its marker, removed, and looked for twice more', async () => {
      const { database, provider, trail, resources, sweeper, later } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      call.end()
      await resources.settle()
      provider.jobs = [
        { id: 'other', mark: 'n', at: Date.now() },
        { id: 'mine', mark: 'm', at: Date.now() },
        { id: 'old', mark: 'm', at: Date.now() - 3_600_000 },
      ]
      await sweeper.look()
      expect(provider.jobs.map(({ id }) => id)).toEqual(['other', 'old'])
      // The creating request was on its way when its process died.
      provider.jobs.unshift({ id: 'late', mark: 'm', at: Date.now() })
      for (const ms of lostLookWaitsMs) {
        expect(await rowsOf(database)).toHaveLength(1)
        await later(ms)
        await sweeper.look()
      }
      expect(provider.jobs.map(({ id }) => id)).toEqual(['other', 'old'])
      expect(await rowsOf(database)).toEqual([])
    })

    test('is looked for as often after tries that the provider did not answer', async () => {
      const { database, provider, trail, resources, sweeper, later } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      call.end()
      await resources.settle()
      provider.statuses = [500, 0, 503]
      for (let tries = 0; tries < 4; tries += 1) {
        await sweeper.look()
        await later(60_000)
      }
      expect(await rowsOf(database)).toMatchObject([{ tries: 4 }])
      // The creating request was on its way when its process died.
      provider.jobs = [{ id: 'late', mark: 'm', at: Date.now() }]
      await sweeper.look()
      expect(provider.jobs).toEqual([])
      await later(600_000)
      await sweeper.look()
      expect(await rowsOf(database)).toEqual([])
    })

    test('is left alone when it belongs, or may belong, to another program', async () => {
      const { database, provider, trail, resources, sweeper } = await setUp()
      const running = trail()
      await running.begin({ kind: 'fake.job', marker: 'm' })
      await running.replied(reply({ id: 'running' }))
      const lost = trail()
      await lost.begin({ kind: 'fake.job', marker: 'm' })
      lost.end()
      await resources.settle()
      const at = Date.now()
      provider.jobs = [
        { id: 'running', mark: 'm', at },
        { id: 'one', mark: 'm', at },
        { id: 'two', mark: 'm', at },
      ]
      await sweeper.look()
      expect(provider.asked).toEqual(['GET /jobs'])
      expect((await rowsOf(database)).at(-1)).toMatchObject({
        reason: '2 things bear its mark, and 1 are missing',
      })
    })

    test('waits for a call that makes such a resource and has no answer yet', async () => {
      const { database, provider, trail, resources, sweeper } = await setUp()
      await trail().begin({ kind: 'fake.job', marker: 'm' })
      const lost = trail()
      await lost.begin({ kind: 'fake.job', marker: 'm' })
      lost.end()
      await resources.settle()
      provider.jobs = [{ id: 'whose', mark: 'm', at: Date.now() }]
      await sweeper.look()
      expect(provider.jobs).toHaveLength(1)
      expect((await rowsOf(database)).at(-1)).toMatchObject({
        reason: 'another call makes the same just now',
      })
    })

    test('is searched for again when the answer is not a listing', async () => {
      const { database, provider, trail, resources, sweeper } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      call.end()
      await resources.settle()
      provider.jobs = undefined as unknown as []
      await sweeper.look()
      expect(await rowsOf(database)).toMatchObject([
        { state: 'left', reason: 'The provider answered without a list.' },
      ])
    })

    test('that no search finds stays, and its row says so', async () => {
      const { database, trail, resources, sweeper } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: null })
      call.end()
      await resources.settle()
      await sweeper.look()
      expect(await rowsOf(database)).toMatchObject([
        { state: 'kept', reason: 'its id never came, and the provider cannot be asked for it' },
      ])
    })
  })

  describe('several processes', () => {
    test('remove each resource once, and none that another process is about to remove', async () => {
      const { database, url, provider, trail, resources, sweeper } = await setUp()
      const second = await openDatabase({ url, ownerGraceMs: 0 })
      try {
        for (let index = 0; index < 20; index += 1) {
          const call = trail()
          await call.begin({ kind: 'fake.job', marker: `m${index}` })
          await call.replied(reply({ id: `j${index}` }))
          call.end()
        }
        await resources.settle()
        provider.onSend = () => Bun.sleep(1)
        const other = processOn(second, provider)
        await Promise.all([sweeper.look(), other.sweeper.look()])
        expect(new Set(provider.asked).size).toBe(20)
        expect(provider.asked).toHaveLength(20)
        expect(await rowsOf(database)).toEqual([])
      } finally {
        await second.close()
      }
    })

    test('take over the resources of a dead process, and leave those of a living one alone', async () => {
      const { database, url, provider, sweeper } = await setUp()
      const dying = await openDatabase({ url, ownerGraceMs: 0 })
      const call = processOn(dying, provider).trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      await call.replied(reply({ id: 'j1' }))
      await sweeper.look()
      expect(provider.asked).toEqual([])
      // Closing gives the owner id up, as the end of a process does.
      await dying.close()
      for (let look = 0; look < 100 && provider.asked.length === 0; look += 1) {
        await sweeper.look()
        await Bun.sleep(20)
      }
      expect(provider.asked).toEqual(['DELETE /jobs/j1'])
      expect(await rowsOf(database)).toEqual([])
    })

    test('continue at once the removals of a dead process', async () => {
      const { database, url, provider, trail, resources, sweeper } = await setUp()
      const call = trail()
      await call.begin({ kind: 'fake.job', marker: 'm' })
      await call.replied(reply({ id: 'j1' }))
      call.end()
      await resources.settle()
      const dying = await openDatabase({ url, ownerGraceMs: 0 })
      expect(await processOn(dying, provider).repository.claim(1, 60_000)).toHaveLength(1)
      await sweeper.look()
      expect(provider.asked).toEqual([])
      await dying.close()
      for (let look = 0; look < 100 && provider.asked.length === 0; look += 1) {
        await sweeper.look()
        await Bun.sleep(20)
      }
      expect(provider.asked).toEqual(['DELETE /jobs/j1'])
      expect(await rowsOf(database)).toEqual([])
    })
  })

  test('a release that storage refused when a call ended is written when storage works again', async () => {
    const { database, provider, repository, warnings } = await setUp()
    let isAway = true
    const shaky: typeof repository = {
      ...repository,
      async leave(...parameters) {
        if (isAway) throw new GatewayError('storage_unavailable', 'Storage is away.')
        return repository.leave(...parameters)
      },
    }
    const told: unknown[] = []
    const resources = createUpstreamResources({
      repository: shaky,
      clock: systemClock,
      warn: (message) => void told.push(message),
    })
    const sweeper = createResourceSweeper({
      repository: shaky,
      resources,
      placeOf: () => place,
      send: (request) => provider.send(request),
      warn: () => undefined,
    })
    const call = resources.trail({ deploymentId: 'a', credentialId: 'operator:a', usedBy: 'g', kinds })
    await call.begin({ kind: 'fake.job', marker: 'm' })
    await call.replied(reply({ id: 'j1' }))
    call.end()
    await resources.settle()
    expect(told).toEqual(['what is left at a provider is noted later'])
    expect(await rowsOf(database)).toMatchObject([{ state: 'used' }])
    isAway = false
    await sweeper.look()
    expect(await rowsOf(database)).toEqual([])
    expect(warnings).toEqual([])
  })
})
