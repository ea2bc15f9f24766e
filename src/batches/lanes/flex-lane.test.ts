import { afterEach, describe, expect, test } from 'bun:test'
import {
  answer,
  answerOrWait,
  batchOf,
  create,
  failed,
  type Process,
  resolveBatch,
  resultsOf,
  runToEnd,
  upload,
  World,
} from '../../../test/simulation/batches-world.ts'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ItemOutcome, ItemRequest, ResolveBatch } from '../item-contract.ts'
import { itemTimeoutsMax } from '../running/item-retries.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })
const hour = 3_600_000

/** A model whose provider has a flex tier. */
const withFlex: ResolveBatch = async (question) => {
  const resolved = await resolveBatch(question)
  const [live] = resolved.offers
  if (!live || question.lane === 'emulated') return resolved
  const offers = [{ ...live, lane: 'flex' as const }, live]
  return { ...resolved, lane: 'flex', heldLane: question.lane === 'auto' ? 'emulated' : 'flex', offers }
}

const laneOf = (lane: string) => upload(batchOf(20, { headrace: { lane } }))

/** A provider whose flex tier does what the test says, and whose usual tier answers. */
class Tiers {
  /** What the flex tier answers to an item; null: the answer. */
  refusal: ((item: ItemRequest) => Partial<ItemOutcome> & Pick<ItemOutcome, 'error'>) | null = null
  readonly asked: { customId: string; tier: ItemRequest['tier'] }[] = []

  readonly behave = async (item: ItemRequest, process: Process): Promise<ItemOutcome> => {
    this.asked.push({ customId: item.customId, tier: item.tier })
    if (item.tier === null) return answerOrWait(item, process)
    const refusal = this.refusal?.(item) ?? null
    if (refusal !== null) return { ...failed('provider_overloaded'), hasAskedTier: true, ...refusal }
    return { ...(await answer(item, process)), hasAskedTier: true }
  }

  get tiers(): unknown[] {
    return [...new Set(this.asked.map(({ tier }) => JSON.stringify(tier)))].toSorted()
  }
}

const full = () => ({ error: failed('upstream_rate_limited').error, hasNoRoom: true as const })

eachDatabase((_name, open) => {
  let world: World
  afterEach(() => world.close())

  async function start(tiers: Tiers, resolve: ResolveBatch = withFlex): Promise<Process> {
    world = new World(open)
    return world.process({ behave: tiers.behave, resolveBatch: resolve })
  }

  async function look(process: Process, advanceMs: number): Promise<void> {
    await process.batches.rounds.look()
    await process.batches.rounds.settled()
    await world.advance(advanceMs)
  }

  const capturesOf = async (process: Process, id: string): Promise<number> => {
    const sql = 'select count(*) as found from usages where batch_id = $1'
    const [row] = await process.database.query(sql, [id])
    return Number(row?.['found'])
  }

  describe('a batch in the flex lane', () => {
    test('asks for the tier alone, and holds its price alone where the caller named the lane', async () => {
      for (const [lane, isHeldAlone] of [
        ['flex', true],
        ['auto', false],
      ] as const) {
        const tiers = new Tiers()
        const process = await start(tiers)
        const { id } = await create(process, laneOf(lane))
        expect(await runToEnd(process, tracked, id)).toMatchObject({
          status: 'completed',
          headrace_metadata: { lane: 'flex' },
        })
        expect(tiers.tiers).toEqual([JSON.stringify({ name: 'flex', isHeldAlone })])
        await world.close()
      }
      world = new World(open)
    })

    test('waits for room without using up its tries, and asks seldom', async () => {
      const tiers = new Tiers()
      const process = await start(tiers)
      tiers.refusal = full
      const { id } = await create(process, laneOf('flex'))
      for (let turn = 0; turn < 100; turn++) await look(process, 400_000)
      expect(tiers.asked.length).toBeLessThan(20 + 110)
      const waiting = await process.batches.get(tracked, id)
      expect(waiting.object.headrace_metadata.waiting).toMatchObject({
        type: 'provider_overloaded',
        items: 20,
      })
      tiers.refusal = null
      expect(await runToEnd(process, tracked, id, world)).toMatchObject({
        status: 'completed',
        request_counts: { completed: 20, failed: 0 },
        headrace_metadata: { lane: 'flex' },
      })
      expect(await capturesOf(process, id)).toBe(20)
    })

    test('ends its unfinished items at the deadline, unbilled, and never asks for another tier', async () => {
      const tiers = new Tiers()
      const process = await start(tiers)
      tiers.refusal = ({ customId }) => (customId === 'item-3' ? { ...full(), error: null } : full())
      const { id } = await create(process, laneOf('flex'))
      for (let turn = 0; turn < 25; turn++) await look(process, hour)
      const ended = await runToEnd(process, tracked, id, world)
      expect(ended).toMatchObject({ status: 'expired', request_counts: { completed: 0, failed: 20 } })
      expect(ended.headrace_metadata).toEqual({ lane: 'flex' })
      const results = await resultsOf(process, tracked, id)
      expect(new Set(results.map(({ error }) => error?.type))).toEqual(new Set(['batch_expired']))
      expect(tiers.tiers).toEqual([JSON.stringify({ name: 'flex', isHeldAlone: true })])
      expect(await capturesOf(process, id)).toBe(0)
      expect(ended.usage).toMatchObject({ cost: 0 })
    })

    test('under auto goes to the usual tier two hours before the deadline, each item once', async () => {
      const tiers = new Tiers()
      const process = await start(tiers)
      // Half of the items find room.
      tiers.refusal = ({ customId }) => (Number(customId.slice(5)) % 2 === 0 ? full() : answerless)
      const { id } = await create(process, laneOf('auto'))
      for (let turn = 0; turn < 20; turn++) await look(process, hour)
      expect(tiers.asked.every(({ tier }) => tier !== null)).toBe(true)
      for (let turn = 0; turn < 3; turn++) await look(process, hour)
      const ended = await runToEnd(process, tracked, id, world)
      expect(ended).toMatchObject({ status: 'completed', request_counts: { completed: 20, failed: 0 } })
      const usual = tiers.asked.filter(({ tier }) => tier === null).map(({ customId }) => customId)
      expect(new Set(usual).size).toBe(usual.length)
      expect(ended.headrace_metadata).toEqual({
        lane: 'flex',
        moved: [{ from: 'flex', to: 'emulated', reason: 'deadline', items: usual.length }],
      })
      expect(await capturesOf(process, id)).toBe(20)
      const { data } = await process.batches.list(tracked, new URLSearchParams())
      expect(data[0]?.headrace_metadata).toEqual(ended.headrace_metadata)
    })

    test('an item that the tier fails for good goes to the usual tier under auto, and else ends with that error', async () => {
      const timeout = () => ({ error: failed('provider_timeout').error })
      const tiers = new Tiers()
      const process = await start(tiers)
      tiers.refusal = ({ customId }) => (customId === 'item-1' ? timeout() : answerless)
      const automatic = await create(process, laneOf('auto'))
      const ended = await runToEnd(process, tracked, automatic.id, world)
      expect(ended).toMatchObject({
        request_counts: { completed: 20, failed: 0 },
        headrace_metadata: {
          moved: [{ from: 'flex', to: 'emulated', reason: 'provider_timeout', items: 1 }],
        },
      })
      const tries = tiers.asked.filter(({ customId }) => customId === 'item-1')
      expect(tries.map(({ tier }) => tier !== null)).toEqual([...Array(itemTimeoutsMax).fill(true), false])
      const named = await create(process, laneOf('flex'))
      expect(await runToEnd(process, tracked, named.id, world)).toMatchObject({
        request_counts: { completed: 19, failed: 1 },
        headrace_metadata: { lane: 'flex' },
      })
    })

    test('an item that is itself at fault is not run a second time in another tier', async () => {
      const tiers = new Tiers()
      const process = await start(tiers)
      tiers.refusal = () => ({ error: failed('invalid_request').error })
      const { id } = await create(process, laneOf('auto'))
      const ended = await runToEnd(process, tracked, id, world)
      expect(ended.request_counts).toEqual({ total: 20, completed: 0, failed: 20 })
      expect(tiers.asked).toHaveLength(20)
    })

    test('whose tier is gone before it starts runs in the emulated lane under auto, and else fails', async () => {
      const tiers = new Tiers()
      let isGone = false
      const process = await start(tiers, async (question) => {
        if (!isGone) return withFlex(question)
        if (question.lane === 'flex') throw new GatewayError('invalid_request', 'No flex tier.')
        return resolveBatch(question)
      })
      const [automatic, named] = [
        await create(process, laneOf('auto')),
        await create(process, laneOf('flex')),
      ]
      isGone = true
      expect(await runToEnd(process, tracked, automatic.id)).toMatchObject({
        status: 'completed',
        headrace_metadata: { lane: 'emulated' },
      })
      expect(await runToEnd(process, tracked, named.id)).toMatchObject({
        status: 'failed',
        error: { message: 'No flex tier.' },
      })
      expect(tiers.tiers).toEqual(['null'])
    })

    test('counts of moved items go with the batch', async () => {
      const tiers = new Tiers()
      const process = await start(tiers)
      tiers.refusal = () => ({ error: failed('provider_timeout').error })
      const { id } = await create(process, laneOf('auto'))
      await runToEnd(process, tracked, id, world)
      const count = async () => (await process.database.query('select * from batch_moves')).length
      expect(await count()).toBe(1)
      await process.batches.delete(tracked, id)
      await world.advance(25 * hour)
      await process.batches.rounds.cleanUp()
      expect(await count()).toBe(0)
    })
  })
})

/** Stands for no refusal in a test that refuses some items. */
const answerless = null as unknown as ReturnType<NonNullable<Tiers['refusal']>>
