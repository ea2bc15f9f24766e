import { afterEach, describe, expect, mock, spyOn, test } from 'bun:test'
import { toCredits } from '../../src/core/money.ts'
import { eachDatabase } from '../support/databases.ts'
import { isThorough } from '../support/thorough.ts'
import { batchOf, create, type Process, upload, World } from './batches-world.ts'
import { principalOf } from './billing-fixtures.ts'
import { counted, DayBooks, dayProviders, hour, ManualDay, minute, resolveDay } from './day.ts'

/** The proof has the whole day; an ordinary run a smaller one. */
const [batches, stepMs] = isThorough ? [40, 5 * minute] : [9, 15 * minute]
const items = 20
/** Batches are made in the first four hours. */
const everyMs = (4 * hour) / batches
const granted = 10_000_000n
/** A batch that expires takes a few looks to end: its items, their merge, its own end. */
const looksAStep = 4
const quietTurns = 4
/** Of real time: turns of the event loop do not tell how long a commit takes. */
const lookMaxMs = 30_000
const owners = ['org_a', 'org_b', 'org_t'].map((organizationId) =>
  principalOf({ organizationId, accountMode: organizationId === 'org_t' ? 'tracked' : 'prepaid' }),
)
const terminal = new Set(['completed', 'failed', 'expired', 'cancelled'])

/** One batch of the day, as this test follows it. */
interface Followed {
  id: string
  model: string
  owner: (typeof owners)[number]
  createdMs: number
  endedMs: number | null
}

eachDatabase((_name, open) => {
  let world: World
  afterEach(async () => {
    mock.restore()
    await world.close()
  })

  describe('a day', () => {
    test('with a provider down for six hours, a slow one and one out of credits ends every batch in time, for the sum of what was answered', async () => {
      world = new World(open)
      const day = new ManualDay(world)
      const books = new DayBooks(day)
      let underWay = (): number => 0
      const compressing = countCompressing()
      const process = await world.process({
        wrapDatabase: (database) => {
          const watched = counted(database)
          underWay = () => watched.underWay()
          return watched.database
        },
        behave: books.behave,
        resolveBatch: resolveDay,
        clock: day.clock,
        pause: day.pause,
        itemsAtOnce: 64,
      })
      for (const { organizationId } of owners.slice(0, 2)) await world.grant(process, granted, organizationId)
      const isQuiet = () =>
        underWay() + compressing() === 0 && process.batches.stats().itemsRunning <= books.waiting
      const followed = await runDay(process, day, isQuiet)
      expect(followed.filter(({ endedMs }) => endedMs === null)).toEqual([])
      for (const { createdMs, endedMs } of followed)
        expect((endedMs ?? 0) - createdMs).toBeLessThanOrEqual(24 * hour + 2 * stepMs)
      const charged = await compareBills(process, followed, books)
      for (const [index, organizationId] of ['org_a', 'org_b'].entries()) {
        const spent = charged.get(owners[index]?.organizationId ?? '') ?? 0n
        expect(await balanceOf(process, organizationId)).toBe(granted - spent)
      }
      expect(await world.findings(process)).toEqual([])
      // The outage and the empty account were asked now and then, not by every item again and again.
      for (const { model } of dayProviders) expect(books.refused.get(model) ?? 0).toBeLessThan(1_200)
    }, 300_000)
  })

  /** Counts what other threads compress; turns of the event loop do not tell how long that takes. */
  function countCompressing(): () => number {
    let running = 0
    const counting = <T>(work: Promise<T>): Promise<T> => {
      running += 1
      return work.finally(() => (running -= 1))
    }
    const { zstdCompress, zstdDecompress } = Bun
    spyOn(Bun, 'zstdCompress').mockImplementation((data, options) => counting(zstdCompress(data, options)))
    spyOn(Bun, 'zstdDecompress').mockImplementation((data) => counting(zstdDecompress(data)))
    return () => running
  }

  async function runDay(process: Process, day: ManualDay, isQuiet: () => boolean): Promise<Followed[]> {
    const followed: Followed[] = []
    while (day.ms < 29 * hour) {
      while (followed.length < batches && day.ms >= followed.length * everyMs)
        followed.push(await createOne(process, day, followed.length))
      for (let look = 0; look < looksAStep; look += 1) {
        await process.batches.rounds.look()
        await untilQuiet(isQuiet)
      }
      for (const one of followed) {
        if (one.endedMs !== null) continue
        const { object } = await process.batches.get(one.owner, one.id)
        if (terminal.has(object.status)) one.endedMs = day.ms
      }
      if (followed.length === batches && followed.every(({ endedMs }) => endedMs !== null)) break
      await day.pass(stepMs)
    }
    return followed
  }

  /** Until what is left to do waits for the clock, or for the next look. */
  async function untilQuiet(isQuiet: () => boolean): Promise<void> {
    const untilMs = performance.now() + lookMaxMs
    for (let quiet = 0; quiet < quietTurns;) {
      if (performance.now() > untilMs) throw new Error('a look was not done in time')
      await Bun.sleep(0)
      quiet = isQuiet() ? quiet + 1 : 0
    }
  }

  async function createOne(process: Process, day: ManualDay, index: number): Promise<Followed> {
    const model = dayProviders[index % dayProviders.length]?.model ?? ''
    const owner = owners[index % 2 === 0 ? 0 : 1 + (Math.floor(index / 2) % 2)] ?? owners[0]
    if (owner === undefined) throw new Error('somebody owns every batch')
    const { id } = await create(process, upload(batchOf(items, { model }), { principal: owner }))
    return { id, model, owner, createdMs: day.ms, endedMs: null }
  }

  /** Each batch's bill against the providers' books; returns what each organization owes. */
  async function compareBills(process: Process, followed: readonly Followed[], books: DayBooks) {
    const charged = new Map<string, bigint>()
    for (const { id, model, owner } of followed) {
      const provider = dayProviders.find((each) => each.model === model)
      const answered = books.answered.get(id) ?? []
      expect(new Set(answered).size).toBe(answered.length)
      if (model !== 'broke/model') expect(answered.length).toBe(items)
      const cost = BigInt(answered.length) * (provider?.costNanocredits ?? 0n)
      const { object } = await process.batches.get(owner, id)
      expect(object.request_counts).toEqual({
        total: items,
        completed: answered.length,
        failed: items - answered.length,
      })
      expect(object.usage?.['cost'] ?? 0).toBe(toCredits(cost))
      const [row] = await process.database.query<{ cost: number; captures: number }>(
        `select cast(coalesce(sum(cost_nanocredits), 0) as bigint) as cost, count(*) as captures from usages where batch_id = $1`,
        [id],
      )
      expect([BigInt(row?.cost ?? -1), Number(row?.captures)]).toEqual([cost, answered.length])
      charged.set(owner.organizationId, (charged.get(owner.organizationId) ?? 0n) + cost)
    }
    return charged
  }

  async function balanceOf(process: Process, organizationId: string): Promise<bigint> {
    const [row] = await process.database.query<{ balance: bigint }>(
      `select limit_nanocredits - granted_nanocredits as balance from budgets where budget_id = $1`,
      [`credits:${organizationId}`],
    )
    return BigInt(row?.balance ?? 0)
  }
})
