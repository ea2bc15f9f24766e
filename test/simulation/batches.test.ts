import { afterEach, describe, expect, test } from 'bun:test'
import type { BatchCommitPoint } from '../../src/batches/batch-commit-points.ts'
import { commitPoints, jobCommitPoints } from '../../src/batches/batch-commit-points.ts'
import type { CreateBatch } from '../../src/batches/ingest/create.ts'
import type { BlobStore } from '../../src/storage/blobs/blob-store.ts'
import { FolderBlobStore } from '../../src/storage/blobs/folder-blob-store.ts'
import { newId } from '../../src/core/ids.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { Database } from '../../src/storage/database.ts'
import type { DialectName } from '../../src/storage/dialect.ts'
import { eachDatabase } from '../support/databases.ts'
import { isThorough } from '../support/thorough.ts'
import type { Behave, Process, ResultItem } from './batches-world.ts'
import {
  answerOrWait,
  batchOf,
  failed,
  itemCost,
  linesOf,
  putBack,
  resolveBatch,
  resultsOf,
  upload,
  World,
} from './batches-world.ts'
import { principalOf } from './billing-fixtures.ts'

const principal = principalOf({ organizationId: 'org_a' })
const items = 5
const granted = itemCost * 1_000n
/** More than there is, so that a batch waits for money for certain. */
const shortage = granted * 2n

/** An ordinary run dies either before or after every point. */
const sampledMoment = (index: number): Death['when'] => (index % 2 === 0 ? 'before' : 'after')

/** One scenario: how a batch must end, and what its items do. */
interface Story {
  ends: 'completed' | 'cancelled' | 'expired' | 'failed'
  behave: Behave
  /** The smallest and the largest number of answered items. */
  answered: [least: number, most: number]
}

/** Answers that do not compress, so that parts become blobs. */
const answerLarge: Behave = async (item, process) => {
  const outcome = await answerOrWait(item, process)
  if (!outcome.response) return outcome
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64')
  const body = Buffer.from(JSON.stringify({ echo: item.customId, noise }))
  return { ...outcome, response: { ...outcome.response, body } }
}

const stories: Record<string, Story> = {
  completes: { ends: 'completed', behave: answerLarge, answered: [items, items] },
  'has failures': {
    ends: 'completed',
    behave: (item, process) =>
      item.customId === 'item-2' ? failed('invalid_request') : answerOrWait(item, process),
    answered: [items - 1, items - 1],
  },
  'is cancelled': {
    ends: 'cancelled',
    behave: (item, process) =>
      item.customId === 'item-4' ? putBack('no_healthy_endpoint', 1_000) : answerOrWait(item, process),
    answered: [0, items - 1],
  },
  'expires while it waits for money': {
    ends: 'expired',
    behave: (item, process) =>
      item.customId === 'item-4' ? putBack('payment_required', 1_000, shortage) : answerOrWait(item, process),
    answered: [items - 1, items - 1],
  },
  'is withdrawn': { ends: 'failed', behave: answerOrWait, answered: [0, 0] },
}

/** The point at which the process dies: at its nth visit. */
interface Death {
  point: BatchCommitPoint
  when: 'before' | 'after'
  nth: number
}

interface Life {
  value: boolean
  ended: PromiseWithResolvers<void>
}

/**
 * A machine that loses its power at one point and is started again, and a caller who repeats unanswered
 * requests.
 */
class Machine {
  readonly world: World
  readonly #story: Story
  readonly #death: Death | null
  #passed = 0
  #process: Process | null = null
  #isAlive: Life = { value: true, ended: Promise.withResolvers<void>() }
  #dead: Promise<unknown>[] = []
  isWithdrawn = false
  deaths = 0
  reached = new Set<string>()

  constructor(world: World, story: Story, death: Death | null) {
    this.world = world
    this.#story = story
    this.#death = death
  }

  get process(): Process {
    if (this.#process === null) throw new Error('the machine is off')
    return this.#process
  }

  async boot(): Promise<void> {
    const alive: Life = { value: true, ended: Promise.withResolvers<void>() }
    this.#isAlive = alive
    this.#process = await this.world.process({
      behave: this.#story.behave,
      blobs: fragile(
        new FolderBlobStore('/blobs', { files: this.world.files, clock: this.world.clock }),
        alive,
      ),
      wrapDatabase: (database) => fragile(database, alive),
      resolveBatch: async (question) =>
        resolveBatch(this.isWithdrawn ? { ...question, model: 'gone' } : question),
      crash: (point, when) => {
        this.reached.add(point)
        if (!alive.value) throw new Error('the machine is off')
        const death = this.#death
        if (death?.point !== point || death.when !== when || ++this.#passed !== death.nth) return
        this.#die(alive)
        throw new Error('the power is cut')
      },
    })
  }

  /** Does something until it succeeds on a machine that stays alive. */
  async persist<T>(step: (process: Process) => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < 6; attempt++) {
      const { process } = this
      try {
        const stepping = step(process)
        // Results that a dead machine holds would wait for its storage for ever.
        const isOver = await Promise.race([stepping.then(() => true), this.#isAlive.ended.promise])
        if (isOver && this.#isAlive.value) return await stepping
        void stepping.catch(() => undefined)
      } catch (thrown) {
        if (this.#isAlive.value) throw thrown
      }
      this.#dead.push(process.batches.stop().catch(() => undefined))
      await process.database.close()
      await this.boot()
      // A start frees the money and the segments of the dead process at once.
      await this.process.billing.rounds.reap()
    }
    throw new Error('the machine dies again and again')
  }

  async buried(): Promise<void> {
    await Promise.all(this.#dead)
  }

  #die(alive: Life): void {
    alive.value = false
    alive.ended.resolve()
    this.deaths++
    this.world.files.crash()
  }
}

/** Every operation of a dead process fails, so that none reaches disk or database. */
function fragile<T extends Database | BlobStore>(target: T, alive: { value: boolean }): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name, object)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        if (!alive.value && name !== 'close') {
          if (name === 'notify' || name === 'listen') return () => undefined
          return Promise.reject(new GatewayError('storage_unavailable', 'the machine is off'))
        }
        return Reflect.apply(member, object, args)
      }
    },
  })
}

function keyed(): CreateBatch {
  return upload(batchOf(items), { principal, idempotencyKey: 'key' })
}

async function live(machine: Machine, story: Story): Promise<void> {
  const { world } = machine
  await world.grant(machine.process, granted)
  const orphan = `segments/batch_x/${newId('b', world.clock.nowMs())}`
  await new FolderBlobStore('/blobs', { files: world.files }).put(orphan, Buffer.from('x'))
  // A refusal comes first, because its key must be free for the next request.
  await machine.persist(async (process) => {
    await process.batches.create(upload('{}', { principal, idempotencyKey: 'key' })).catch(isRefusal)
  })
  const created = await machine.persist((process) => process.batches.create(keyed()))
  if (created.kind !== 'batch') throw new Error('a batch was asked for')
  const { id } = created.object
  machine.isWithdrawn = story.ends === 'failed'
  if (story.ends === 'cancelled') {
    await machine.persist((process) => process.batches.rounds.look())
    await machine.persist((process) => process.batches.cancel(principal, id))
  }
  const object = await runToEnd(machine, story, id)
  await check(machine, story, object)
  await machine.persist((process) => process.batches.delete(principal, id).catch(isGone))
  for (let hour = 0; hour < 6; hour++) {
    await world.advance(12 * 3_600_000 + 1)
    await machine.persist((process) => process.batches.rounds.cleanUp())
  }
  expect(world.files.paths()).toEqual([])
}

async function runToEnd(
  machine: Machine,
  story: Story,
  id: string,
): Promise<{ id: string; status: string; cost: number }> {
  for (let look = 0; look < 60; look++) {
    const { object } = await machine.persist((process) => process.batches.get(principal, id))
    if (object.finalized_at !== null)
      return { id, status: object.status, cost: Number(object.usage?.['cost'] ?? 0) }
    await machine.persist(async (process) => {
      await process.batches.rounds.renew()
      await process.batches.rounds.look()
      await process.batches.rounds.renew()
      await process.batches.rounds.settled()
    })
    await machine.world.advance(10_000)
    if (look === 8 && story.ends === 'expired') await machine.world.advance(86_400_000)
  }
  throw new Error('the batch does not end')
}

async function check(
  machine: Machine,
  story: Story,
  batch: { id: string; status: string; cost: number },
): Promise<void> {
  const { process, world } = machine
  expect(batch.status).toBe(story.ends)
  await process.billing.rounds.reap()
  const results = story.ends === 'failed' ? [] : await resultsOf(process, principal, batch.id)
  if (story.ends !== 'failed') {
    expect(results.map((result) => result.custom_id)).toEqual(
      Array.from({ length: items }, (_, n) => `item-${n}`),
    )
    expect((await linesOf(process, principal, batch.id)).map(idOf).toSorted()).toEqual(
      results.map(idOf).toSorted(),
    )
  }
  const answered = results.filter((result) => result.response !== null)
  expect(answered.length).toBeGreaterThanOrEqual(story.answered[0])
  expect(answered.length).toBeLessThanOrEqual(story.answered[1])
  // One capture per answered item, of the item itself, and the batch shows their sum.
  const captured = await process.database.query<{ custom_id: string; cost_nanocredits: bigint }>(
    'select custom_id, cost_nanocredits from usages where batch_id = $1 order by custom_id',
    [batch.id],
  )
  expect(captured.map((row) => row.custom_id)).toEqual(answered.map((result) => result.custom_id).toSorted())
  const cost = BigInt(answered.length) * itemCost
  expect(BigInt(Math.round(batch.cost * 1e9))).toBe(cost)
  const [budget] = await process.database.query<{ left_nanocredits: bigint }>(
    `select limit_nanocredits - granted_nanocredits as left_nanocredits from budgets where budget_id = 'credits:org_a'`,
  )
  expect(budget?.left_nanocredits).toBe(granted - cost)
  const { data } = await process.batches.list(principal, new URLSearchParams())
  expect(data.map((found) => found.id)).toEqual([batch.id])
  expect(data[0]?.request_counts).toEqual({
    total: items,
    completed: answered.length,
    failed: items - answered.length,
  })
  expect(await world.findings(process)).toEqual([])
}

function idOf(result: ResultItem): string {
  return `${result.id} ${result.custom_id}`
}

function isRefusal(thrown: unknown): void {
  if (!(thrown instanceof GatewayError) || thrown.status !== 400) throw thrown
}

function isGone(thrown: unknown): void {
  if (!(thrown instanceof GatewayError) || thrown.type !== 'not_found') throw thrown
}

/** An ordinary run dies at each point on one database: as many on either. */
function sampledPoints(database: DialectName): readonly BatchCommitPoint[] {
  const half = Math.ceil(commitPoints.length / 2)
  return database === 'sqlite' ? commitPoints.slice(0, half) : commitPoints.slice(-half)
}

eachDatabase((database, open) => {
  const machines: Machine[] = []
  afterEach(() => bury())

  async function tell(story: Story, death: Death | null): Promise<Machine> {
    const machine = new Machine(new World(open), story, death)
    machines.push(machine)
    await machine.boot()
    await live(machine, story)
    return machine
  }

  async function bury(): Promise<void> {
    for (const machine of machines.splice(0)) {
      await machine.buried()
      await machine.world.close()
    }
  }

  describe('a machine that loses its power', () => {
    /** The points that each scenario visits, from runs without a death. */
    const storiesAt = new Map<string, string[]>()

    test('at no point ends every scenario as it should, and visits every point', async () => {
      for (const [name, story] of Object.entries(stories)) {
        const machine = await tell(story, null)
        for (const point of machine.reached) storiesAt.set(point, [...(storiesAt.get(point) ?? []), name])
        await bury()
      }
      const onlyAfterDeath = new Set(['idempotency.take_over', 'segment.free'])
      // Jobs of providers have a simulation of their own.
      const ofJobs: ReadonlySet<string> = new Set(jobCommitPoints)
      const expected = commitPoints.filter((point) => !onlyAfterDeath.has(point) && !ofJobs.has(point))
      expect(expected.filter((point) => !storiesAt.has(point))).toEqual([])
    }, 60_000)

    for (const [index, point] of (isThorough ? commitPoints : sampledPoints(database)).entries()) {
      for (const when of isThorough ? (['before', 'after'] as const) : [sampledMoment(index)]) {
        test(`${when} ${point} ends every batch once, with one result and at most one charge per item`, async () => {
          const names = storiesAt.get(point) ?? Object.keys(stories)
          // `npm run prove -- simulation` runs every scenario at every point, three times.
          if (isThorough) {
            for (const name of names) for (const nth of [1, 2, 3]) await dieAt(name, { point, when, nth })
          }
          // Some points are visited only when one task is faster than another, so a further scenario may have
          // to run.
          let deaths = 0
          const attemptsMax = isThorough || storiesAt.has(point) ? 5 : 1
          for (let attempt = 0; attempt < attemptsMax && deaths === 0; attempt++) {
            const name = names[(index + attempt + (when === 'before' ? 0 : 1)) % names.length] ?? ''
            deaths = await dieAt(name, { point, when, nth: 1 })
          }
          if (storiesAt.has(point)) expect(deaths).toBe(1)
        }, 60_000)
      }
    }

    async function dieAt(name: string, death: Death): Promise<number> {
      const story = stories[name]
      if (!story) throw new Error(`there is no story "${name}"`)
      const { deaths } = await tell(story, death)
      await bury()
      return deaths
    }
  })
})
