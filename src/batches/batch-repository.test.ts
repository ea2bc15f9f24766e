import { afterEach, describe, expect, test } from 'bun:test'
import { principalOf } from '../../test/simulation/billing-fixtures.ts'
import { batchOf, create, runToEnd, upload, World } from '../../test/simulation/batches-world.ts'
import { eachDatabase } from '../../test/support/databases.ts'
import { GuardFailed } from '../storage/database.ts'
import type { Database, Statement } from '../storage/database.ts'
import {
  cancelBatch,
  failBatch,
  finalizeBatch,
  markDeleted,
  moveBatch,
  statusGuard,
} from './batch-repository.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })

eachDatabase((_name, open) => {
  let world: World
  afterEach(() => world.close())

  async function guardOf(database: Database, statement: Statement): Promise<string | null> {
    try {
      await database.commit({ name: 'test', statements: [statement] })
      return null
    } catch (thrown) {
      if (thrown instanceof GuardFailed) return thrown.guard
      throw thrown
    }
  }

  describe('a batch that ended', () => {
    test('ends only once, whatever statement comes late', async () => {
      world = new World(open)
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(2)))
      const ended = await runToEnd(process, tracked, id)
      const late = [
        finalizeBatch(id, { from: 'finalizing', to: 'completed', usageJson: '{}', errorJson: null }),
        finalizeBatch(id, { from: 'cancelling', to: 'cancelled', usageJson: '{}', errorJson: null }),
        failBatch(id, '{"message":"late","type":"late"}'),
        cancelBatch(id),
        moveBatch(id, 'in_progress', 'finalizing'),
      ]
      for (const statement of late) expect(await guardOf(process.database, statement)).toBe(statusGuard)
      expect((await process.batches.get(tracked, id)).object).toEqual(ended)
    })
  })

  describe('a batch that runs', () => {
    test('cannot end before its segments, and cannot be deleted', async () => {
      world = new World(open)
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(2)))
      await guardOf(process.database, moveBatch(id, 'validating', 'finalizing'))
      const early = finalizeBatch(id, {
        from: 'finalizing',
        to: 'completed',
        usageJson: '{}',
        errorJson: null,
      })
      expect(await guardOf(process.database, early)).toBe(statusGuard)
      expect(await guardOf(process.database, markDeleted(id))).toBe(statusGuard)
    })
  })
})
