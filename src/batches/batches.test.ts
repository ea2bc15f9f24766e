import { segmentsAtOnce } from './running/segment-turns.ts'
import { segmentLeaseMs } from './running/worker.ts'
import { segmentItemsMax } from './ingest/segment-writer.ts'
import { itemFailuresMax, itemRefusalsMax, itemTimeoutsMax } from './running/item-retries.ts'
import { afterEach, describe, expect, test } from 'bun:test'
import { principalOf } from '../../test/simulation/billing-fixtures.ts'
import {
  answer,
  answerOrWait,
  batchOf,
  create,
  failed,
  itemCost,
  linesOf,
  missingOf,
  model,
  putBack,
  resolveBatch,
  resultsOf,
  runToEnd,
  upload,
  World,
} from '../../test/simulation/batches-world.ts'
import type { Process } from '../../test/simulation/batches-world.ts'
import { eachDatabase } from '../../test/support/databases.ts'
import { createBilling, type Hold } from '../billing/billing.ts'
import { creditsBudget } from '../billing/budgets/budget-ids.ts'
import { createLedger } from '../billing/ledger/ledger-repository.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { principalFreshMs } from '../core/limits/access.ts'
import { retentionPageMax } from './results/retention.ts'
import { parseCredits, toCredits } from '../core/money.ts'
import { createFiles } from '../files/file-store.ts'
import { FolderBlobStore } from '../storage/blobs/folder-blob-store.ts'
import type { ItemOutcome, ItemRequest } from './item-contract.ts'
import { systemPause } from './running/pause.ts'

const tracked = principalOf({ accountMode: 'tracked', organizationId: 'org_t' })
const prepaid = principalOf({ organizationId: 'org_a' })

const dayMs = 86_400_000

eachDatabase((_name, open) => {
  const worlds: World[] = []
  async function newWorld(): Promise<World> {
    const world = new World(open)
    worlds.push(world)
    return world
  }
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close()
  })

  describe('a batch', () => {
    test('runs every item once and answers in input order', async () => {
      const world = await newWorld()
      const process = await world.process()
      const accepted = await create(process, upload(batchOf(25)))
      expect(accepted).toMatchObject({
        object: 'batch',
        status: 'validating',
        model,
        results: null,
        usage: null,
      })
      expect(accepted.request_counts).toEqual({ total: 25, completed: 0, failed: 0 })

      const ended = await runToEnd(process, tracked, accepted.id)
      expect(ended).toMatchObject({ status: 'completed', error: null, provider: 'maker' })
      expect(ended.request_counts).toEqual({ total: 25, completed: 25, failed: 0 })
      expect(ended.usage).toMatchObject({ prompt_tokens: 250, completion_tokens: 125, total_tokens: 375 })
      expect(parseCredits(ended.usage?.['cost'] as number)).toBe(itemCost * 25n)

      const results = await resultsOf(process, tracked, accepted.id)
      expect(results.map((result) => result.custom_id)).toEqual(names(25))
      expect(results.map((result) => result.response?.body.echo)).toEqual(names(25))
      expect(new Set(results.map((result) => result.id)).size).toBe(25)
      expect(results.every((result) => result.error === null && result.id.startsWith('batch_req_'))).toBe(
        true,
      )
      expect(process.started.toSorted()).toEqual(names(25).toSorted())
    })

    test('gives its unspent credits back, once', async () => {
      const world = await newWorld()
      const process = await world.process()
      await world.grant(process, 100_000n)
      const { id } = await create(process, upload(batchOf(10), { principal: prepaid }))
      expect(await available(process)).toBe(100_000n - itemCost * 10n)
      expect(await runToEnd(process, prepaid, id, world)).toMatchObject({
        request_counts: { completed: 10, failed: 0 },
      })
      expect(await available(process)).toBe(100_000n - itemCost * 10n)
      expect(await captures(process, id)).toBe(10)
      await process.batches.rounds.look()
      expect(await available(process)).toBe(100_000n - itemCost * 10n)
      expect(await world.findings(process)).toEqual([])
    })

    test('that cannot be paid is refused with its cost and the available amount', async () => {
      const world = await newWorld()
      const process = await world.process()
      await world.grant(process, 9_999n)
      const refusal = await errorOf(process.batches.create(upload(batchOf(10), { principal: prepaid })))
      expect(refusal).toMatchObject({ type: 'payment_required', status: 402 })
      expect(refusal.metadata).toEqual({
        limit_source: 'openrouter_credits',
        estimate: 0.00001,
        worst_case: 0.00002,
        lanes: [{ lane: 'emulated', estimate: 0.00001, worst_case: 0.00002 }],
        available: 0.000009999,
      })
      expect(refusal.message).toBe(
        'This batch is estimated to cost 0.00001 credits (at most 0.00002), more than is left of ' +
          "the organization's credits. 0.000009999 credits are available. Add credits or send fewer items.",
      )
      expect(world.files.paths()).toEqual([])
      expect(await rowsIn(process, 'batches')).toBe(0)
      expect(await available(process)).toBe(9_999n)
      expect(await world.findings(process)).toEqual([])
    })

    test('for which a dead process still has enough leased credits is refused for now, and leaves nothing behind', async () => {
      const world = await newWorld()
      const process = await world.process()
      await world.grant(process, itemCost * 10n)
      const dying = await open()
      const billing = createBilling({ ledger: createLedger(dying) })
      await billing.hold({ budgets: [creditsBudget('org_a')], amount: itemCost * 9n })
      await dying.close()
      const request = (isDryRun: boolean) => upload(batchOf(10), { principal: prepaid, isDryRun })
      for (const isDryRun of [false, true])
        expect(await errorOf(process.batches.create(request(isDryRun)))).toMatchObject({
          type: 'batch_unavailable',
          status: 502,
          retryAfterSeconds: 5,
        })
      expect(world.files.paths()).toEqual([])
      expect(await rowsIn(process, 'batches')).toBe(0)
      // A batch that the dead process's credits would not cover either is refused for want of money.
      const dearer = await errorOf(process.batches.create(upload(batchOf(11), { principal: prepaid })))
      expect(dearer.type).toBe('payment_required')
    })

    test('beyond its key’s limit is refused for that limit, not for the balance', async () => {
      const world = await newWorld()
      const process = await world.process()
      await world.grant(process, 100_000n)
      const principal = { ...prepaid, keyLimitNanocredits: 9_000n }
      const refusal = await errorOf(process.batches.create(upload(batchOf(10), { principal })))
      expect(refusal.message).toBe(
        'This batch is estimated to cost 0.00001 credits (at most 0.00002), more than is left of ' +
          "the key's limit. 0.000009 credits are available. Raise the key's limit or send fewer items.",
      )
    })

    test('is refused with the balance when that is below zero, as a call is', async () => {
      const world = await newWorld()
      const process = await world.process()
      await world.grant(process, 9_000n)
      const overdraw = `update budgets set granted_nanocredits = granted_nanocredits + 9500 where budget_id = 'credits:org_a'`
      await process.database.commit({ name: 'test', statements: [{ sql: overdraw }] })
      const batch = await errorOf(process.batches.create(upload(batchOf(10), { principal: prepaid })))
      const hold = async () => process.billing.hold({ budgets: [creditsBudget('org_a')], amount: 10n })
      const call = await errorOf(hold())
      const words = "more than is left of the organization's credits. -0.0000005 credits are available."
      for (const { message, metadata } of [batch, call]) {
        expect(message).toContain(words)
        expect(metadata).toMatchObject({ limit_source: 'openrouter_credits', available: -0.0000005 })
      }
      const dryRun = upload(batchOf(10), { principal: prepaid, isDryRun: true })
      const asked = await errorOf(process.batches.create(dryRun))
      expect([asked.message, asked.metadata]).toEqual([batch.message, batch.metadata])
    })

    test('is refused by a dry run with the words of the real request, and nothing is set aside', async () => {
      const world = await newWorld()
      const process = await world.process()
      await world.grant(process, 9_999n)
      const limited = { ...prepaid, keyLimitNanocredits: 8_000n }
      const dear = batchOf(10, { headrace: { max_cost: Number(itemCost * 9n) / 1e9 } })
      const requests = [
        (isDryRun: boolean) => upload(batchOf(10), { principal: prepaid, isDryRun }),
        (isDryRun: boolean) => upload(batchOf(10), { principal: limited, isDryRun }),
        (isDryRun: boolean) => upload(dear, { principal: prepaid, isDryRun }),
      ]
      for (const request of requests) {
        const real = await errorOf(process.batches.create(request(false)))
        expect(real.type).toBe('payment_required')
        expect(shown(await errorOf(process.batches.create(request(true))))).toEqual(shown(real))
      }
      const affordable = upload(batchOf(9), { principal: prepaid, isDryRun: true })
      expect(await process.batches.create(affordable)).toMatchObject({
        object: { estimate: 0.000009, available: 0.000009999 },
      })
      expect(await available(process)).toBe(9_999n)
      expect(await rowsIn(process, 'batches')).toBe(0)
    })

    test('whose budget is short of its worst case is enlarged from the balance, and waits when that is empty', async () => {
      const world = await newWorld()
      const process = await world.process({ itemsAtOnce: 4 })
      // The estimate is there, but the last item's worst case is not: nothing is left to grow from.
      await world.grant(process, itemCost * 4n)
      const { id } = await create(process, upload(batchOf(4), { principal: prepaid }))
      for (let look = 0; look < 5; look++) await lookOnce(process, world)
      const waiting = await process.batches.get(prepaid, id)
      expect(waiting.object).toMatchObject({
        status: 'in_progress',
        error: null,
        request_counts: { completed: 3 },
        headrace_metadata: {
          waiting: {
            type: 'payment_required',
            message: 'This batch waits for credits. It goes on when credits are added.',
          },
        },
      })
      const { data } = await process.batches.list(prepaid, new URLSearchParams())
      expect(data[0]?.headrace_metadata).toEqual(waiting.object.headrace_metadata)
      expect(process.batches.stats().batchesWaiting).toBe(1)
      expect(process.reports.map(({ event }) => event)).toEqual(['batch_waits'])
      await world.grant(process, itemCost * 100n)
      const ended = await runToEnd(process, prepaid, id, world)
      expect(ended).toMatchObject({ request_counts: { completed: 4 } })
      expect(ended.headrace_metadata).toEqual({ lane: 'emulated' })
      expect(process.batches.stats().batchesWaiting).toBe(0)
      expect(await world.findings(process)).toEqual([])
    })

    test('with an item that its organization cannot pay leaves the credits to others', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: async (item, own) => {
          if (item.customId !== 'item-1') return answerOrWait(item, own)
          return holding(holdOf(item, own, itemCost * 100n))
        },
      })
      await world.grant(process, itemCost * 60n)
      const { id } = await create(process, upload(batchOf(4), { principal: prepaid }))
      for (let look = 0; look < 8; look++) await lookOnce(process, world)
      expect((await process.batches.get(prepaid, id)).object).toMatchObject({
        request_counts: { completed: 3 },
        headrace_metadata: { waiting: { type: 'payment_required' } },
      })
      // What three items may have been enlarged by, but not everything there is.
      expect(await available(process)).toBeGreaterThan(itemCost * 30n)
      await world.advance(dayMs)
      await runToEnd(process, prepaid, id, world)
      expect(await available(process)).toBe(itemCost * 57n)
    })

    test('with enough credits does not report that it waits for credits when its process stops', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const process = await world.process({
        behave: async (item, own) => {
          if (item.customId !== 'item-1') return answerOrWait(item, own)
          await gate.promise
          return holding(holdOf(item, own, itemCost * 100n))
        },
      })
      await world.grant(process, itemCost * 1_000n)
      process.batches.start()
      const { id } = await create(process, upload(batchOf(2), { principal: prepaid }))
      await waitFor(() => process.started.includes('item-1'))
      const stopping = process.batches.stop()
      gate.resolve()
      await stopping
      expect(process.reports.map(({ event }) => event)).toEqual([])
      const next = await world.process()
      expect((await next.batches.get(prepaid, id)).object.headrace_metadata).toEqual({ lane: 'emulated' })
    })

    test('with one item far dearer than its others pays for that item in one step', async () => {
      const world = await newWorld()
      let tries = 0
      const process = await world.process({
        behave: async (item, own) => {
          if (item.customId !== 'item-1') return answerOrWait(item, own)
          tries += 1
          const held = holdOf(item, own, itemCost * 100n)
          const hold = await held.catch(() => null)
          if (hold === null) return holding(held)
          own.billing.release(hold)
          return answer(item, own)
        },
      })
      await world.grant(process, itemCost * 200n)
      const { id } = await create(process, upload(batchOf(4), { principal: prepaid }))
      expect(await runToEnd(process, prepaid, id, world)).toMatchObject({ request_counts: { completed: 4 } })
      expect(tries).toBeLessThan(8)
    })

    test('that has gone on is no longer shown as waiting, although it has not ended', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const process = await world.process({
        itemsAtOnce: 4,
        behave: async (item, own) => {
          if (item.customId === 'item-5') await gate.promise
          return answerOrWait(item, own)
        },
      })
      await world.grant(process, itemCost * 100n)
      const { id } = await create(process, upload(batchOf(6), { principal: prepaid }))
      const waitingOf = async () => (await process.batches.get(prepaid, id)).object.headrace_metadata?.waiting
      await process.database.commit({
        name: 'test.note',
        statements: [
          {
            sql: `update batches set error_json = '{"type":"payment_required","message":"waits"}', status = 'in_progress'
              where batch_id = $1`,
            params: [id],
          },
        ],
      })
      expect(await waitingOf()).toEqual({ type: 'payment_required', message: 'waits' })
      await process.batches.rounds.look()
      await waitFor(async () => (await process.batches.get(prepaid, id)).object.request_counts.completed > 0)
      expect(await waitingOf()).toBeUndefined()
      gate.resolve()
      await runToEnd(process, prepaid, id, world)
    })

    test('short of its key’s limit goes on when the limit is raised or taken away', async () => {
      for (const raised of [itemCost * 100n, null]) {
        const world = await newWorld()
        let owner = principalOf({
          organizationId: 'org_t',
          accountMode: 'tracked',
          keyLimitNanocredits: itemCost * 2n,
        })
        const process = await world.process({ loadPrincipal: async () => owner })
        const { id } = await create(process, upload(batchOf(2), { principal: owner }))
        for (let look = 0; look < 5; look++) await lookOnce(process, world)
        expect((await process.batches.get(owner, id)).object).toMatchObject({
          request_counts: { completed: 1 },
          headrace_metadata: { waiting: { message: expect.stringContaining('limit of its API key') } },
        })
        owner = { ...owner, keyLimitNanocredits: raised }
        expect(await runToEnd(process, owner, id, world)).toMatchObject({ request_counts: { completed: 2 } })
        expect(await world.findings(process)).toEqual([])
      }
    })

    test('is checked against its key’s present limit, less the amount that the key has spent', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(2)))
      await runToEnd(process, tracked, id)
      const availableFor = async (items: bigint): Promise<unknown> => {
        const principal = { ...tracked, keyLimitNanocredits: itemCost * items }
        const created = await process.batches.create(upload(batchOf(1), { principal, isDryRun: true }))
        return created.kind === 'estimate' ? created.object.available : created
      }
      expect(await availableFor(5n)).toBe(toCredits(itemCost * 3n))
      expect(await availableFor(9n)).toBe(toCredits(itemCost * 7n))
    })

    test('short of its key’s limit is never enlarged beyond a limit that was lowered', async () => {
      const world = await newWorld()
      let owner = principalOf({
        organizationId: 'org_t',
        accountMode: 'tracked',
        keyLimitNanocredits: itemCost * 100n,
      })
      const process = await world.process({ loadPrincipal: async () => owner })
      const { id } = await create(process, upload(batchOf(4), { principal: owner }))
      owner = { ...owner, keyLimitNanocredits: itemCost * 4n }
      for (let look = 0; look < 5; look++) await lookOnce(process, world)
      expect((await process.batches.get(owner, id)).object.request_counts.completed).toBe(3)
      await world.advance(dayMs)
      expect(await runToEnd(process, owner, id, world)).toMatchObject({ status: 'expired' })
      expect(await world.findings(process)).toEqual([])
    })

    test('short of credits goes on when its organization becomes a tracked one', async () => {
      const world = await newWorld()
      let owner = prepaid
      const process = await world.process({ loadPrincipal: async () => owner })
      await world.grant(process, itemCost * 4n)
      const { id } = await create(process, upload(batchOf(4), { principal: owner }))
      for (let look = 0; look < 5; look++) await lookOnce(process, world)
      expect((await process.batches.get(owner, id)).object.request_counts.completed).toBe(3)
      owner = { ...owner, accountMode: 'tracked' }
      expect(await runToEnd(process, owner, id, world)).toMatchObject({ request_counts: { completed: 4 } })
      expect(await available(process)).toBe(0n)
      expect(await world.findings(process)).toEqual([])
    })

    test('never grows beyond the caller’s own limit', async () => {
      const world = await newWorld()
      const process = await world.process()
      await world.grant(process, itemCost * 1000n)
      const headrace = { max_cost: Number(itemCost * 4n) / 1e9 }
      const { id } = await create(process, upload(batchOf(4, { headrace }), { principal: prepaid }))
      for (let look = 0; look < 5; look++) await lookOnce(process, world)
      expect((await process.batches.get(prepaid, id)).object).toMatchObject({
        request_counts: { completed: 3 },
        headrace_metadata: { waiting: { message: expect.stringContaining('headrace.max_cost') } },
      })
      await world.advance(dayMs)
      const ended = await runToEnd(process, prepaid, id, world)
      expect(ended).toMatchObject({ status: 'expired', request_counts: { completed: 3, failed: 1 } })
      const results = await resultsOf(process, prepaid, id)
      expect(results.find((result) => result.error)?.error?.type).toBe('payment_required')
      expect(await available(process)).toBe(itemCost * 997n)
      expect(
        await errorOf(process.batches.create(upload(batchOf(5, { headrace }), { principal: prepaid }))),
      ).toMatchObject({
        type: 'payment_required',
        param: 'headrace.max_cost',
      })
    })

    test('of another organization is answered like an unknown one', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(1)))
      for (const asked of [id, 'batch_unknown']) {
        expect(await errorOf(process.batches.get(prepaid, asked))).toMatchObject({ type: 'not_found' })
        expect(await errorOf(process.batches.cancel(prepaid, asked))).toMatchObject({ type: 'not_found' })
        expect(await errorOf(process.batches.delete(prepaid, asked))).toMatchObject({ type: 'not_found' })
        expect(await errorOf(process.batches.results(prepaid, asked, null))).toMatchObject({
          type: 'not_found',
        })
      }
    })

    test('whose model was withdrawn after acceptance fails as a whole and costs nothing', async () => {
      const world = await newWorld()
      let isWithdrawn = false
      const process = await world.process({
        resolveBatch: async (question) =>
          resolveBatch(isWithdrawn ? { ...question, model: 'gone' } : question),
      })
      await world.grant(process, 100_000n)
      const { id } = await create(process, upload(batchOf(3), { principal: prepaid }))
      isWithdrawn = true
      const ended = await runToEnd(process, prepaid, id, world)
      expect(ended).toMatchObject({
        status: 'failed',
        usage: null,
        request_counts: { total: 3, completed: 0, failed: 3 },
      })
      expect(ended.error?.message).toContain('gone')
      expect(ended.finalized_at).not.toBeNull()
      expect((await process.batches.get(prepaid, id)).results).toBeNull()
      expect(process.started).toEqual([])
      expect(await available(process)).toBe(100_000n)
    })

    test('waits in validation while resolving is out of order', async () => {
      const world = await newWorld()
      let isDown = false
      const process = await world.process({
        resolveBatch: async (question) => {
          if (isDown) throw new GatewayError('storage_unavailable', 'down')
          return resolveBatch(question)
        },
      })
      const { id } = await create(process, upload(batchOf(1)))
      isDown = true
      await lookOnce(process)
      const { object } = await process.batches.get(tracked, id)
      expect(object).toMatchObject({
        status: 'validating',
        headrace_metadata: { waiting: { type: 'storage_unavailable', message: 'down', items: 1 } },
      })
      isDown = false
      expect(await runToEnd(process, tracked, id)).toMatchObject({ status: 'completed' })
    })

    test('that does not move shows on every process the reason, the begin and the end of its wait', async () => {
      const world = await newWorld()
      let isDown = true
      const process = await world.process({
        behave: (item, own) => {
          if (!isDown || item.customId === 'item-0') return answer(item, own)
          if (item.customId === 'item-1') return putBack('no_healthy_endpoint', 60_000)
          return failed('provider_failed')
        },
      })
      const reader = await world.process()
      const { id } = await create(process, upload(batchOf(5)))
      const shownOf = async () => (await reader.batches.get(tracked, id)).object.headrace_metadata?.waiting
      await moveToInProgress(process, id)
      const startedSeconds = Math.floor(world.clock.nowMs() / 1_000)
      await waitFor(async () => {
        await process.batches.rounds.look()
        return (await shownOf())?.items === 4
      })
      const waiting = await shownOf()
      expect(waiting).toMatchObject({
        type: 'provider_failed',
        items: 4,
        since: startedSeconds,
        causes: [
          { type: 'provider_failed', items: 3 },
          { type: 'no_healthy_endpoint', items: 1, since: startedSeconds },
        ],
      })
      expect(waiting?.next_try_at).toBeGreaterThanOrEqual(startedSeconds)
      const { data } = await reader.batches.list(tracked, new URLSearchParams())
      expect(data[0]?.headrace_metadata?.waiting).toMatchObject({ type: 'provider_failed', items: 4 })
      await process.batches.rounds.look()
      expect(process.batches.stats().itemsWaiting.map(({ type, items }) => [type, items])).toEqual([
        ['no_healthy_endpoint', 1],
        ['provider_failed', 3],
      ])
      isDown = false
      const ended = await runToEnd(process, tracked, id, world)
      expect(ended).toMatchObject({ request_counts: { completed: 5 } })
      expect(ended.headrace_metadata).toEqual({ lane: 'emulated' })
      expect(await rowsIn(process, 'waiting_items')).toBe(0)
    })

    test('shows that its items wait for a provider that rests, until they are let in', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const process = await world.process({
        behave: async (item, own) => {
          item.onQueued({ providerName: 'Maker', restMs: () => 20_000 })
          if (item.customId !== 'item-0') await gate.promise
          item.onQueued(null)
          return answer(item, own)
        },
      })
      const { id } = await create(process, upload(batchOf(3)))
      await moveToInProgress(process, id)
      const shownOf = async () => (await process.batches.get(tracked, id)).object.headrace_metadata?.waiting
      await waitFor(async () => {
        await process.batches.rounds.look()
        return (await shownOf())?.items === 2
      })
      const nowSeconds = Math.floor(world.clock.nowMs() / 1_000)
      expect(await shownOf()).toMatchObject({
        type: 'upstream_rate_limited',
        message: expect.stringContaining('Maker limits the rate'),
        next_try_at: nowSeconds + 20,
      })
      gate.resolve()
      await runToEnd(process, tracked, id, world)
      expect(await rowsIn(process, 'waiting_items')).toBe(0)
    })

    test('that waits when its process dies has waited since then for the next one', async () => {
      const world = await newWorld()
      const behave = () => failed('provider_failed')
      const [dead, heir] = [await world.process({ behave }), await world.process({ behave })]
      const { id } = await create(dead, upload(batchOf(2)))
      await moveToInProgress(dead, id)
      const shownOf = async () => (await heir.batches.get(tracked, id)).object.headrace_metadata?.waiting
      await waitFor(async () => {
        await dead.batches.rounds.look()
        return (await shownOf())?.items === 2
      })
      const first = await shownOf()
      await dead.database.close()
      await heir.batches.rounds.renew()
      await waitFor(async () => {
        await world.advance(1_000)
        await heir.batches.rounds.look()
        return (await shownOf())?.next_try_at !== first?.next_try_at
      })
      expect(await shownOf()).toMatchObject({ items: 2, since: first?.since })
    })

    test('whose key is gone ends its items with an error instead of running them', async () => {
      const world = await newWorld()
      let isGone = false
      const process = await world.process({ loadPrincipal: async () => (isGone ? null : tracked) })
      const { id } = await create(process, upload(batchOf(2)))
      await moveToInProgress(process, id)
      isGone = true
      expect(await runToEnd(process, tracked, id)).toMatchObject({
        status: 'completed',
        request_counts: { failed: 2 },
      })
      expect((await resultsOf(process, tracked, id))[0]?.error?.type).toBe('permission_denied')
      expect(process.started).toEqual([])
    })
  })

  describe('an item', () => {
    test('that fails for good is an error beside the other results and is not billed', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: (item, own) =>
          item.customId === 'item-1' ? failed('context_length_exceeded') : answer(item, own),
      })
      const { id } = await create(process, upload(batchOf(3)))
      const ended = await runToEnd(process, tracked, id)
      expect(ended).toMatchObject({
        status: 'completed',
        request_counts: { total: 3, completed: 2, failed: 1 },
      })
      expect(parseCredits(ended.usage?.['cost'] as number)).toBe(itemCost * 2n)
      const results = await resultsOf(process, tracked, id)
      expect(results[1]).toMatchObject({
        custom_id: 'item-1',
        response: null,
        error: { type: 'context_length_exceeded' },
      })
      expect(await captures(process, id)).toBe(2)
    })

    test('that fails for a passing reason is tried again, a bounded number of times', async () => {
      const world = await newWorld()
      const tries = new Map<string, number>()
      const types: Record<string, string> = {
        'item-2': 'upstream_rate_limited',
        'item-3': 'provider_timeout',
      }
      const process = await world.process({
        behave: (item, own) => {
          const before = tries.get(item.customId) ?? 0
          tries.set(item.customId, before + 1)
          const isRecovered = item.customId === 'item-0' && before === 2
          if (isRecovered) return answer(item, own)
          return failed(types[item.customId] ?? 'provider_failed')
        },
      })
      const { id } = await create(process, upload(batchOf(4)))
      expect(await runToEnd(process, tracked, id, world)).toMatchObject({
        request_counts: { completed: 1, failed: 3 },
      })
      expect(tries.get('item-0')).toBe(3)
      expect(tries.get('item-1')).toBe(itemFailuresMax)
      // A provider's limit may be used up by the batch itself, window after window.
      expect(tries.get('item-2')).toBe(itemRefusalsMax)
      expect(tries.get('item-3')).toBe(itemTimeoutsMax)
    })

    test('survives minutes in which its provider is down, and most of an hour in which no endpoint can be asked', async () => {
      const downMinutes = { provider_failed: 9, provider_overloaded: 45, no_healthy_endpoint: 45 } as const
      for (const type of ['provider_failed', 'provider_overloaded', 'no_healthy_endpoint'] as const) {
        const world = await newWorld()
        const untilMs = world.clock.monotonicMs() + downMinutes[type] * 60_000
        const process = await world.process({
          behave: (item, own) => (world.clock.monotonicMs() < untilMs ? failed(type) : answer(item, own)),
        })
        const { id } = await create(process, upload(batchOf(2)))
        expect(await runToEnd(process, tracked, id, world)).toMatchObject({
          request_counts: { completed: 2, failed: 0 },
        })
      }
    })

    test('that is put back for a long time gives its segment up to other processes', async () => {
      const world = await newWorld()
      let isCooling = true
      const process = await world.process({
        behave: (item, own) => (isCooling ? putBack('upstream_rate_limited', 60_000) : answer(item, own)),
      })
      const { id } = await create(process, upload(batchOf(2)))
      for (let look = 0; look < 3; look++) await lookOnce(process)
      expect(process.batches.stats().segmentsRunning).toBe(0)
      isCooling = false
      expect(process.started.length).toBe(2)
      await world.advance(60_001)
      expect(await runToEnd(process, tracked, id)).toMatchObject({
        status: 'completed',
        request_counts: { completed: 2 },
      })
    })

    test('whose answer is not JSON is an error and does not break other items', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: async (item, own) => {
          const outcome = await answer(item, own)
          if (item.customId !== 'item-1' || !outcome.response) return outcome
          return { ...outcome, response: { ...outcome.response, body: Buffer.from('{"cut": ') } }
        },
      })
      const { id } = await create(process, upload(batchOf(3)))
      await runToEnd(process, tracked, id)
      const results = await resultsOf(process, tracked, id)
      expect(results.map((result) => result.error?.type ?? null)).toEqual([null, 'provider_failed', null])
      expect(await captures(process, id)).toBe(2)
    })

    test('whose answer spans lines stays one line of the results', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: async (item, own) => {
          const outcome = await answer(item, own)
          const body = Buffer.from('{\n  "echo": "a\\nb",\n  "sent": 1\n}')
          return outcome.response ? { ...outcome, response: { ...outcome.response, body } } : outcome
        },
      })
      const { id } = await create(process, upload(batchOf(2)))
      await runToEnd(process, tracked, id)
      expect((await resultsOf(process, tracked, id))[1]?.response?.body.echo).toBe('a\nb')
      expect(await linesOf(process, tracked, id)).toHaveLength(2)
    })

    test('is sent exactly the body its caller wrote', async () => {
      const world = await newWorld()
      const sent: string[] = []
      const process = await world.process({
        behave: (item, own) => {
          sent.push(new TextDecoder().decode(item.body))
          return answer(item, own)
        },
      })
      const body = '{ "n": 1.10e2, "big": 12345678901234567890, "t": "\\u00e9\\" }]" }'
      const text = `{"endpoint":"/v1/embeddings","model":"${model}","requests":[ {"body":${body},"custom_id":"a"} ]}`
      const { id } = await create(process, upload(text))
      await runToEnd(process, tracked, id)
      expect(sent).toEqual([body])
    })

    test('for which a bug of the runner throws ends with an internal error', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: () => {
          throw new TypeError('a bug')
        },
      })
      const { id } = await create(process, upload(batchOf(1)))
      expect(await runToEnd(process, tracked, id)).toMatchObject({
        status: 'completed',
        request_counts: { failed: 1 },
      })
      expect((await resultsOf(process, tracked, id))[0]?.error).toEqual({
        type: 'internal',
        message: 'Internal server error.',
        param: null,
        error_type: 'server',
      })
    })
  })

  describe('cancelling and expiring', () => {
    test('a cancelled batch keeps what is finished and ends the rest unbilled', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const process = await world.process({
        itemsAtOnce: 4,
        behave: async (item, own) => {
          await gate.promise
          return answerOrWait(item, own)
        },
      })
      await world.grant(process, 1_000_000n)
      const { id } = await create(process, upload(batchOf(10), { principal: prepaid }))
      await process.batches.rounds.look()
      await process.batches.rounds.look()
      await waitFor(() => process.started.length === 2)
      expect(await process.batches.cancel(prepaid, id)).toMatchObject({
        status: 'cancelling',
        finalized_at: null,
      })
      await process.batches.rounds.look()
      gate.resolve()
      const ended = await runToEnd(process, prepaid, id, world)
      expect(ended).toMatchObject({
        status: 'cancelled',
        request_counts: { total: 10, completed: 2, failed: 8 },
      })
      const results = await resultsOf(process, prepaid, id)
      expect(results.map((result) => result.custom_id)).toEqual(names(10))
      expect(results.filter((result) => result.error?.type === 'batch_cancelled')).toHaveLength(8)
      expect(await process.batches.read(prepaid, id)).toMatchObject({ cancelledItems: 8, expiredItems: 0 })
      expect(process.started).toHaveLength(2)
      expect(await captures(process, id)).toBe(2)
      expect(await available(process)).toBe(1_000_000n - itemCost * 2n)
      expect(await process.batches.cancel(prepaid, id)).toMatchObject({ status: 'cancelled' })
      expect(await world.findings(process)).toEqual([])
    })

    test('a batch cancelled before it ran never runs', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(3)))
      await process.batches.cancel(tracked, id)
      expect(await runToEnd(process, tracked, id)).toMatchObject({
        status: 'cancelled',
        request_counts: { failed: 3 },
      })
      expect(process.started).toEqual([])
    })

    test('a batch whose key is taken away starts no more items of a segment that runs', async () => {
      const world = await newWorld()
      const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>())
      let isAllowed = true
      const process = await world.process({
        itemsAtOnce: 4,
        loadPrincipal: async () => (isAllowed ? tracked : null),
        behave: async (item, own) => {
          await gates[own.started.length - 1]?.promise
          return answer(item, own)
        },
      })
      const { id } = await create(process, upload(batchOf(6)))
      await process.batches.rounds.look()
      await process.batches.rounds.look()
      await waitFor(() => process.started.length === 2)
      isAllowed = false
      await world.advance(principalFreshMs)
      for (const gate of gates) gate.resolve()
      expect(await runToEnd(process, tracked, id)).toMatchObject({
        status: 'completed',
        request_counts: { completed: 2, failed: 4 },
      })
      const results = await resultsOf(process, tracked, id)
      expect(results.filter((result) => result.error?.type === 'permission_denied')).toHaveLength(4)
      expect(process.started).toHaveLength(2)
      expect(process.batches.stats().itemsRunning).toBe(0)
    })

    test('a batch that ended cannot be cancelled any more', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(1)))
      await runToEnd(process, tracked, id)
      expect(await errorOf(process.batches.cancel(tracked, id))).toMatchObject({
        type: 'conflict',
        status: 409,
      })
    })

    test('an item that does not stop with its cancelled batch is given up after a while', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: (item) => {
          const { promise, resolve } = Promise.withResolvers<ItemOutcome>()
          item.signal.addEventListener('abort', () => resolve(putBack('provider_failed', 1)))
          return promise
        },
      })
      const { id } = await create(process, upload(batchOf(2)))
      await process.batches.rounds.look()
      await process.batches.rounds.look()
      await waitFor(() => process.started.length === 2)
      await process.batches.cancel(tracked, id)
      expect(await runToEnd(process, tracked, id)).toMatchObject({
        status: 'cancelled',
        request_counts: { failed: 2 },
      })
    })

    test('a batch past its deadline expires, and its unfinished items are `batch_expired` errors', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: (item, own) =>
          item.customId === 'item-0' ? answer(item, own) : putBack('no_healthy_endpoint', 60_000),
      })
      const { id, expires_at: expiresAt, created_at: createdAt } = await create(process, upload(batchOf(3)))
      expect(expiresAt).toBe(createdAt + 86_400)
      for (let look = 0; look < 3; look++) await lookOnce(process)
      await world.advance(dayMs)
      const ended = await runToEnd(process, tracked, id)
      expect(ended).toMatchObject({
        status: 'expired',
        request_counts: { total: 3, completed: 1, failed: 2 },
      })
      expect(ended.error?.message).toContain('expired')
      const results = await resultsOf(process, tracked, id)
      expect(results.map((result) => result.error?.type ?? null)).toEqual([
        null,
        'batch_expired',
        'batch_expired',
      ])
      expect(await captures(process, id)).toBe(1)
    })

    test('items under way at the deadline are aborted', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: (item) => {
          const { promise, resolve } = Promise.withResolvers<ItemOutcome>()
          item.signal.addEventListener('abort', () => resolve(putBack('provider_failed', 1)))
          return promise
        },
      })
      const { id } = await create(process, upload(batchOf(1)))
      await process.batches.rounds.look()
      await process.batches.rounds.look()
      await waitFor(() => process.started.length === 1)
      await world.advance(dayMs)
      expect(await runToEnd(process, tracked, id)).toMatchObject({
        status: 'expired',
        request_counts: { failed: 1 },
      })
    })
  })

  describe('reading results', () => {
    test('continues after a cursor, even while the batch runs, in commit order', async () => {
      const world = await newWorld()
      let limit = 3
      const process = await world.process({
        itemsAtOnce: 1,
        behave: (item, own) =>
          own.started.length <= limit ? answer(item, own) : putBack('no_healthy_endpoint', 60_000),
      })
      const { id } = await create(process, upload(batchOf(7)))
      for (let look = 0; look < 3; look++) await lookOnce(process)
      const first = await linesOf(process, tracked, id)
      expect(first.map((line) => line.custom_id)).toEqual(names(3))
      expect(await linesOf(process, tracked, id, first.at(-1)?.cursor ?? null)).toEqual([])
      limit = 1000
      await world.advance(60_001)
      await runToEnd(process, tracked, id)
      const rest = await linesOf(process, tracked, id, first[1]?.cursor ?? null)
      expect(rest[0]).toEqual(first[2] as (typeof rest)[0])
      expect([...first.slice(0, 2), ...rest].map((line) => line.custom_id).toSorted()).toEqual(names(7))
      expect(await linesOf(process, tracked, id, rest.at(-1)?.cursor ?? null)).toEqual([])
    })

    test('a cursor that the gateway never gave is refused', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(1)))
      expect(await errorOf(process.batches.results(tracked, id, 'x'))).toMatchObject({
        type: 'invalid_request',
        param: 'cursor',
      })
    })

    test('a read error breaks the stream and never closes the array', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(3000)))
      await runToEnd(process, tracked, id)
      const { results } = await process.batches.get(tracked, id)
      const blobs = new FolderBlobStore('/blobs', { files: world.files })
      const merged = (await blobs.list('merged/')).at(-1) ?? ''
      await blobs.delete(merged)
      let text = ''
      const reading = (async () => {
        for await (const chunk of results?.() ?? []) text += new TextDecoder().decode(chunk)
      })()
      expect(await typeOf(reading)).not.toBe('resolved')
      expect(text).toStartWith('{"id":')
      expect(text).not.toEndWith(']}')
      expect(() => JSON.parse(text)).toThrow()
    })

    test('a result that is missing breaks the stream too', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(segmentItemsMax + 1)))
      await runToEnd(process, tracked, id)
      const sql = `delete from segments where batch_id = $1 and ordinal = 1`
      await process.database.commit({ name: 'test.lose', statements: [{ sql, params: [id] }] })
      const { results } = await process.batches.get(tracked, id)
      await expect(new Response(results?.()).text()).rejects.toThrow()
    })

    test('a batch that made the balance negative hides its results until that is paid', async () => {
      const world = await newWorld()
      const process = await world.process({
        behave: async (item, own) => {
          const outcome = await answerOrWait(item, own)
          if (!outcome.capture || !outcome.usage) return outcome
          const row = { ...outcome.capture.row, costNanocredits: 50_000n }
          return {
            ...outcome,
            usage: { ...outcome.usage, cost: 0.00005 },
            capture: { ...outcome.capture, row },
          }
        },
      })
      await world.grant(process, 10_000n)
      const { id } = await create(process, upload(batchOf(1), { principal: prepaid }))
      await runToEnd(process, prepaid, id, world)
      const polled = await process.batches.get(prepaid, id)
      expect(polled).toMatchObject({ results: null, debt: { type: 'payment_required', status: 402 } })
      expect(polled.object).toMatchObject({ status: 'completed', results: null })
      expect(await errorOf(process.batches.results(prepaid, id, null))).toMatchObject({
        type: 'payment_required',
      })
      await world.grant(process, 50_000n)
      expect((await process.batches.get(prepaid, id)).debt).toBeNull()
      expect(await resultsOf(process, prepaid, id)).toHaveLength(1)
      expect(await world.findings(process)).toEqual([])
    })
  })

  describe('listing', () => {
    test('is newest first, paged, filtered, and without results', async () => {
      const world = await newWorld()
      const process = await world.process()
      const ids: string[] = []
      for (let index = 0; index < 5; index++) {
        ids.unshift((await create(process, upload(batchOf(1)))).id)
        await world.advance(2_000)
      }
      const list = (query: string) => process.batches.list(tracked, new URLSearchParams(query))
      const page = await list('limit=2')
      expect(page).toMatchObject({ object: 'list', first_id: ids[0], last_id: ids[1], has_more: true })
      expect(page.data.map((batch) => batch.id)).toEqual(ids.slice(0, 2))
      expect(page.data.every((batch) => batch.results === null)).toBe(true)
      const rest = await list(`after=${page.last_id}`)
      expect(rest.data.map((batch) => batch.id)).toEqual(ids.slice(2))
      expect(rest.has_more).toBe(false)
      await runToEnd(process, tracked, ids[4] ?? '')
      expect((await list('status=completed&limit=100')).data.length).toBeGreaterThan(0)
      expect((await list('status=cancelled&status=failed')).data).toEqual([])
      const middle = page.data[1]?.created_at ?? 0
      expect((await list(`created_after=${middle}`)).data.map((batch) => batch.id)).toEqual(ids.slice(0, 1))
      expect((await list(`created_before=${middle}`)).data.map((batch) => batch.id)).toEqual(ids.slice(2))
      expect((await process.batches.list(prepaid, new URLSearchParams())).data).toEqual([])
    })

    test('refuses a query that cannot be meant', async () => {
      const world = await newWorld()
      const process = await world.process()
      const queries = [
        'limit=0',
        'limit=101',
        'limit=x',
        'status=finalizing',
        'status=cancelling',
        'status=done',
        'after=batch_unknown',
        'created_after=never',
        'created_after=20&created_before=20',
      ]
      for (const query of queries) {
        const refusal = await errorOf(process.batches.list(tracked, new URLSearchParams(query)))
        expect(refusal).toMatchObject({ type: 'invalid_request', message: 'Invalid batch list query.' })
      }
    })
  })

  describe('deleting', () => {
    test('hides the batch at once, and its bytes go a day later', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(3)))
      expect(await errorOf(process.batches.delete(tracked, id))).toMatchObject({
        type: 'conflict',
        status: 409,
      })
      await runToEnd(process, tracked, id)
      const { results } = await process.batches.get(tracked, id)
      expect(await process.batches.delete(tracked, id)).toEqual({
        id,
        object: 'batch',
        deletion: { openrouter: 'deleted' },
      })
      expect(await errorOf(process.batches.get(tracked, id))).toMatchObject({ type: 'not_found' })
      expect(await errorOf(process.batches.delete(tracked, id))).toMatchObject({ type: 'not_found' })
      expect((await process.batches.list(tracked, new URLSearchParams())).data).toEqual([])
      await process.batches.rounds.cleanUp()
      // A caller who had begun to read can finish.
      expect(((await new Response(results?.()).json()) as { results: unknown[] }).results).toHaveLength(3)
      await world.advance(dayMs + 1)
      await process.batches.rounds.cleanUp()
      expect(world.files.paths()).toEqual([])
      for (const table of ['batches', 'segments', 'parts']) expect(await rowsIn(process, table)).toBe(0)
      expect(await captures(process, id)).toBe(3)
    })

    test('happens by itself after thirty days', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(1)))
      await runToEnd(process, tracked, id)
      await world.advance(30 * dayMs)
      await process.batches.rounds.cleanUp()
      expect((await process.batches.get(tracked, id)).object.status).toBe('completed')
      await world.advance(1)
      await process.batches.rounds.cleanUp()
      expect(await errorOf(process.batches.get(tracked, id))).toMatchObject({ type: 'not_found' })
    })

    test('deletes more blobs than one page holds', async () => {
      const world = await newWorld()
      const process = await world.process()
      const { id } = await create(process, upload(batchOf(1)))
      await runToEnd(process, tracked, id)
      const many = retentionPageMax + 1
      const copies = Array.from({ length: many }, (_, index) => [`batch_old${index}`])
      const copied = await process.database.query(`select * from batches where batch_id = $1`, [id])
      const columns = Object.keys(copied[0] ?? {}).filter((column) => column !== 'batch_id')
      await process.database.commit({
        name: 'test.many',
        statements: [
          ...copies.map(([copy = '']) => ({
            sql: `insert into batches (batch_id, ${columns.join(', ')}) select cast($1 as text), ${columns.join(', ')}
              from batches where batch_id = $2`,
            params: [copy, id],
          })),
          {
            sql: `insert into idempotency_keys (claim_id, organization_id, route, owner_id, state, created_at_ms, expires_at_ms)
              values ($1, 'org_t', 'POST /batches', 'owner', 'done', 1, 1)`,
            rows: copies,
          },
        ],
      })
      await world.advance(30 * dayMs + 1)
      await process.batches.rounds.cleanUp()
      expect(await rowsIn(process, 'idempotency_keys')).toBe(0)
      expect((await process.batches.list(tracked, new URLSearchParams())).data).toEqual([])
      await world.advance(dayMs + 1)
      await process.batches.rounds.cleanUp()
      expect(await rowsIn(process, 'batches')).toBe(0)
    })

    test('removes what a process that died left unfinished, a day later', async () => {
      const world = await newWorld()
      const process = await world.process()
      const blobs = new FolderBlobStore('/blobs', { files: world.files, clock: world.clock })
      const stuck = async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.from('half')
        await new Promise(() => undefined)
      }
      void blobs.put('segments/batch_x/stuck', stuck())
      while (world.files.paths().length === 0) await new Promise((resolve) => setImmediate(resolve))
      await process.batches.rounds.cleanUp()
      expect(world.files.paths()).toHaveLength(1)
      await world.advance(dayMs + 1)
      await process.batches.rounds.cleanUp()
      expect(world.files.paths()).toEqual([])
    })

    test('removes uploads that became no file, and files that have expired', async () => {
      const world = await newWorld()
      const process = await world.process()
      const blobs = new FolderBlobStore('/blobs', { files: world.files })
      const files = createFiles({ database: process.database, blobs, clock: world.clock })
      const piece = async function* () {
        yield Buffer.from('x')
      }
      const facts = { purpose: 'user_data', name: 'x', mediaType: 'text/plain', lifeMs: null } as const
      const lost = await files.store(piece())
      const kept = await files.create(tracked, await files.store(piece()), facts)
      const expiring = await files.create(tracked, await files.store(piece()), { ...facts, lifeMs: dayMs })
      await world.advance(2 * dayMs)
      await process.batches.rounds.cleanUp()
      await expect(files.load(tracked, expiring.id)).rejects.toMatchObject({ type: 'not_found' })
      expect(await blobs.exists(expiring.blob ?? '')).toBe(false)
      expect(await blobs.exists(lost.blob)).toBe(true)
      await world.advance(3_600_000)
      await process.batches.rounds.cleanUp()
      expect(await blobs.exists(lost.blob)).toBe(false)
      expect(await blobs.exists(kept.blob ?? '')).toBe(true)
    })

    test('removes blobs without a row only when they are old and were seen before', async () => {
      const world = await newWorld()
      const process = await world.process()
      const blobs = new FolderBlobStore('/blobs', { files: world.files })
      const orphan = `segments/batch_x/${newId('b', world.clock.nowMs())}`
      await blobs.put(orphan, Buffer.from('x'))
      const { id } = await create(process, upload(batchOf(1)))
      await process.batches.rounds.cleanUp()
      await world.advance(2 * dayMs)
      await process.batches.rounds.cleanUp()
      expect(await blobs.exists(orphan)).toBe(true)
      await world.advance(3_600_000)
      await process.batches.rounds.cleanUp()
      expect(await blobs.exists(orphan)).toBe(false)
      expect(await rowsIn(process, 'blob_deletions')).toBe(0)
      expect(world.files.paths()).toHaveLength(1)
      expect(await runToEnd(process, tracked, id)).toMatchObject({ status: 'expired' })
    })
  })

  describe('several workers', () => {
    test('share one batch and leave one result and one capture per item', async () => {
      const world = await newWorld()
      const one = await world.process()
      const other = await world.process()
      const { id } = await create(one, upload(batchOf(3500)))
      await one.batches.rounds.look()
      for (let look = 0; look < 100; look++) {
        await Promise.all([one.batches.rounds.look(), other.batches.rounds.look()])
        await Promise.all([one.batches.rounds.settled(), other.batches.rounds.settled()])
        if ((await one.batches.get(tracked, id)).object.status === 'completed') break
      }
      expect((await resultsOf(other, tracked, id)).map((result) => result.custom_id)).toEqual(names(3500))
      expect(await captures(one, id)).toBe(3500)
      expect(one.started.length + other.started.length).toBe(3500)
      expect(await world.findings(one)).toEqual([])
    })

    test('a worker that froze while its segment was taken over adds nothing and charges nothing', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const frozen = await world.process({
        behave: async (item, own) => {
          await gate.promise
          return answer(item, own)
        },
      })
      const other = await world.process()
      const { id } = await create(frozen, upload(batchOf(4)))
      await frozen.batches.rounds.look()
      await frozen.batches.rounds.look()
      await waitFor(() => frozen.started.length === 4)
      await world.advance(segmentLeaseMs + 1)
      const ended = await runToEnd(other, tracked, id)
      expect(ended.request_counts).toEqual({ total: 4, completed: 4, failed: 0 })
      const before = await resultsOf(other, tracked, id)
      gate.resolve()
      await frozen.batches.rounds.settled()
      expect(frozen.batches.stats().lateResults).toBe(4)
      expect(await captures(other, id)).toBe(4)
      expect(await resultsOf(other, tracked, id)).toEqual(before)
      expect(new Set(frozen.released).size).toBe(4)
    })

    test('a worker that replaces a dead one takes over its segments at once, without waiting for the lease', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const dead = await world.process({
        behave: async () => {
          await gate.promise
          return putBack('provider_failed', 1)
        },
      })
      const { id } = await create(dead, upload(batchOf(3)))
      await dead.batches.rounds.look()
      await dead.batches.rounds.look()
      await waitFor(() => dead.started.length === 3)
      const next = await world.process()
      await next.batches.rounds.renew()
      await lookOnce(next)
      expect(next.started).toEqual([])
      await dead.database.close()
      await next.batches.rounds.renew()
      expect(await runToEnd(next, tracked, id)).toMatchObject({
        status: 'completed',
        request_counts: { completed: 3 },
      })
      gate.resolve()
      await dead.batches.rounds.settled()
    })

    test('a worker hears at its renewal that it lost its lease, and stops', async () => {
      const world = await newWorld()
      const aborted: string[] = []
      const frozen = await world.process({
        behave: (item) => {
          const { promise, resolve } = Promise.withResolvers<ItemOutcome>()
          item.signal.addEventListener('abort', () => {
            aborted.push(item.customId)
            resolve(putBack('provider_failed', 1))
          })
          return promise
        },
      })
      const other = await world.process()
      const { id } = await create(frozen, upload(batchOf(2)))
      await frozen.batches.rounds.look()
      await frozen.batches.rounds.look()
      await waitFor(() => frozen.started.length === 2)
      await frozen.batches.rounds.renew()
      expect(aborted).toEqual([])
      await world.advance(segmentLeaseMs + 1)
      await runToEnd(other, tracked, id)
      await frozen.batches.rounds.renew()
      await frozen.batches.rounds.settled()
      expect(aborted.toSorted()).toEqual(names(2))
      expect(frozen.batches.stats()).toMatchObject({ leasesLost: 1, segmentsRunning: 0 })
    })

    test('take turns between organizations', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const process = await world.process({
        behave: async (item, own) => {
          await gate.promise
          return answer(item, own)
        },
      })
      const other = principalOf({ accountMode: 'tracked', organizationId: 'org_b' })
      // Segments enough to fill every place of the process.
      await create(process, upload(batchOf(segmentsAtOnce * segmentItemsMax + 1)))
      await world.advance(1_000)
      await create(process, upload(batchOf(5).replaceAll('item-', 'small-'), { principal: other }))
      await process.batches.rounds.look()
      await process.batches.rounds.look()
      await waitFor(() => process.started.some((name) => name.startsWith('small-')))
      expect(process.batches.stats().segmentsRunning).toBe(segmentsAtOnce)
      const stopping = process.batches.stop()
      gate.resolve()
      await stopping
    }, 20_000)
  })

  describe('a busy process', () => {
    const other = principalOf({ accountMode: 'tracked', organizationId: 'org_b' })

    test('keeps a place for the batch of an organization that comes later', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const process = await world.process({
        itemsAtOnce: 4 * segmentsAtOnce,
        behave: async (item, own) => {
          if (!item.customId.startsWith('small-')) await gate.promise
          return answer(item, own)
        },
      })
      await create(process, upload(batchOf(segmentsAtOnce * segmentItemsMax + 1)))
      await process.batches.rounds.look()
      await process.batches.rounds.look()
      await waitFor(() => process.started.length >= segmentsAtOnce)
      const { id } = await create(
        process,
        upload(batchOf(1).replaceAll('item-', 'small-'), { principal: other }),
      )
      for (let look = 0; look < 5; look += 1) await process.batches.rounds.look()
      await waitFor(() => process.started.includes('small-0'))
      expect((await process.batches.get(other, id)).object.status).not.toBe('validating')
      const stopping = process.batches.stop()
      gate.resolve()
      await stopping
    }, 20_000)
  })

  describe('starting and stopping', () => {
    test('a started engine runs accepted batches by itself', async () => {
      const world = await newWorld()
      const process = await world.process()
      process.batches.start()
      const { id } = await create(process, upload(batchOf(3)))
      let status = 'validating'
      await waitFor(async () => {
        status = (await process.batches.get(tracked, id)).object.status
        return status === 'completed'
      })
      expect(status).toBe('completed')
      await process.batches.stop()
      expect(process.reports).toEqual([])
    })

    test('stopping keeps finished items and gives the others back at once', async () => {
      const world = await newWorld()
      const gate = Promise.withResolvers<void>()
      const stopped = await world.process({
        itemsAtOnce: 4,
        behave: async (item, own) => {
          await gate.promise
          return answer(item, own)
        },
      })
      stopped.batches.start()
      const { id } = await create(stopped, upload(batchOf(6)))
      await waitFor(() => stopped.started.length === 2)
      const stopping = stopped.batches.stop()
      gate.resolve()
      await stopping
      expect(await errorOf(stopped.batches.create(upload(batchOf(1))))).toMatchObject({
        type: 'batch_unavailable',
        status: 502,
      })
      const next = await world.process()
      expect((await next.batches.get(tracked, id)).object.request_counts.completed).toBe(2)
      expect(await runToEnd(next, tracked, id)).toMatchObject({
        status: 'completed',
        request_counts: { completed: 6 },
      })
      expect(next.started).toHaveLength(4)
    })
  })
})

async function holdOf({ budgets }: ItemRequest, { billing }: Process, amount: bigint): Promise<Hold> {
  return billing.hold({ budgets, amount })
}

/** The outcome of an item whose hold is refused. */
async function holding(held: Promise<unknown>): Promise<ItemOutcome> {
  return held.then(
    () => failed('internal'),
    (thrown) => putBack('payment_required', 1_000, missingOf(thrown)),
  )
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `item-${index}`)
}

async function lookOnce(process: Process, world: World | null = null): Promise<void> {
  await process.batches.rounds.look()
  await process.batches.rounds.settled()
  await world?.advance(10_000)
}

/** Looks until the batch runs, without starting its items. */
async function moveToInProgress(process: Process, id: string): Promise<void> {
  await process.database.commit({
    name: 'test.start',
    statements: [{ sql: `update batches set status = 'in_progress' where batch_id = $1`, params: [id] }],
  })
}

async function available(process: Process): Promise<bigint> {
  const [budget] = await process.database.query<{ left_nanocredits: bigint }>(
    `select limit_nanocredits - granted_nanocredits as left_nanocredits from budgets where budget_id = 'credits:org_a'`,
  )
  return budget?.left_nanocredits ?? 0n
}

async function captures(process: Process, batchId: string): Promise<number> {
  const [row] = await process.database.query<{ found: number }>(
    `select count(*) as found from usages where batch_id = $1`,
    [batchId],
  )
  return Number(row?.found)
}

function shown({ status, type, message, param, metadata }: GatewayError) {
  return { status, type, message, param, metadata }
}

async function rowsIn(process: Process, table: string): Promise<number> {
  const [row] = await process.database.query<{ found: number }>(`select count(*) as found from ${table}`)
  return Number(row?.found)
}

/** Looks again and again until the condition holds; a bounded number of times. */
async function waitFor(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5_000; turn++) {
    if (await condition()) return
    await systemPause(1)
  }
  throw new Error('what was waited for did not happen')
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

async function typeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (thrown) {
    return String(thrown)
  }
  return 'resolved'
}
