import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { captureRowOf } from '../../../test/simulation/billing-fixtures.ts'
import { until } from '../../../test/support/gateway.ts'
import { eachDatabase, type OpenTestDatabase } from '../../../test/support/databases.ts'
import type { CaptureRow } from '../../billing/ledger/capture-row.ts'
import { captureStatements } from '../../billing/ledger/captures.ts'
import { createHold } from '../../billing/budgets/hold.ts'
import { systemClock } from '../../core/clock.ts'
import { randomText } from '../../core/ids.ts'
import type { Database } from '../../storage/database.ts'
import type { Posted } from '../../transport/callback-sender.ts'
import { createAnnounce } from './announcements.ts'
import { Broadcaster, broadcastGroupMax } from './broadcaster.ts'
import { createBroadcastRepository } from './broadcast-repository.ts'
import type { Destination } from './destination.ts'

const secondMs = 1_000
const dayMs = 86_400_000
const secret = 'the-secret-of-the-webhook'
const taken: Posted = { status: 200, problem: null }
const broken: Posted = { status: 503, problem: 'the receiver answered 503' }
const refused: Posted = { status: 400, problem: 'the receiver answered 400' }

/** A post, and the ids of the generations in it. */
interface Sent {
  url: string
  body: string
  headers: Readonly<Record<string, string>>
  ids: readonly string[]
}

function destinationOf(change: Partial<Destination> = {}): Destination {
  return {
    name: `to-${randomText(8)}`,
    kind: 'webhook',
    url: 'https://hooks.example.com/generations',
    headers: { 'x-team': 'blue' },
    secret,
    organizations: null,
    keys: null,
    sampling: 1,
    zdrCalls: 'figures',
    ...change,
  }
}

/** Captures calls as the ledger does: their rows and what they announce are one unit. */
async function capture(
  database: Database,
  destinations: readonly Destination[],
  calls: readonly Partial<CaptureRow>[],
): Promise<string[]> {
  const rows = calls.map((change) => captureRowOf(`gen-${randomText(12)}`, 7_000n, change))
  const captures = rows.map((row) => ({ hold: createHold(0n, []), row }))
  await database.commit({
    name: 'ledger.capture',
    statements: captureStatements(captures, createAnnounce(destinations)),
  })
  return rows.map(({ generationId }) => generationId)
}

/** What a test's clock does to the database: every stored time becomes so much earlier. */
async function pass(database: Database, ms: number): Promise<void> {
  await database.commit({
    name: 'test.pass',
    statements: [
      { sql: `update broadcasts set created_at_ms = created_at_ms - cast($1 as bigint)`, params: [ms] },
      {
        sql: `update broadcast_destinations set due_at_ms = due_at_ms - cast($1 as bigint),
            lease_until_ms = lease_until_ms - cast($1 as bigint), failing_since_ms = failing_since_ms - cast($1 as bigint)`,
        params: [ms],
      },
    ],
  })
}

async function newBroadcaster(
  open: OpenTestDatabase,
  destinations: readonly Destination[],
  answer: (sent: Sent) => Posted | Promise<Posted> = () => taken,
  waitingMax = 100_000,
) {
  const database = await open()
  const repository = createBroadcastRepository(database)
  const sent: Sent[] = []
  const warnings: string[] = []
  const broadcaster = new Broadcaster({
    destinations,
    repository,
    sender: {
      async post(url, body, headers) {
        const post = { url, body, headers, ids: idsOf(body) }
        sent.push(post)
        return answer(post)
      },
    },
    clock: systemClock,
    version: '1.2.3',
    warn: (message) => void warnings.push(message),
    waitingMax,
  })
  const look = async () => {
    await broadcaster.look()
    await broadcaster.settled()
  }
  const state = async () =>
    (await repository.listStates()).find(({ destination }) => destination === destinations[0]?.name)
  return { database, repository, broadcaster, sent, warnings, look, state }
}

/** The ids in a webhook's body or in an export of OTLP. */
function idsOf(body: string): string[] {
  return [
    ...body.matchAll(/"(?:id":"|gen_ai\.response\.id","value":\{"stringValue":")(gen-[a-z0-9-]+)"/g),
  ].map(([, id = '']) => id)
}

eachDatabase((_name, open) => {
  describe('a captured generation', () => {
    test('is told once, in one post with others, signed and with the operator’s headers', async () => {
      const destination = destinationOf()
      const { database, sent, look, state } = await newBroadcaster(open, [destination])
      const ids = await capture(database, [destination], [{}, {}, {}])
      await look()
      await look()
      expect(sent).toHaveLength(1)
      const [post] = sent
      expect(post?.url).toBe(destination.url)
      expect(post?.ids.toSorted()).toEqual(ids.toSorted())
      expect(post?.headers['x-team']).toBe('blue')
      const signature = post?.headers['x-openrouter-signature'] ?? ''
      const [, seconds = '', hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? []
      expect(hex).toBe(createHmac('sha256', secret).update(`${seconds},${post?.body}`).digest('hex'))
      expect(post?.headers['x-openrouter-idempotency-key']).toMatch(/^[0-9a-f]{64}$/)
      expect(JSON.parse(post?.body ?? '')).toMatchObject({
        type: 'generations',
        data: [{ cost: 0.000007 }, {}, {}],
      })
      expect(await state()).toMatchObject({
        waiting: 0,
        sent: 3,
        failed: 0,
        dropped: 0,
        status: 200,
        problem: null,
      })
    })

    test('leaves a row for each destination that wants it, and none where none does', async () => {
      const all = destinationOf()
      const some = destinationOf({ organizations: ['org_b'], kind: 'otlp', secret: null })
      const own = destinationOf({ keys: ['key_a'] })
      const { database, sent, look } = await newBroadcaster(open, [all, some, own])
      const [first = '', second = ''] = await capture(
        database,
        [all, some, own],
        [{}, { organizationId: 'org_b', keyId: 'key_b' }],
      )
      await look()
      const of = ({ url }: Destination, kind: string) =>
        sent.filter((post) => post.url === url && post.body.includes(kind)).flatMap(({ ids }) => ids)
      expect(of(some, 'resourceSpans')).toEqual([second])
      expect(of(all, 'generations').filter((id) => id === first)).toHaveLength(2)
      expect(of(all, 'generations').filter((id) => id === second)).toHaveLength(1)
      expect(createAnnounce([])).toBeNull()
      expect(createAnnounce([some])?.([captureRowOf('gen-x', 1n)]) ?? null).toBeNull()
    })

    test('is sampled by its session, so that a session is told whole or not at all', async () => {
      const destination = destinationOf({ sampling: 0.5 })
      const announce = createAnnounce([destination])
      const told = Array.from({ length: 400 }, (_, index) => {
        const sessionId = `session ${index % 100}`
        return announce?.([captureRowOf(`gen-${index}`, 1n, { sessionId })]) ? sessionId : null
      })
      const sessions = new Set(told.filter((session) => session !== null))
      expect(told.filter((session) => session !== null)).toHaveLength(sessions.size * 4)
      expect(sessions.size).toBeGreaterThan(30)
      expect(sessions.size).toBeLessThan(70)
    })

    test('of a unit that failed is not told', async () => {
      const destination = destinationOf()
      const { database, sent, look } = await newBroadcaster(open, [destination])
      const row = captureRowOf(`gen-${randomText(12)}`, 1n)
      const captures = [{ hold: createHold(0n, []), row }]
      const statements = captureStatements(captures, createAnnounce([destination]))
      const failing = { sql: 'select 1 as found where 1 = 0', expect: 1, guard: 'never' }
      await database
        .commit({ name: 'ledger.capture', statements: [...statements, failing] })
        .catch(() => null)
      await look()
      expect(sent).toEqual([])
    })
  })

  describe('a destination that does not take posts', () => {
    test('is tried after growing waits for a day, then its generations are kept until they are asked for', async () => {
      const destination = destinationOf()
      let answer = broken
      const { database, repository, sent, look, state, warnings } = await newBroadcaster(
        open,
        [destination],
        () => answer,
      )
      const ids = await capture(database, [destination], [{}])
      const waits: number[] = []
      let waited = 0
      while (waited < dayMs) {
        const posts = sent.length
        await look()
        expect(sent).toHaveLength(posts + 1)
        await look()
        expect(sent).toHaveLength(posts + 1)
        const found = await state()
        if (found?.waiting === 0) break
        const waitMs = (found?.nextTryMs ?? 0) - Date.now()
        waits.push(Math.round(waitMs / secondMs))
        waited += waitMs + 100
        await pass(database, waitMs + 100)
      }
      expect(waits.slice(0, 4)).toEqual([1, 5, 30, 120])
      expect(waits.length).toBeLessThan(200)
      await look()
      expect(await state()).toMatchObject({
        waiting: 0,
        kept: 1,
        failed: 1,
        sent: 0,
        problem: broken.problem,
      })
      expect(warnings.filter((warning) => warning.includes('does not take'))).toHaveLength(1)
      answer = taken
      expect(await repository.again(destination.name)).toBe(1)
      await look()
      expect(sent.at(-1)?.ids).toEqual(ids)
      expect(await state()).toMatchObject({ waiting: 0, kept: 0, sent: 1, failingSinceMs: null })
      expect(warnings.at(-1)).toContain('takes broadcasts again')
    }, 60_000)

    test('is left alone for as long as it asks, an hour at most', async () => {
      const destination = destinationOf()
      let retryAfterMs = 90_000
      const { database, look, state } = await newBroadcaster(open, [destination], () => ({
        ...broken,
        status: 429,
        retryAfterMs,
      }))
      await capture(database, [destination], [{}])
      for (const [asked, seconds] of [
        [90_000, 90],
        [dayMs, 3_600],
      ] as const) {
        retryAfterMs = asked
        await look()
        const waitMs = ((await state())?.nextTryMs ?? 0) - Date.now()
        expect(Math.round(waitMs / secondMs)).toBe(seconds)
        await pass(database, waitMs + 100)
      }
    })

    test('because of one generation gets the others all the same', async () => {
      const destination = destinationOf()
      const poison: { id?: string } = {}
      const { database, sent, look, state } = await newBroadcaster(open, [destination], ({ ids }) =>
        ids.includes(poison.id ?? '') ? refused : taken,
      )
      const ids = await capture(
        database,
        [destination],
        Array.from({ length: 20 }, () => ({})),
      )
      poison.id = ids[7] ?? ''
      for (let turn = 0; turn < 8; turn += 1) {
        await look()
        await pass(database, 700_000)
      }
      const delivered = new Set(
        sent.filter((post) => !post.ids.includes(poison.id ?? '')).flatMap((post) => post.ids),
      )
      expect(delivered.size).toBe(19)
      expect(await state()).toMatchObject({ waiting: 0, sent: 19, kept: 1, failed: 1 })
    })

    test('has a bounded number of generations waiting: the oldest are dropped and counted', async () => {
      const destination = destinationOf()
      const { database, broadcaster, repository, look, state, sent } = await newBroadcaster(
        open,
        [destination],
        () => taken,
        10,
      )
      const old = await capture(
        database,
        [destination],
        Array.from({ length: 5 }, () => ({})),
      )
      await pass(database, secondMs)
      const young = await capture(
        database,
        [destination],
        Array.from({ length: 10 }, () => ({})),
      )
      await broadcaster.trim()
      expect(await state()).toMatchObject({ waiting: 10, dropped: 5 })
      expect(broadcaster.states).toMatchObject([{ waiting: 10, dropped: 5 }])
      await look()
      const told = sent.flatMap(({ ids }) => ids)
      expect(told.toSorted()).toEqual(young.toSorted())
      expect(told.filter((id) => old.includes(id))).toEqual([])
      await broadcaster.trim()
      expect(
        (await repository.listStates()).find(({ destination: name }) => name === destination.name)?.dropped,
      ).toBe(5)
    })
  })

  describe('several processes', () => {
    test('tell everything once, and one that died loses nothing', async () => {
      const destination = destinationOf()
      const { promise: never } = Promise.withResolvers<Posted>()
      const dying = await newBroadcaster(open, [destination], () => never)
      const ids = await capture(
        dying.database,
        [destination],
        Array.from({ length: 30 }, () => ({})),
      )
      await until(
        () => dying.broadcaster.look(),
        () => dying.sent.length > 0,
      )
      const others = await Promise.all([
        newBroadcaster(open, [destination]),
        newBroadcaster(open, [destination]),
        newBroadcaster(open, [destination]),
      ])
      await Promise.all(others.map(({ look }) => look()))
      expect(others.flatMap(({ sent }) => sent)).toEqual([])
      await pass(dying.database, 61 * secondMs)
      await Promise.all(others.map(({ look }) => look()))
      const told = others.flatMap(({ sent }) => sent.flatMap((post) => post.ids))
      expect(told.toSorted()).toEqual(ids.toSorted())
    })

    test('take over at once from one that is known to be dead', async () => {
      const destination = destinationOf()
      const { promise: never } = Promise.withResolvers<Posted>()
      const dying = await newBroadcaster(open, [destination], () => never)
      const other = await newBroadcaster(open, [destination])
      const ids = await capture(other.database, [destination], [{}])
      await until(
        () => dying.broadcaster.look(),
        () => dying.sent.length > 0,
      )
      await other.look()
      expect(other.sent).toEqual([])
      await dying.database.close()
      await until(other.look, () => other.sent.length > 0)
      expect(other.sent.flatMap((post) => post.ids)).toEqual(ids)
    })

    test('that lost the lease notes nothing', async () => {
      const destination = destinationOf()
      const one = await newBroadcaster(open, [destination])
      await capture(one.database, [destination], [{}])
      const lease = await one.repository.claim({ destination: destination.name, deadOwner: null }, 1)
      await pass(one.database, secondMs)
      const two = await newBroadcaster(open, [destination])
      const later = await two.repository.claim({ destination: destination.name, deadOwner: null }, 60_000)
      const outcome = {
        sent: [],
        failed: [],
        giveUpAfterMs: null,
        status: 200,
        problem: null,
        waitMs: 0,
        groupMax: null,
        leaseMs: 0,
      }
      if (lease === null || later === null) throw new Error('both were leased')
      expect(await one.repository.record(lease, outcome)).toBe(false)
      expect(await two.repository.record(later, outcome)).toBe(true)
    })
  })

  test('more than one post has are told in several, one after the other', async () => {
    const destination = destinationOf({ kind: 'otlp', secret: null })
    const { database, sent, look } = await newBroadcaster(open, [destination])
    const many = broadcastGroupMax * 2 + 3
    const ids = await capture(
      database,
      [destination],
      Array.from({ length: many }, () => ({})),
    )
    await look()
    expect(sent.map((post) => post.ids.length)).toEqual([broadcastGroupMax, broadcastGroupMax, 3])
    expect(new Set(sent.flatMap((post) => post.ids))).toEqual(new Set(ids))
  })
})
