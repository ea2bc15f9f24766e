import { afterEach, describe, expect, test } from 'bun:test'
import { eachDatabase } from '../../../test/support/databases.ts'
import { batchOf, create, runToEnd, upload, World } from '../../../test/simulation/batches-world.ts'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { toGatewayError } from '../../core/errors.ts'

const tracked = principalOf({ organizationId: 'org_t', accountMode: 'tracked' })
const limits = { items: null, queuedItems: 10 }

const errorOf = (work: Promise<unknown>) => work.then(() => null, toGatewayError)

eachDatabase((_name, open) => {
  const worlds: World[] = []
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close()
  })
  function newWorld(): World {
    const world = new World(open)
    worlds.push(world)
    return world
  }

  describe('the queue of an organization', () => {
    test('that is full refuses a batch, keeps nothing of it, and has room when others have ended', async () => {
      const world = newWorld()
      const process = await world.process({ limits })
      const first = await create(process, upload(batchOf(7), { principal: tracked }))
      const full = await errorOf(process.batches.create(upload(batchOf(4), { principal: tracked })))
      expect(full).toMatchObject({
        type: 'rate_limit_exceeded',
        status: 429,
        retryAfterSeconds: 60,
        metadata: { limit_source: 'organization_queued_items' },
        message:
          'The batches of your organization would have more than 10 requests still to run. Send this one when others have ended.',
      })
      const dry = upload(batchOf(4), { principal: tracked, isDryRun: true })
      expect((await errorOf(process.batches.create(dry)))?.message).toBe(full?.message)
      expect(await process.database.query('select batch_id from batches')).toHaveLength(1)
      await create(process, upload(batchOf(3), { principal: tracked }))
      await runToEnd(process, tracked, first.id)
      await create(process, upload(batchOf(7), { principal: tracked }))
    })

    test('is that of its organization alone', async () => {
      const world = newWorld()
      const process = await world.process({ limits })
      await create(process, upload(batchOf(10), { principal: tracked }))
      const other = principalOf({ organizationId: 'org_a', accountMode: 'tracked' })
      await create(process, upload(batchOf(10), { principal: other }))
    })

    test('is not overfilled by batches that come to several processes at once', async () => {
      const world = newWorld()
      const first = await world.process({ limits })
      const processes = [first, await world.process({ limits }), await world.process({ limits })]
      const creating = [...processes, ...processes].map((process) =>
        errorOf(process.batches.create(upload(batchOf(4), { principal: tracked }))),
      )
      const refused = (await Promise.all(creating)).filter((error) => error !== null)
      expect(refused.map(({ type }) => type)).toEqual(Array.from({ length: 4 }, () => 'rate_limit_exceeded'))
      expect(await first.database.query('select total_items from batches')).toHaveLength(2)
    })
  })
})
