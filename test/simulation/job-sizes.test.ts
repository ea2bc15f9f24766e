import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Simulator, startSimulator } from '../../simulator/server.ts'
import type { BatchJobs } from '../../src/canonical/batch-jobs.ts'
import { eachDatabase } from '../support/databases.ts'
import { batchOf, create, itemCost, resolveBatch, resultsOf, upload, World } from './batches-world.ts'
import { principalOf } from './billing-fixtures.ts'
import { jobItemsOf, simulatedServices } from './native-jobs.ts'

// How large jobs are: what does not fit into one goes into another, and no item is left out or sent twice.

const principal = principalOf({ organizationId: 'org_a' })
const { openai } = simulatedServices
let simulator: Simulator
let mounts = 0
beforeAll(async () => {
  simulator = await startSimulator({ seed: 11, quiet: true })
})
afterAll(() => simulator.stop())

const admin = (path: string, body: object) =>
  fetch(`${simulator.url}/admin/${path}`, { method: 'POST', body: JSON.stringify(body) })

interface Sized {
  items: number
  /** Texts to embed that each item counts as. */
  texts?: number
  limits?: Partial<BatchJobs['limits']>
  faults?: readonly object[]
}

eachDatabase((_name, open) => {
  /** The items of each job that has run a line, the smallest job first. */
  async function jobsOf({ items, texts = 0, limits = {}, faults = [] }: Sized): Promise<number[]> {
    const world = new World(open)
    const mount = `sizes${mounts++}`
    const jobs: BatchJobs = { ...openai.jobs, limits: { ...openai.jobs.limits, ...limits } }
    await admin('faults', { mount, rules: faults })
    const process = await world.process({
      jobItems: (of) => {
        const made = jobItemsOf(`${simulator.url}/p/${mount}`, of, {
          service: { ...openai, jobs },
          isAlive: () => true,
          isConfigured: () => true,
        })
        return { ...made, encode: async (item, at) => ({ ...(await made.encode(item, at)), texts }) }
      },
      resolveBatch: async (question) => {
        const resolved = await resolveBatch(question)
        const offers = resolved.offers.map((offer) => ({ ...offer, lane: 'native' as const }))
        return { ...resolved, offers, lane: 'native', heldLane: 'native' }
      },
    })
    try {
      await world.grant(process, itemCost * BigInt(items) * 10n)
      const text = batchOf(items, { headrace: { lane: 'native' } })
      const { id } = await create(process, upload(text, { principal }))
      for (let look = 0; (await process.batches.get(principal, id)).object.finalized_at === null; look++) {
        expect(look).toBeLessThan(400)
        await process.batches.rounds.renew()
        await process.batches.rounds.look()
        await process.batches.rounds.renew()
        await process.batches.rounds.settled()
        await world.advance(10_000)
      }
      const results = await resultsOf(process, principal, id)
      expect(results.filter(({ response }) => response !== null)).toHaveLength(items)
      const rows = await process.database.query<{ item_count: number | bigint | null }>(
        `select item_count from native_jobs where ended_as = 'completed'`,
      )
      return rows.map(({ item_count: count }) => Number(count ?? 0)).toSorted((one, other) => one - other)
    } finally {
      await process.batches.stop()
      await world.close()
    }
  }

  describe('the jobs of a batch', () => {
    test('have no more texts to embed than their service takes in one, though few items have them', async () => {
      const found = await jobsOf({ items: 5, texts: 4, limits: { texts: 10 } })
      expect(found).toEqual([1, 2, 2])
    }, 60_000)

    test('have no more items than their service takes in one', async () => {
      expect(await jobsOf({ items: 5, limits: { items: 2 } })).toEqual([1, 2, 2])
    }, 60_000)

    test('are halved when the only one of its batch is too much for the queue of the account', async () => {
      const full = {
        match: { path: openai.createPath, method: 'POST' },
        fault: 'batch_failed=token_limit_exceeded',
        times: 1,
      }
      // Two segments, of a thousand items and of one.
      expect(await jobsOf({ items: 1_001, faults: [full] })).toEqual([1, 1_000])
    }, 120_000)
  })
})
