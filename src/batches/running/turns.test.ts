import { afterEach, describe, expect, test } from 'bun:test'
import {
  answer,
  batchOf,
  create,
  failed,
  type Process,
  upload,
  World,
} from '../../../test/simulation/batches-world.ts'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { Principal } from '../../canonical/principal.ts'
import { segmentItemsMax } from '../ingest/segment-writer.ts'
import { circuitItems } from '../lanes/lane-room.ts'
import { segmentsAtOnce } from './segment-turns.ts'
import { systemPause } from './pause.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })
const minute = 60_000
const hour = 60 * minute

async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5_000; turn++) {
    if (await condition()) return
    await systemPause(1)
  }
  throw new Error('what was waited for did not happen')
}

async function statusOf(process: Process, principal: Principal, id: string) {
  return (await process.batches.get(principal, id)).object
}

eachDatabase((_name, open) => {
  let world: World
  afterEach(() => world.close())

  describe('organizations', () => {
    test('that come to a process whose places one of them has all get one each, and nothing is run twice', async () => {
      world = new World(open)
      const gate = Promise.withResolvers<void>()
      let tick = Promise.withResolvers<void>()
      const process = await world.process({
        itemsAtOnce: 4 * segmentsAtOnce,
        behave: async (item, own) => {
          await (item.customId.startsWith('large-')
            ? Promise.race([tick.promise, gate.promise])
            : gate.promise)
          return answer(item, own)
        },
      })
      const others = ['org_a', 'org_b'].map((organizationId) =>
        principalOf({ accountMode: 'tracked', organizationId }),
      )
      const text = batchOf(segmentsAtOnce * segmentItemsMax).replaceAll('item-', 'large-')
      const { id } = await create(process, upload(text))
      await waitFor(async () => {
        await process.batches.rounds.look()
        return process.batches.stats().segmentsRunning === segmentsAtOnce - 1
      })
      for (const principal of others)
        await create(
          process,
          upload(batchOf(2).replaceAll('item-', `${principal.organizationId}-`), { principal }),
        )
      await waitFor(async () => {
        await process.batches.rounds.look()
        tick.resolve()
        tick = Promise.withResolvers()
        // The large batch gives a place back a moment before the look that fills it again.
        return (
          others.every(({ organizationId }) => process.started.includes(`${organizationId}-0`)) &&
          process.batches.stats().segmentsRunning === segmentsAtOnce
        )
      })
      // Long before a segment of the large batch ends by itself.
      expect(process.started.length).toBeLessThan(segmentItemsMax)
      gate.resolve()
      await waitFor(async () => {
        await world.advance(1_000)
        await process.batches.rounds.look()
        return (await statusOf(process, tracked, id)).status === 'completed'
      })
      expect(process.started.length).toBe(segmentsAtOnce * segmentItemsMax + 4)
      expect(new Set(process.started).size).toBe(process.started.length)
    }, 60_000)
  })

  describe('a provider that is down', () => {
    const items = 60

    test('for six hours costs no item of a batch its answer, and is asked a few times only', async () => {
      world = new World(open)
      const untilMs = world.clock.nowMs() + 6 * hour
      let asked = 0
      const process = await world.process({
        behave: (item, own) => {
          if (world.clock.nowMs() >= untilMs) return answer(item, own)
          asked += 1
          return failed('provider_failed')
        },
      })
      const { id } = await create(process, upload(batchOf(items)))
      let waiting: unknown = null
      for (let look = 0; look < 12 * 60; look += 1) {
        const object = await statusOf(process, tracked, id)
        if (object.status === 'completed') break
        if (world.clock.nowMs() < untilMs - hour) waiting = object.headrace_metadata?.waiting ?? waiting
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
        await world.advance(minute)
      }
      expect(await statusOf(process, tracked, id)).toMatchObject({
        status: 'completed',
        request_counts: { total: items, completed: items, failed: 0 },
      })
      expect(waiting).toMatchObject({ type: 'provider_failed' })
      // Every item once or twice before the circuit opens, then one item every five minutes.
      expect(asked).toBeLessThan(3 * items + 80)
      expect(asked).toBeGreaterThan(circuitItems)
    }, 60_000)

    test('but answers each item with a failure of its own is waited for two hours; then each item is asked once more', async () => {
      world = new World(open)
      const fault = { ...failed('provider_failed'), isAnsweredFailure: true as const }
      const asked = new Map<string, number>()
      const process = await world.process({
        behave: ({ customId }) => {
          asked.set(customId, (asked.get(customId) ?? 0) + 1)
          return fault
        },
      })
      const startMs = world.clock.monotonicMs()
      const { id } = await create(process, upload(batchOf(items)))
      let waiting: unknown = null
      let object = await statusOf(process, tracked, id)
      for (let look = 0; look < 12 * 60 && object.status !== 'completed'; look += 1) {
        waiting = object.headrace_metadata?.waiting ?? waiting
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
        await world.advance(minute)
        object = await statusOf(process, tracked, id)
      }
      expect(object).toMatchObject({
        status: 'completed',
        request_counts: { total: items, completed: 0, failed: items },
        usage: { cost: 0 },
      })
      expect(waiting).toMatchObject({ type: 'provider_failed' })
      // By the clock of rests, which goes on while this test works.
      expect(world.clock.monotonicMs() - startMs).toBeGreaterThanOrEqual(2 * hour)
      // Every item had its try, and most of them few.
      expect(asked.size).toBe(items)
      expect([...asked.values()].reduce((sum, count) => sum + count, 0)).toBeLessThan(4 * items + 40)
    }, 60_000)

    test('does not keep a batch that is cancelled at once', async () => {
      world = new World(open)
      const process = await world.process({ behave: () => failed('provider_failed') })
      const { id } = await create(process, upload(batchOf(items)))
      for (let look = 0; look < 30; look += 1) {
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
        // The last look has found it down again, so that its batches rest now.
        if (look < 29) await world.advance(5 * minute)
      }
      await process.batches.cancel(tracked, id)
      for (let look = 0; look < 3; look += 1) {
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
      }
      expect((await statusOf(process, tracked, id)).status).toBe('cancelled')
    }, 60_000)

    test('until the deadline leaves each item an error and nothing to pay', async () => {
      world = new World(open)
      const process = await world.process({ behave: () => failed('provider_overloaded') })
      const { id } = await create(process, upload(batchOf(items)))
      for (let look = 0; look < 26; look += 1) {
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
        await world.advance(hour)
      }
      expect(await statusOf(process, tracked, id)).toMatchObject({
        status: 'expired',
        request_counts: { total: items, completed: 0, failed: items },
        usage: { cost: 0 },
      })
    }, 60_000)
  })
})
