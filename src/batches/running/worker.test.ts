import { segmentLeaseMs } from './worker.ts'
import { segmentItemsMax } from '../ingest/segment-writer.ts'
import { partGatherMinMs, provenMs, partGatherMs } from './ramp.ts'
import { afterEach, describe, expect, test } from 'bun:test'
import {
  answer,
  batchOf,
  create,
  putBack,
  resultsOf,
  runToEnd,
  upload,
  World,
} from '../../../test/simulation/batches-world.ts'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import type { Database, Row, Unit } from '../../storage/database.ts'
import { StorageFailure, storageUnavailable } from '../../storage/database.ts'
import type { Pause } from './pause.ts'
import { systemPause } from './pause.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })

/** A database whose commits a test can make fail. */
function spoiled(
  database: Database,
  commit: (unit: Unit, next: () => Promise<Row[][]>) => Promise<Row[][]>,
): Database {
  return new Proxy(database, {
    get(target, name) {
      if (name === 'commit') return (unit: Unit) => commit(unit, () => target.commit(unit))
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}

function failure(uncertain: boolean): Error {
  return storageUnavailable(new StorageFailure('spoiled', { uncertain }))
}

async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5_000; turn++) {
    if (await condition()) return
    await systemPause(1)
  }
  throw new Error('what was waited for did not happen')
}

eachDatabase((_name, open) => {
  let world: World
  afterEach(() => world.close())

  describe('a worker', () => {
    test('keeps the merged results of a commit that was durable and got no answer', async () => {
      world = new World(open)
      let merges = 0
      const process = await world.process({
        wrapDatabase: (database) =>
          spoiled(database, async (unit, next) => {
            const rows = await next()
            if (unit.name !== 'segment.merge' || merges++ > 0) return rows
            throw failure(true)
          }),
      })
      const { id } = await create(process, upload(batchOf(3)))
      await runToEnd(process, tracked, id)
      expect(merges).toBe(1)
      expect(await resultsOf(process, tracked, id)).toHaveLength(3)
    })

    test('that could not give a segment back does not keep other workers from it', async () => {
      world = new World(open)
      let returns = 0
      const gate = Promise.withResolvers<void>()
      const process = await world.process({
        itemsAtOnce: 4,
        behave: async (item, own) => {
          if (item.customId === 'item-0' && returns < 2) return putBack('no_healthy_endpoint', 60_000)
          if (Number(item.customId.slice(5)) >= segmentItemsMax) await gate.promise
          return answer(item, own)
        },
        wrapDatabase: (database) =>
          spoiled(database, (unit, next) => {
            if (unit.name === 'segment.return' && returns++ < 2) return Promise.reject(failure(false))
            return next()
          }),
      })
      const { id } = await create(process, upload(batchOf(segmentItemsMax + 1)))
      await process.batches.rounds.look()
      await process.batches.rounds.look()
      await waitFor(() => returns === 2 && process.batches.stats().segmentsRunning === 1)
      for (let renewal = 0; renewal < 3; renewal++) {
        await world.advance(segmentLeaseMs / 2 + 1)
        await process.batches.rounds.renew()
      }
      // On a busy machine the item was tried more than once before its segment was given back.
      const triesOf = (): number => process.started.filter((name) => name === 'item-0').length
      const before = triesOf()
      await process.batches.rounds.look()
      await waitFor(() => triesOf() > before)
      gate.resolve()
      expect((await runToEnd(process, tracked, id)).request_counts.completed).toBe(segmentItemsMax + 1)
    })

    test('lets the results of a segment gather for less right after it took the segment over', async () => {
      world = new World(open)
      const clock = { nowMs: world.clock.nowMs, monotonicMs: () => elapsedMs }
      let elapsedMs = 0
      const waits: number[] = []
      const pause: Pause = (ms, signal) => {
        waits.push(ms)
        return systemPause(1, signal)
      }
      const dead = await world.process({ behave: () => new Promise(() => undefined) })
      const lost = await create(dead, upload(batchOf(2)))
      await dead.batches.rounds.look()
      const heir = await world.process({ clock, pause })
      elapsedMs = provenMs
      await dead.database.close()
      await heir.batches.rounds.renew()
      await runToEnd(heir, tracked, lost.id)
      expect(waits).toContain(partGatherMinMs)
      waits.length = 0
      const { id } = await create(heir, upload(batchOf(2)))
      await runToEnd(heir, tracked, id)
      expect(waits).toContain(partGatherMs)
      expect(waits).not.toContain(partGatherMinMs)
    })

    test('that stops while it leases a segment starts none of its items', async () => {
      world = new World(open)
      let stopping: Promise<void> | null = null
      const process = await world.process({
        crash: (point, when) => {
          if (point === 'segment.lease' && when === 'after') stopping ??= process.batches.stop()
        },
        behave: () => new Promise(() => undefined),
      })
      await create(process, upload(batchOf(3)))
      process.batches.start()
      await waitFor(() => stopping !== null)
      await stopping
      expect(process.batches.stats().segmentsRunning).toBe(0)
      await systemPause(50)
      expect(process.started).toEqual([])
    })
  })

  describe('a batch', () => {
    test('that was accepted without an answer keeps its items when the database cannot be asked', async () => {
      world = new World(open)
      let isBroken = false
      const process = await world.process({
        wrapDatabase: (database) =>
          new Proxy(
            spoiled(database, async (unit, next) => {
              const rows = await next()
              if (unit.name !== 'batch.accept') return rows
              isBroken = true
              throw failure(true)
            }),
            {
              get(target, name) {
                if (name === 'query' && isBroken) return () => Promise.reject(failure(false))
                const member: unknown = Reflect.get(target, name, target)
                return typeof member === 'function' ? (member.bind(target) as unknown) : member
              },
            },
          ),
      })
      await process.batches.create(upload(batchOf(3))).then(
        () => expect.unreachable(),
        (error: unknown) => expect(error).toMatchObject({ type: 'batch_unavailable' }),
      )
      isBroken = false
      const [batch] = await process.database.query<{ batch_id: string }>('select batch_id from batches')
      const ended = await runToEnd(await world.process(), tracked, batch?.batch_id ?? '')
      expect(ended.request_counts).toMatchObject({ completed: 3 })
    })
  })
})
