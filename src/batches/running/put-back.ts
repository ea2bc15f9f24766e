import type { Clock } from '../../core/clock.ts'
import type { Waiting, WaitingReason } from '../../canonical/waiting.ts'
import { sumWaiting } from '../../canonical/waiting.ts'
import type { QueuedPlace } from '../item-contract.ts'
import type { MoveReason } from '../lanes/item-moves.ts'
import type { Tries } from './given-back.ts'
import type { OpenItem } from './segment-items.ts'

/** An item that was put back, or that is about to start for the first time. */
export interface Resting {
  item: OpenItem
  attempts: number
  /** Monotonic. */
  dueMs: number
  /** The amount that money was short by; null when it was put back for a different reason. */
  missing: bigint | null
  /** Wall clock time at which it began to wait; null when it was never put back. */
  sinceMs: number | null
  /** The monotonic time until which the provider asked for no calls. */
  askedUntilMs?: number
  /** What it waits for; null when it has not been started yet. */
  error: WaitingReason | null
  /** Why it left the lane of its batch; null when it has not. */
  moved: MoveReason | null
}

/** The waiting items of one segment: those that were put back, and running ones that wait for a provider. */
export class PutBack {
  readonly #clock: Clock
  #resting: Resting[] = []
  /** Running items that were put back before; their result will tell whether they still wait. */
  readonly #retried = new Set<Resting>()
  /** Running items that wait for a provider, and the wall clock time at which they began to. */
  readonly #queued = new Map<OpenItem, { place: QueuedPlace; sinceMs: number }>()
  /** What items wait for that are due but cannot start in their lane; null while they can. */
  #blockedBy: WaitingReason | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Records whether the lane of the batch takes items; `reason`: what they wait for, null when it does. */
  noteBlocked(reason: WaitingReason | null): void {
    this.#blockedBy = reason
  }

  get count(): number {
    return this.#resting.length
  }

  put(resting: Resting): void {
    this.#resting.push(resting)
  }

  /** The first item that is due, with `movedOnly` of those that left the lane of their batch; null when none is. */
  takeDue(movedOnly: boolean): Resting | null {
    const nowMs = this.#clock.monotonicMs()
    const due = this.#resting.findIndex(
      ({ dueMs, moved }) => dueMs <= nowMs && (!movedOnly || moved !== null),
    )
    return due >= 0 ? (this.#resting.splice(due, 1)[0] ?? null) : null
  }

  takeAll(): OpenItem[] {
    return this.#resting.splice(0).map(({ item }) => item)
  }

  begin(ready: Resting): void {
    if (ready.error !== null) this.#retried.add(ready)
  }

  end(ready: Resting): void {
    this.#queued.delete(ready.item)
    this.#retried.delete(ready)
  }

  /** Records that a running item waits for a provider; null when it waits no longer. */
  noteQueued(item: OpenItem, place: QueuedPlace | null): void {
    if (place === null) this.#queued.delete(item)
    else this.#queued.set(item, { place, sinceMs: this.#clock.nowMs() })
  }

  /** Milliseconds until the first item is due; 0 when none waits. */
  get restMs(): number {
    return this.#restMsOf(this.#resting) ?? 0
  }

  /** Milliseconds until the first item is due that left the lane of its batch; null when there is none. */
  get movedRestMs(): number | null {
    return this.#restMsOf(this.#resting.filter(({ moved }) => moved !== null))
  }

  #restMsOf(resting: readonly Resting[]): number | null {
    const dueMs = Math.min(...resting.map((one) => one.dueMs))
    return Number.isFinite(dueMs) ? Math.max(0, dueMs - this.#clock.monotonicMs()) : null
  }

  /** The amount that an item lacks for which money was short; null when there is no such item. */
  get missing(): bigint | null {
    return this.#resting.find((one) => this.#isShort(one))?.missing ?? null
  }

  /** Places in the segment of items for which money was short. */
  get unpaid(): ReadonlySet<number> {
    const short = this.#resting.filter((one) => this.#isShort(one))
    return new Set(short.map(({ item }) => item.index))
  }

  /** An item that could start but for its lane waits for the lane, whatever it waited for before. */
  #isBlocked({ dueMs, moved }: Resting): boolean {
    return this.#blockedBy !== null && moved === null && dueMs <= this.#clock.monotonicMs()
  }

  #isShort(one: Resting): boolean {
    return one.missing !== null && !this.#isBlocked(one)
  }

  /** The items' earlier tries, by place in the segment. */
  get tries(): ReadonlyMap<number, Tries> {
    return new Map(
      this.#resting.flatMap(({ item, attempts, sinceMs, error, moved }) =>
        sinceMs === null ? [] : [[item.index, { attempts, sinceMs, error, moved }]],
      ),
    )
  }

  /** Why items of the segment wait for their next try, and until when: put back after a failure, or for a resting provider. */
  get waiting(): Waiting[] {
    const [nowMs, monotonicMs] = [this.#clock.nowMs(), this.#clock.monotonicMs()]
    const queued = [...this.#queued].filter(([, { place }]) => place.restMs() > 0)
    const ofQueued = queued.map(([, { place, sinceMs }]) => {
      return { ...reasonOf(place), items: 1, sinceMs, nextTryMs: nowMs + Math.ceil(place.restMs()) }
    })
    const counted = new Set(queued.map(([item]) => item))
    const ofPutBack = [...this.#resting, ...this.#retried].flatMap((one) => {
      const { item, sinceMs, dueMs, askedUntilMs = 0 } = one
      const error = this.#isBlocked(one) ? this.#blockedBy : one.error
      if (error === null || counted.has(item)) return []
      const waitMs = Math.max(0, Math.ceil(Math.max(dueMs, askedUntilMs) - monotonicMs))
      return [{ ...error, items: 1, sinceMs: sinceMs ?? nowMs, nextTryMs: nowMs + waitMs }]
    })
    return sumWaiting([...ofPutBack, ...ofQueued])
  }
}

function reasonOf({ providerName }: QueuedPlace): WaitingReason {
  const message = `${providerName} limits the rate of calls or is overloaded; the batch waits for as long as it asked.`
  return { type: 'upstream_rate_limited', message }
}
