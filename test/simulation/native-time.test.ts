import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Simulator, startSimulator } from '../../simulator/server.ts'
import { eachDatabase } from '../support/databases.ts'
import { batchOf, create, itemCost, resolveBatch, resultsOf, upload, World } from './batches-world.ts'
import { principalOf } from './billing-fixtures.ts'
import { jobItemsOf, simulatedServices } from './native-jobs.ts'

// How much later than its provider a batch ends: looks grow apart with the age of a job, but only by so much.

const principal = principalOf({ organizationId: 'org_a' })
const { openai } = simulatedServices
const items = 3
/** Steps in which the time of a job passes; a process looks whether one is due at each. */
const steps = 300
const minutes = 60_000

/** The part of a job's age that may pass between two looks, and the shortest wait between two. */
const shareOfAge = 0.04
const shortestMs = 5_000
const lateMax = 1.05
const looksOfSimulator = 10

let simulator: Simulator
let mounts = 0
beforeAll(async () => {
  simulator = await startSimulator({ seed: 5, quiet: true })
})
afterAll(() => simulator.stop())

eachDatabase((_name, open) => {
  test.each([
    ['ten minutes', 10 * minutes],
    ['half an hour', 30 * minutes],
    ['two hours', 120 * minutes],
  ])('a job that takes %s ends its batch at most a twentieth later', async (_text, providerMs) => {
    const stepMs = providerMs / steps
    const world = new World(open)
    const looks: number[] = []
    let sentAtMs: number | null = null
    const mount = `time${mounts++}`
    const process = await world.process({
      jobItems: (of) => {
        const made = jobItemsOf(`${simulator.url}/p/${mount}`, of, {
          service: openai,
          isAlive: () => true,
          isConfigured: () => true,
        })
        const place = made.placeOf('sim')
        if (place === null) throw new Error('the world has a place for jobs')
        // The provider is at work until its time is over; only then the simulator is asked how the job ended.
        const send: typeof place.send = async (request, options) => {
          const nowMs = world.clock.nowMs()
          if (request.method === 'GET' && /^\/batches\/[^/]+$/.test(request.path)) {
            looks.push(nowMs)
            if (sentAtMs !== null && nowMs < sentAtMs + providerMs) return atWork({ id: 'batch_1' })
            return untilEnded(() => place.send(request, options))
          }
          const sent = await place.send(request, options)
          if (request.method !== 'POST' || request.path !== '/batches') return sent
          sentAtMs = nowMs
          return atWork(JSON.parse(new TextDecoder().decode(await sent.readAll(65_536))) as object)
        }
        return { ...made, placeOf: () => ({ ...place, send }) }
      },
      resolveBatch: async (question) => {
        const resolved = await resolveBatch(question)
        const offers = resolved.offers.map((offer) => ({ ...offer, lane: 'native' as const }))
        return { ...resolved, offers, lane: 'native', heldLane: 'native' }
      },
    })
    try {
      await world.grant(process, itemCost * 1_000n)
      const startedMs = world.clock.nowMs()
      const { id } = await create(
        process,
        upload(batchOf(items, { headrace: { lane: 'native' } }), { principal }),
      )
      let finalizedAtMs: number | null = null
      while (finalizedAtMs === null) {
        expect(world.clock.nowMs() - startedMs).toBeLessThan(2 * providerMs)
        await process.batches.rounds.look()
        await process.batches.rounds.settled()
        const { object } = await process.batches.get(principal, id)
        if (object.finalized_at !== null) finalizedAtMs = world.clock.nowMs()
        else await world.advance(stepMs)
      }
      expect(await resultsOf(process, principal, id)).toHaveLength(items)
      expect(sentAtMs).not.toBeNull()
      expect((finalizedAtMs - startedMs) / providerMs).toBeLessThanOrEqual(lateMax)
      expect(looks.length).toBeGreaterThan(10)
      for (const [index, atMs] of looks.entries()) {
        const before = looks[index - 1] ?? sentAtMs ?? atMs
        const ageMs = before - (sentAtMs ?? 0)
        expect(atMs - before).toBeLessThanOrEqual(Math.max(shortestMs, ageMs * shareOfAge) + 2 * stepMs)
      }
    } finally {
      await world.close()
    }
  })
})

type Send = NonNullable<ReturnType<ReturnType<typeof jobItemsOf>['placeOf']>>['send']

/** The simulator counts looks, not time: it is asked until the job has ended there. */
async function untilEnded(look: () => ReturnType<Send>): ReturnType<Send> {
  for (let asked = 0; asked < looksOfSimulator; asked += 1) {
    const sent = await look()
    const text = new TextDecoder().decode(await sent.readAll(65_536))
    if ((JSON.parse(text) as { status: string }).status === 'completed') return sent
  }
  throw new Error('the job does not end at the simulator')
}

/** OpenAI's batch object while it runs. */
async function atWork(batch: object): ReturnType<Send> {
  const running = {
    ...batch,
    object: 'batch',
    status: 'in_progress',
    output_file_id: null,
    error_file_id: null,
  }
  const whole = new TextEncoder().encode(JSON.stringify(running))
  let isRead = false
  return {
    status: 200,
    headers: new Headers({ 'content-type': 'application/json' }),
    body: {
      read: async () => {
        if (isRead) return { done: true, value: undefined }
        isRead = true
        return { done: false, value: whole }
      },
      cancel: () => {},
    },
    readAll: async () => whole,
  }
}
