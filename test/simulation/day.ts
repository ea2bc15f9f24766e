import type { ItemOutcome, ItemRequest, ResolveBatch } from '../../src/batches/item-contract.ts'
import type { Pause } from '../../src/batches/running/pause.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Database } from '../../src/storage/database.ts'
import { answer, failed, missingOf, type Process, putBack, type World } from './batches-world.ts'

export const minute = 60_000
export const hour = 60 * minute

/** A provider of the day: what an item costs there, and whether it answers at a time after the day's beginning. */
export interface DayProvider {
  model: string
  costNanocredits: bigint
  /** How long it takes for an item. */
  answerMs: number
  /** How it refuses at this time; null when it answers. */
  refusalAt(ms: number): string | null
}

/** One is down from the second to the eighth hour, one needs twenty minutes an item, one is out of credits after an hour. */
export const dayProviders: readonly DayProvider[] = [
  {
    model: 'down/model',
    costNanocredits: 1_000n,
    answerMs: 0,
    refusalAt: (ms) => (ms >= 2 * hour && ms < 8 * hour ? 'provider_failed' : null),
  },
  { model: 'slow/model', costNanocredits: 700n, answerMs: 20 * minute, refusalAt: () => null },
  {
    model: 'broke/model',
    costNanocredits: 90n,
    answerMs: 0,
    refusalAt: (ms) => (ms >= hour ? 'no_healthy_endpoint' : null),
  },
]

/** Time that passes only when a test says so, for waits too. */
export class ManualDay {
  readonly #world: World
  readonly #startMs: number
  readonly #waits = new Map<() => void, number>()
  readonly clock: Clock

  constructor(world: World) {
    this.#world = world
    this.#startMs = world.clock.nowMs()
    this.clock = { nowMs: () => world.clock.nowMs(), monotonicMs: () => world.clock.nowMs() }
  }

  /** Milliseconds since the day began. */
  get ms(): number {
    return this.#world.clock.nowMs() - this.#startMs
  }

  readonly pause: Pause = (ms, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (signal?.aborted) return Promise.resolve()
    const end = (): void => {
      this.#waits.delete(end)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    this.#waits.set(end, this.#world.clock.nowMs() + ms)
    signal?.addEventListener('abort', end, { once: true })
    return promise
  }

  async pass(ms: number): Promise<void> {
    await this.#world.advance(ms)
    const nowMs = this.#world.clock.nowMs()
    for (const [end, dueMs] of this.#waits) if (dueMs <= nowMs) end()
  }
}

/** A database that says how many of its queries and commits are under way. */
export function counted(database: Database): { database: Database; underWay(): number } {
  let running = 0
  const track = <T>(work: Promise<T>): Promise<T> => {
    running += 1
    return work.finally(() => (running -= 1))
  }
  const proxy = new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      const call = member.bind(target) as (...values: unknown[]) => unknown
      if (name !== 'query' && name !== 'commit') return call
      return (...values: unknown[]) => track(call(...values) as Promise<unknown>)
    },
  })
  return { database: proxy, underWay: () => running }
}

/** What the providers of a day did: their own books, which the gateway's bill must equal. */
export class DayBooks {
  readonly #day: ManualDay
  /** Answers by batch: the custom ids, each as often as it was answered. */
  readonly answered = new Map<string, string[]>()
  /** Calls that were refused, by model. */
  readonly refused = new Map<string, number>()
  /** Calls that wait for their slow answer. */
  waiting = 0

  constructor(day: ManualDay) {
    this.#day = day
  }

  readonly behave = async (item: ItemRequest, process: Process): Promise<ItemOutcome> => {
    const provider = dayProviders.find(({ model }) => model === item.model)
    if (provider === undefined) throw new Error(`nobody serves ${item.model}`)
    const refusal = provider.refusalAt(this.#day.ms)
    if (refusal !== null) {
      this.refused.set(item.model, (this.refused.get(item.model) ?? 0) + 1)
      return failed(refusal)
    }
    if (provider.answerMs > 0) {
      this.waiting += 1
      await this.#day.pause(provider.answerMs, item.signal)
      this.waiting -= 1
      if (item.signal.aborted) return failed('provider_failed')
    }
    const { costNanocredits } = provider
    try {
      const outcome = await answer(item, process, costNanocredits * 2n, costNanocredits)
      this.answered.set(item.batchId, [...(this.answered.get(item.batchId) ?? []), item.customId])
      return outcome
    } catch (thrown) {
      // The batch's budget has the estimate, and each running item holds its worst case.
      return putBack('payment_required', minute, missingOf(thrown))
    }
  }
}

export const resolveDay: ResolveBatch = async ({ model }) => {
  const provider = dayProviders.find((each) => each.model === model)
  if (provider === undefined) throw new Error(`nobody serves ${model}`)
  const { costNanocredits } = provider
  const estimate = { estimate: costNanocredits, worstCase: costNanocredits * 2n }
  return {
    endpointIds: [model],
    providerSlug: null,
    lane: 'emulated',
    heldLane: 'emulated',
    offers: [{ lane: 'emulated', estimateItem: () => estimate }],
  }
}
