import { afterEach, describe, expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { Process } from '../../../test/simulation/batches-world.ts'
import {
  batchOf,
  create,
  resolveBatch,
  runToEnd,
  upload,
  World,
} from '../../../test/simulation/batches-world.ts'
import { principalOf } from '../../../test/simulation/billing-fixtures.ts'
import { eachDatabase } from '../../../test/support/databases.ts'
import { GatewayError } from '../../core/errors.ts'
import { idempotencyMs } from './idempotency.ts'
import type { BatchCommitPoint } from '../batch-commit-points.ts'
import type { Created, CreateBatch } from './create.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })

eachDatabase((_name, open) => {
  const worlds: World[] = []
  function newWorld(): World {
    const world = new World(open)
    worlds.push(world)
    return world
  }
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close()
  })

  describe('a batch sent again under its key', () => {
    test('gives the batch that was made, in its present state', async () => {
      const world = newWorld()
      const process = await world.process()
      const first = await create(process, keyed(batchOf(2)))
      await runToEnd(process, tracked, first.id)
      const again = await process.batches.create(keyed(batchOf(2)))
      expect(again).toMatchObject({
        kind: 'batch',
        isReplayed: true,
        object: { id: first.id, status: 'completed' },
      })
      expect(process.started).toHaveLength(2)
    })

    test('after it was deleted is answered with that, and makes nothing', async () => {
      const world = newWorld()
      const process = await world.process()
      const first = await create(process, keyed(batchOf(2)))
      await runToEnd(process, tracked, first.id)
      await process.batches.delete(tracked, first.id)
      const error = await errorOf(process.batches.create(keyed(batchOf(2))))
      expect(error).toMatchObject({ type: 'not_found', status: 404, param: 'Idempotency-Key' })
      expect(error.message).toContain('deleted')
      expect(process.started).toHaveLength(2)
    })

    test('is recognised by its decompressed body', async () => {
      const world = newWorld()
      const process = await world.process()
      const first = await create(process, keyed(batchOf(2)))
      const packed = keyed(gzipSync(batchOf(2)), { contentEncoding: 'gzip' })
      expect((await create(process, packed)).id).toBe(first.id)
    })

    test('with another body is refused, and makes nothing', async () => {
      const world = newWorld()
      const process = await world.process()
      await create(process, keyed(batchOf(2)))
      const error = await errorOf(process.batches.create(keyed(batchOf(3))))
      expect(error).toMatchObject({ type: 'unprocessable', status: 422, param: 'Idempotency-Key' })
      expect((await process.batches.list(tracked, new URLSearchParams())).data).toHaveLength(1)
    })

    test('is not found once the batch was deleted', async () => {
      const world = newWorld()
      const process = await world.process()
      const { id } = await create(process, keyed(batchOf(1)))
      await runToEnd(process, tracked, id)
      await process.batches.delete(tracked, id)
      expect(await errorOf(process.batches.create(keyed(batchOf(1))))).toMatchObject({ type: 'not_found' })
    })

    test('is another batch in another organization, under another key, and after thirty days', async () => {
      const world = newWorld()
      const process = await world.process()
      const ids = [
        await create(process, keyed(batchOf(1))),
        await create(process, keyed(batchOf(1), { idempotencyKey: 'other' })),
        await create(
          process,
          keyed(batchOf(1), { principal: principalOf({ accountMode: 'tracked', organizationId: 'org_b' }) }),
        ),
      ]
      await world.advance(idempotencyMs)
      ids.push(await create(process, keyed(batchOf(2))))
      expect(new Set(ids.map(({ id }) => id)).size).toBe(4)
    })
  })

  describe('a key', () => {
    test('whose first request still runs is answered with 409, on every process', async () => {
      const world = newWorld()
      const one = await world.process()
      const other = await world.process()
      const body = Promise.withResolvers<void>()
      const first = create(one, slow(batchOf(1), body.promise))
      await claimed(one)
      for (const process of [one, other]) {
        const error = await errorOf(process.batches.create(keyed(batchOf(1))))
        expect(error).toMatchObject({ type: 'conflict', status: 409 })
        expect(error.retryAfterSeconds).toBeGreaterThan(0)
      }
      body.resolve()
      const { id } = await first
      expect((await create(other, keyed(batchOf(1)))).id).toBe(id)
    })

    test('sent by many at once makes one batch', async () => {
      const world = newWorld()
      const processes = [await world.process(), await world.process()]
      const attempts = Array.from({ length: 20 }, (_, index) =>
        (processes[index % 2] as Process).batches
          .create(keyed(batchOf(1)))
          .catch((thrown: unknown) => thrown as GatewayError),
      )
      const outcomes = await Promise.all(attempts)
      const made = outcomes.filter(
        (outcome): outcome is Created & { kind: 'batch' } => !(outcome instanceof GatewayError),
      )
      expect(new Set(made.map(({ object }) => object.id)).size).toBe(1)
      expect(made.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1)
      for (const outcome of outcomes)
        if (outcome instanceof GatewayError) expect(outcome.type).toBe('conflict')
    })

    test('of a refused request is free again', async () => {
      const world = newWorld()
      const process = await world.process()
      expect(await errorOf(process.batches.create(keyed('{}')))).toMatchObject({ status: 400 })
      expect(await create(process, keyed(batchOf(1)))).toMatchObject({ status: 'validating' })
    })

    test('whose owner died is taken over', async () => {
      const world = newWorld()
      const dead = await world.process()
      const never = Promise.withResolvers<void>()
      const lost = create(dead, slow(batchOf(1), never.promise)).catch(() => undefined)
      await claimed(dead)
      const next = await world.process()
      await dead.database.close()
      expect(await create(next, keyed(batchOf(1)))).toMatchObject({ status: 'validating' })
      never.resolve()
      await lost
    })

    test('whose release failed is released later, and its owner does not wait for that', async () => {
      const world = newWorld()
      let isBroken = true
      const process = await world.process({
        crash: (point: BatchCommitPoint, when) => {
          if (isBroken && point === 'idempotency.release' && when === 'before')
            throw new Error('storage is out of order')
        },
      })
      expect(await errorOf(process.batches.create(keyed('{}')))).toMatchObject({ status: 400 })
      expect(await claims(process)).toBe(1)
      isBroken = false
      await process.batches.rounds.cleanUp()
      expect(await claims(process)).toBe(0)
      expect(await create(process, keyed(batchOf(1)))).toMatchObject({ status: 'validating' })
    })

    test('that this same process left claimed can be taken over by it', async () => {
      const world = newWorld()
      const process = await world.process({
        crash: (point: BatchCommitPoint, when) => {
          if (point === 'idempotency.release' && when === 'before') throw new Error('storage is out of order')
        },
      })
      expect(await errorOf(process.batches.create(keyed('{}')))).toMatchObject({ status: 400 })
      expect(await create(process, keyed(batchOf(1)))).toMatchObject({ status: 'validating' })
    })

    test('must have a sensible length', async () => {
      const process = await newWorld().process()
      for (const idempotencyKey of ['', 'x'.repeat(257)]) {
        const error = await errorOf(process.batches.create(keyed(batchOf(1), { idempotencyKey })))
        expect(error).toMatchObject({ type: 'invalid_request', param: 'Idempotency-Key' })
      }
    })

    test('is judged by a dry run as by the real request, and the dry run does not disturb that request', async () => {
      const process = await newWorld().process()
      const dryRun = { isDryRun: true }
      const tooLong = keyed(batchOf(1), { ...dryRun, idempotencyKey: 'x'.repeat(257) })
      expect(await errorOf(process.batches.create(tooLong))).toMatchObject({ param: 'Idempotency-Key' })
      const body = Promise.withResolvers<void>()
      const first = create(process, slow(batchOf(2), body.promise))
      await claimed(process)
      expect(await errorOf(process.batches.create(keyed(batchOf(2), dryRun)))).toMatchObject({ status: 409 })
      body.resolve()
      await first
      expect(await errorOf(process.batches.create(keyed(batchOf(3), dryRun)))).toMatchObject({ status: 422 })
      expect(await process.batches.create(keyed(batchOf(2), dryRun))).toMatchObject({
        object: { object: 'batch.estimate', total: 2, estimate: 2e-6, worst_case: 4e-6, available: null },
      })
    })

    test('is not claimed by a dry run', async () => {
      const process = await newWorld().process({ resolveBatch })
      for (let round = 0; round < 2; round++) {
        const created = await process.batches.create(keyed(batchOf(3), { isDryRun: true }))
        expect(created.kind === 'estimate' && created.object).toEqual({
          object: 'batch.estimate',
          endpoint: '/v1/chat/completions',
          model: 'maker/model',
          lane: 'emulated',
          provider: 'maker',
          total: 3,
          estimate: 3e-6,
          worst_case: 6e-6,
          lanes: [{ lane: 'emulated', estimate: 3e-6, worst_case: 6e-6 }],
          available: null,
        })
      }
      expect(await claims(process)).toBe(0)
    })
  })
})

function keyed(body: string | Uint8Array, change: Partial<CreateBatch> = {}): CreateBatch {
  return upload(body, { idempotencyKey: 'key-1', ...change })
}

/** An upload that goes on when the promise resolves. */
function slow(text: string, goesOn: Promise<void>): CreateBatch {
  let isSent = false
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (isSent) return controller.close()
      await goesOn
      isSent = true
      controller.enqueue(Buffer.from(text))
    },
  })
  return keyed('', { body })
}

async function claims(process: Process): Promise<number> {
  return (await process.database.query(`select claim_id from idempotency_keys`)).length
}

/** Turns of the event loop pass faster than a disk writes, so the wait is bounded by time. */
async function claimed(process: Process): Promise<void> {
  const endMs = performance.now() + 5_000
  while (performance.now() < endMs) {
    if ((await claims(process)) > 0) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error('nothing was claimed')
}

async function errorOf(promise: Promise<unknown>): Promise<GatewayError> {
  try {
    await promise
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}
