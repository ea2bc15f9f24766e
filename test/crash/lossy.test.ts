import { afterEach, expect, test } from 'bun:test'
import type { BatchCommitPoint } from '../../src/batches/batch-commit-points.ts'
import { randomText } from '../../src/core/ids.ts'
import type { FileLayer } from '../../src/storage/blobs/file-layer.ts'
import { FolderBlobStore } from '../../src/storage/blobs/folder-blob-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { principalOf } from '../simulation/billing-fixtures.ts'
import {
  answerOrWait,
  batchOf,
  type Behave,
  create,
  itemCost,
  type Process,
  resultsOf,
  runToEnd,
  upload,
  World,
} from '../simulation/batches-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { isThorough } from '../support/thorough.ts'
import type { When } from './crash-plan.ts'

const itemCount = 12
const longTextLength = 150_000
const prepaid = principalOf({ organizationId: 'org_a' })
/** Every point that the life of a batch without incidents passes. */
const points: readonly BatchCommitPoint[] = [
  'blob.segment',
  'batch.accept',
  'batch.start',
  'segment.lease',
  'blob.part',
  'part.commit',
  'blob.merged',
  'segment.merge',
  'batch.finalizing',
  'batch.finalize',
]

/** One answer is too large and too random for its part to stay in a row. */
const longAnswer: Behave = async (item, process) => {
  const outcome = await answerOrWait(item, process)
  if (!outcome.response || item.customId !== 'item-0') return outcome
  const body = {
    ...(JSON.parse(new TextDecoder().decode(outcome.response.body)) as object),
    text: randomText(longTextLength),
  }
  return { ...outcome, response: { ...outcome.response, body: Buffer.from(JSON.stringify(body)) } }
}

/** A machine that loses power at one moment: nothing that it does afterwards reaches database or disk. */
class Machine {
  readonly died: Promise<void>
  process: Process | null = null
  readonly #world: World
  #isDead = false
  #die: () => void = () => undefined

  constructor(world: World) {
    this.#world = world
    this.died = new Promise((resolve) => {
      this.#die = resolve
    })
  }

  async start(at: { point: BatchCommitPoint; when: When }): Promise<Process> {
    this.process = await this.#world.process({
      behave: longAnswer,
      crash: (point, when) => {
        if (point === at.point && when === at.when) this.#losePower()
      },
      wrapDatabase: (database) => this.#mortal<Database>(database, ['commit', 'query']),
      blobs: new FolderBlobStore('/blobs', {
        files: this.#mortal<FileLayer>(this.#world.files, [
          'create',
          'open',
          'rename',
          'unlink',
          'makeFolder',
          'fsyncFolder',
          'exists',
          'list',
        ]),
        clock: this.#world.clock,
      }),
    })
    return this.process
  }

  #losePower(): void {
    if (this.#isDead) return
    this.#isDead = true
    this.#world.files.crash()
    this.#die()
  }

  #mortal<T extends object>(target: T, methods: readonly (keyof T & string)[]): T {
    return new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        const own = member.bind(target) as (...given: unknown[]) => unknown
        if (!methods.includes(name as keyof T & string)) return own
        return (...given: unknown[]) => (this.#isDead ? new Promise(() => undefined) : own(...given))
      },
    })
  }
}

eachDatabase((_name, open) => {
  const worlds: World[] = []
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close()
  })

  for (const [place, point] of points.entries()) {
    // An ordinary run cuts the power on one side of each point, `npm run prove -- kills` on both.
    const sampled: When = place % 2 === 0 ? 'after' : 'before'
    for (const when of isThorough ? (['before', 'after'] as const) : [sampled]) {
      test(`a power cut ${when} ${point} loses nothing accepted and charges nothing twice`, async () => {
        const world = new World(open)
        worlds.push(world)
        const machine = new Machine(world)
        const dying = await machine.start({ point, when })
        await world.grant(dying, itemCost * 1_000n)
        const accepted = await Promise.race([
          create(dying, upload(batchOf(itemCount), { principal: prepaid })).then(({ id }) => id),
          machine.died.then(() => null),
        ])
        if (accepted) await Promise.race([runToEnd(dying, prepaid, accepted, world), machine.died])
        await machine.died

        await dying.database.close()
        const next = await world.process({ behave: longAnswer })
        await next.billing.rounds.reap()
        const [row] = await next.database.query<{ batch_id: string }>('select batch_id from batches')
        if (accepted) expect(row?.batch_id).toBe(accepted)
        if (row) {
          await next.batches.rounds.renew()
          const ended = await runToEnd(next, prepaid, row.batch_id, world)
          expect(ended).toMatchObject({ status: 'completed', request_counts: { completed: itemCount } })
          const results = await resultsOf(next, prepaid, row.batch_id)
          const expected = Array.from({ length: itemCount }, (_, index) => `item-${index}`)
          expect(results.map((result) => result.custom_id)).toEqual(expected)
          expect(await usagesOf(next.database)).toBe(itemCount)
        } else {
          expect(await usagesOf(next.database)).toBe(0)
        }
        await next.billing.rounds.reap()
        expect(await world.findings(next)).toEqual([])
      })
    }
  }
})

async function usagesOf(database: Database): Promise<number> {
  const [row] = await database.query<{ usages: number }>('select count(*) as usages from usages')
  return Number(row?.usages)
}
