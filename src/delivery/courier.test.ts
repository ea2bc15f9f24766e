import { afterEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createBatchRepository } from '../batches/batch-repository.ts'
import { createMoveRepository } from '../batches/lanes/move-repository.ts'
import { createEndMessages } from '../batches/callbacks/end-message.ts'
import { principalOf } from '../../test/simulation/billing-fixtures.ts'
import { batchOf, create, runToEnd, upload, World } from '../../test/simulation/batches-world.ts'
import { eachDatabase } from '../../test/support/databases.ts'
import { until } from '../../test/support/gateway.ts'
import type { Posted } from '../transport/callback-sender.ts'
import { Courier } from './courier.ts'
import { createDeliveryRepository } from './delivery-repository.ts'
import { createSeal } from './master-key.ts'
import { createSigningSecretRepository } from './signing-secret-repository.ts'
import { createSigningSecrets } from './signing-secrets.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })
const url = 'https://hooks.example.com/batches'
const secondMs = 1_000
const dayMs = 86_400_000

/** What a receiver was sent. */
interface Sent {
  url: string
  body: string
  headers: Readonly<Record<string, string>>
}

eachDatabase((_name, open) => {
  const worlds: World[] = []
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close()
  })

  async function newWorld() {
    const world = new World(open)
    worlds.push(world)
    const process = await world.process()
    const accept = (change: Record<string, unknown> = { callback_url: url }) =>
      create(process, upload(batchOf(2, change)))
    return { world, process, accept }
  }

  /** A process that tells events to a receiver; `answer` is what the receiver does. */
  async function newCourier(world: World, answer: () => Posted | Promise<Posted>) {
    const database = await world.openDatabase()
    const sent: Sent[] = []
    const warnings: string[] = []
    const repository = createDeliveryRepository(database)
    const seal = createSeal({ given: 'the master key of the operator', dataFolder: null })
    const secrets = createSigningSecrets(createSigningSecretRepository(database), seal)
    const courier = new Courier({
      repository,
      secrets,
      sender: {
        async post(address, body, headers) {
          sent.push({ url: address, body, headers })
          return answer()
        },
      },
      clock: world.clock,
      messageOf: createEndMessages({
        batches: createBatchRepository(database),
        moves: createMoveRepository(database),
      }),
      warn: (message) => void warnings.push(message),
    })
    const look = async () => {
      await courier.look()
      await courier.settled()
    }
    return { courier, repository, secrets, sent, warnings, look }
  }

  const taken: Posted = { status: 200, problem: null }
  const broken: Posted = { status: 500, problem: 'the receiver answered 500' }

  describe('the end of a batch', () => {
    test('is told once to the address of its caller, signed, with the batch and without results', async () => {
      const { world, process, accept } = await newWorld()
      const { id } = await accept()
      const { look, sent, secrets, repository } = await newCourier(world, () => taken)
      await look()
      expect(sent).toEqual([])
      await runToEnd(process, tracked, id, world)
      await look()
      await look()
      expect(sent).toHaveLength(1)
      const [{ body, headers } = { body: '', headers: {} as Sent['headers'] }] = sent
      expect(sent[0]?.url).toBe(url)
      expect(headers['x-openrouter-idempotency-key']).toBe(`${id}-completed`)
      const [, seconds = '', hex] =
        /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-openrouter-signature'] ?? '') ?? []
      const secret = await secrets.use('org_t')
      expect(secret).toMatch(/^whsec_[0-9a-z]{48}$/)
      expect(hex).toBe(createHmac('sha256', secret).update(`${seconds},${body}`).digest('hex'))
      expect(Math.abs(Number(seconds) * 1000 - world.clock.nowMs())).toBeLessThan(2_000)
      const event = JSON.parse(body) as { type: string; created_at: string; data: Record<string, unknown> }
      expect(event.type).toBe('batch.completed')
      expect(event.created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      expect(event.data).toMatchObject({
        id,
        object: 'batch',
        status: 'completed',
        results: null,
        request_counts: { total: 2, completed: 2, failed: 0 },
      })
      expect(await repository.listOf(id)).toMatchObject([{ state: 'delivered', tries: 1 }])
    })

    test('is told of a cancelled batch, and of none without an address', async () => {
      const { world, process, accept } = await newWorld()
      const { look, sent } = await newCourier(world, () => taken)
      const { id } = await accept()
      await process.batches.cancel(tracked, id)
      await runToEnd(process, tracked, id, world)
      const silent = await accept({})
      await runToEnd(process, tracked, silent.id, world)
      await look()
      expect(sent.map(({ headers }) => headers['x-openrouter-idempotency-key'])).toEqual([`${id}-cancelled`])
    })

    test('is told again with growing waits and the same bytes until the receiver takes it', async () => {
      const { world, process, accept } = await newWorld()
      const { id } = await accept()
      await runToEnd(process, tracked, id, world)
      let answer = broken
      const { look, sent, repository } = await newCourier(world, () => answer)
      await look()
      await look()
      expect(sent).toHaveLength(1)
      await world.advance(5 * secondMs)
      await look()
      await world.advance(5 * secondMs)
      await look()
      expect(sent).toHaveLength(2)
      answer = taken
      await world.advance(30 * secondMs)
      await look()
      expect(sent).toHaveLength(3)
      expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
      expect(await repository.listOf(id)).toMatchObject([{ state: 'delivered', tries: 3 }])
      expect((await repository.listTries(`${id}-completed`)).map(({ status }) => status)).toEqual([
        500, 500, 200,
      ])
    })

    test('is given up after a day, and told again when it is asked for', async () => {
      const { world, process, accept } = await newWorld()
      const { id } = await accept()
      await runToEnd(process, tracked, id, world)
      let answer = broken
      const { look, sent, repository, warnings } = await newCourier(world, () => answer)
      const endedMs = world.clock.nowMs()
      for (let looks = 0; looks < 40; looks += 1) {
        await look()
        await world.advance(dayMs / 24)
      }
      expect(await repository.listOf(id)).toMatchObject([{ state: 'failed' }])
      expect(warnings).toEqual(['an event was given up'])
      expect(world.clock.nowMs() - endedMs).toBeGreaterThan(dayMs)
      const before = sent.length
      expect(before).toBeGreaterThan(6)
      answer = taken
      expect(await process.batches.redeliver(tracked, id)).toMatchObject({
        data: [{ id: `${id}-completed`, event: 'batch.completed', state: 'waiting' }],
      })
      await look()
      expect(sent).toHaveLength(before + 1)
      expect(await process.batches.deliveries(tracked, id)).toMatchObject({
        data: [{ state: 'delivered', next_try_at: null }],
      })
    })

    test('is told by another process when the one that was telling it died', async () => {
      const { world, process, accept } = await newWorld()
      const { id } = await accept()
      await runToEnd(process, tracked, id, world)
      const dying = await newCourier(world, () => new Promise<Posted>(() => undefined))
      await dying.courier.look()
      const other = await newCourier(world, () => taken)
      await other.look()
      expect(other.sent).toEqual([])
      await world.advance(61 * secondMs)
      await other.look()
      expect(other.sent.map(({ body }) => body)).toEqual(dying.sent.map(({ body }) => body))
      expect(await other.repository.listOf(id)).toMatchObject([{ state: 'delivered' }])
    })

    for (const when of ['before', 'after'] as const)
      test(`is told when the process dies right ${when} the unit that ends the batch`, async () => {
        const { world } = await newWorld()
        let isAlive = true
        const dying = await world.process({
          crash: (point, moment) => {
            if (!isAlive || (point === 'batch.finalize' && moment === when)) {
              isAlive = false
              throw new Error('killed')
            }
          },
        })
        const { id } = await create(dying, upload(batchOf(2, { callback_url: url })))
        for (let looks = 0; looks < 50; looks += 1) {
          if (!isAlive) break
          await dying.batches.rounds.look().catch(() => undefined)
          await dying.batches.rounds.settled()
          await world.advance(10 * secondMs)
        }
        expect(isAlive).toBe(false)
        const next = await world.process()
        await runToEnd(next, tracked, id, world)
        const { look, sent, repository } = await newCourier(world, () => taken)
        await look()
        expect(sent.map(({ headers }) => headers['x-openrouter-idempotency-key'])).toEqual([
          `${id}-completed`,
        ])
        expect(await repository.listOf(id)).toHaveLength(1)
      })

    test('waits for no receiver of another organization', async () => {
      const { world, process, accept } = await newWorld()
      for (let count = 0; count < 6; count += 1) {
        const { id } = await accept()
        await runToEnd(process, tracked, id, world)
      }
      const { courier, sent } = await newCourier(world, () => new Promise<Posted>(() => undefined))
      await courier.look()
      await courier.look()
      // The places of one organization; the others stay free.
      await until(
        async () => sent.length,
        (count) => count === 4,
      )
      await courier.look()
      expect(sent).toHaveLength(4)
    })

    test('is signed with the new secret after a rotation', async () => {
      const { world, process, accept } = await newWorld()
      const { id } = await accept()
      await runToEnd(process, tracked, id, world)
      const { look, sent, secrets } = await newCourier(world, () => taken)
      const former = await secrets.use('org_t')
      const secret = await secrets.rotate('org_t')
      expect(secret).not.toBe(former)
      expect(await secrets.use('org_t')).toBe(secret)
      await look()
      const { body, headers }: Pick<Sent, 'body' | 'headers'> = sent[0] ?? { body: '', headers: {} }
      const seconds = /^t=(\d+)/.exec(headers['x-openrouter-signature'] ?? '')?.[1] ?? ''
      const hex = createHmac('sha256', secret).update(`${seconds},${body}`).digest('hex')
      expect(headers['x-openrouter-signature']).toBe(`t=${seconds},v1=${hex}`)
    })

    test('leaves nothing behind when the batch is purged', async () => {
      const { world, process, accept } = await newWorld()
      const { id } = await accept()
      await runToEnd(process, tracked, id, world)
      const { look, repository } = await newCourier(world, () => taken)
      await look()
      await process.batches.delete(tracked, id)
      await world.advance(2 * dayMs)
      await process.batches.rounds.cleanUp()
      expect(await repository.listOf(id)).toEqual([])
      expect(await repository.listTries(`${id}-completed`)).toEqual([])
    })
  })
})
