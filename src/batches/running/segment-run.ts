import type { Principal } from '../../canonical/principal.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { principalFreshMs } from '../../core/limits/access.ts'
import {
  batchItemBytesMax,
  batchItemValuesBytesMax,
  cancelGraceMs,
  itemFailuresMax,
  itemRefusalsMax,
  itemTimeoutsMax,
  itemRestMaxMs,
  itemRestMinMs,
  itemRetryMs,
  segmentRestMs,
} from '../../core/limits/batches.ts'
import type { Batch } from '../../canonical/batch.ts'
import { batchErrorType } from '../../formats/batch/batch-object.ts'
import { usageSumOf } from '../../formats/batch/batch-usage.ts'
import type { Tries } from './given-back.ts'
import type { ItemOutcome, LoadPrincipal, QueuedPlace, RunItem } from '../item-contract.ts'
import type { ItemLimiter } from './limiter.ts'
import type { BatchMoney } from './money.ts'
import type { PartWriter } from '../results/part-writer.ts'
import type { Payloads } from '../results/payload-repository.ts'
import type { Pause } from './pause.ts'
import {
  isJson,
  itemErrorOf,
  readItemLine,
  resultLine,
  type ItemInput,
} from '../../formats/batch/result-line.ts'
import type { OpenItem } from './segment-items.ts'
import { readOpenItems } from './segment-items.ts'
import type { SegmentLease } from './segment-repository.ts'
import type { Waiting, WaitingReason } from '../../canonical/waiting.ts'
import { sumWaiting } from '../../canonical/waiting.ts'

/** Why what is left of a batch is ended without running. */
export type CloseReason = 'batch_cancelled' | 'batch_expired'

/** How a run ended: every item has its result; or some are left, to be looked at again after `restMs`. */
export type RunEnd =
  | { isDone: true }
  | {
      isDone: false
      restMs: number
      /** What one of the items that money was short for needs more than there is; null when none was. */
      missing: bigint | null
      /** What items that were put back have behind them, by place in the segment. */
      tries: ReadonlyMap<number, Tries>
    }

/** What a run needs. */
export interface SegmentRunParts {
  batch: Batch
  lease: SegmentLease
  writer: PartWriter
  payloads: Payloads
  money: BatchMoney
  limiter: ItemLimiter
  runItem: RunItem
  loadPrincipal: LoadPrincipal
  clock: Clock
  pause: Pause
  /** What items have behind them from earlier runs, by place in the segment. */
  tries: ReadonlyMap<number, Tries>
  /** Items this run may have under way, so that one segment does not keep others from starting; changes at any time. */
  share(): number
}

/** An item that was put back. */
interface Resting {
  item: OpenItem
  attempts: number
  /** Monotonic. */
  dueMs: number
  /** What money was short of for it; null when it was put back for another reason. */
  missing: bigint | null
  /** Wall clock: since when it waits; null when it was never put back. */
  sinceMs: number | null
  /** Until when the provider said it wants no calls; monotonic. */
  askedUntilMs?: number
  /** What it waits for; null when it only has not been started. */
  error: WaitingReason | null
}

/** Tries after failures that say nothing about the item and may be over a while later. */
const attemptsMax: ReadonlyMap<string, number> = new Map([
  ['provider_failed', itemFailuresMax],
  ['provider_overloaded', itemRefusalsMax],
  ['provider_timeout', itemTimeoutsMax],
  ['upstream_rate_limited', itemRefusalsMax],
  ['rate_limit_exceeded', itemRefusalsMax],
  ['no_healthy_endpoint', itemRefusalsMax],
])

/**
 * Works on one leased segment: starts its unfinished items in order, as many at once as the limiter lets, puts back what
 * cannot run yet, and hands every ending to the part writer. Ends when nothing is left, when it is told to, or when what
 * is left has to wait so long that others should have the place.
 */
export class SegmentRun {
  readonly #parts: SegmentRunParts
  /** Aborts items under way: nobody wants their results any more. */
  readonly #halt = new AbortController()
  /** Aborts the starting of items. */
  readonly #starting = new AbortController()
  #closing: CloseReason | null = null
  readonly #queue: OpenItem[] = []
  #next = 0
  #resting: Resting[] = []
  #running = 0
  /** Items under way that were put back before: whether they wait any longer is about to be known. */
  readonly #retried = new Set<Resting>()
  /** Items under way that wait for a provider, with the wall clock's time since when. */
  readonly #queued = new Map<OpenItem, { place: QueuedPlace; sinceMs: number }>()
  #hasProgressed = false
  #changed = Promise.withResolvers<void>()
  #canEnlarge = true
  /** Monotonic time of the last item that ended. */
  #progressMs: number
  /** As last read; null when the key may no longer be used. */
  #owner: Principal | null = null
  /** Monotonic time of that reading. */
  #ownerReadMs = 0

  constructor(parts: SegmentRunParts) {
    this.#parts = parts
    this.#progressMs = parts.clock.monotonicMs()
  }

  /** The rest of the segment ends without running; what runs may finish first, but not beyond the deadline. */
  close(reason: CloseReason): void {
    if (this.#closing !== null) return
    this.#closing = reason
    this.stop()
    if (reason === 'batch_expired') this.halt()
    else void this.#parts.pause(cancelGraceMs, this.#halt.signal).then(() => this.halt())
  }

  /** No more items start; those under way finish. */
  stop(): void {
    this.#starting.abort()
    this.wake()
  }

  /** Items under way are given up. */
  halt(): void {
    this.stop()
    this.#halt.abort()
  }

  /** The process stops for good: nothing waits for storage any more. */
  abandon(): void {
    this.#parts.writer.close()
    this.halt()
  }

  /** The lease is gone: nothing of this run counts any more. */
  lose(): void {
    this.#parts.writer.lose()
    this.halt()
  }

  /** Something may have changed that the run waits for. */
  wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }

  /** Whether an item of the segment has ended in this run. */
  get hasProgressed(): boolean {
    return this.#hasProgressed
  }

  /** What items wait for now: those that were put back, and those that wait for a provider that rests. */
  get waiting(): Waiting[] {
    const { clock } = this.#parts
    const [nowMs, monotonicMs] = [clock.nowMs(), clock.monotonicMs()]
    const queued = [...this.#queued].filter(([, { place }]) => place.restMs() > 0)
    const ofQueued = queued.map(([, { place, sinceMs }]) => {
      return { ...restOf(place), items: 1, sinceMs, nextTryMs: nowMs + Math.ceil(place.restMs()) }
    })
    const counted = new Set(queued.map(([item]) => item))
    const ofPutBack = [...this.#resting, ...this.#retried].flatMap((one) => {
      const { item, error, sinceMs, dueMs, askedUntilMs = 0 } = one
      if (error === null || counted.has(item)) return []
      const waitMs = Math.max(0, Math.ceil(Math.max(dueMs, askedUntilMs) - monotonicMs))
      return [{ ...error, items: 1, sinceMs: sinceMs ?? nowMs, nextTryMs: nowMs + waitMs }]
    })
    return sumWaiting([...ofPutBack, ...ofQueued])
  }

  async run(): Promise<RunEnd> {
    const { lease, payloads, writer } = this.#parts
    for (const item of await readOpenItems(payloads, lease)) {
      const tries = this.#parts.tries.get(item.index)
      if (tries) this.#resting.push({ item, dueMs: 0, missing: null, ...tries })
      else this.#queue.push(item)
    }
    await this.#readOwner()
    if (this.#owner) await this.#startItems()
    while (this.#running > 0) await this.#changed.promise
    if (this.#closing !== null) this.#closeRest(this.#closing)
    else if (this.#owner === null) this.#endRest(ownerGone())
    await writer.flush()
    if (!writer.isLost && writer.doneCount === lease.itemCount) return { isDone: true }
    return {
      isDone: false,
      restMs: this.#restMs(),
      missing: this.#resting.find(({ missing }) => missing !== null)?.missing ?? null,
      tries: new Map(
        this.#resting.flatMap(({ item, attempts, sinceMs, error }) =>
          sinceMs === null ? [] : [[item.index, { attempts, sinceMs, error }]],
        ),
      ),
    }
  }

  async #readOwner(): Promise<void> {
    const { batch, clock, loadPrincipal } = this.#parts
    this.#ownerReadMs = clock.monotonicMs()
    this.#owner = await loadPrincipal({ organizationId: batch.organizationId, keyId: batch.keyId })
  }

  /** A segment may run for hours; a key that is taken away or limited meanwhile is heeded as quickly as in live calls. */
  async #currentOwner(): Promise<Principal | null> {
    if (this.#parts.clock.monotonicMs() - this.#ownerReadMs >= principalFreshMs) {
      // While storage is out of order, what was read last holds.
      await this.#readOwner().catch(() => undefined)
    }
    return this.#owner
  }

  /** Until there is nothing more to start, or the owner is gone. */
  async #startItems(): Promise<void> {
    const { batch, limiter, writer } = this.#parts
    const { signal } = this.#starting
    while (!signal.aborted && !writer.isLost) {
      const ready = this.#mayStart() ? this.#takeReady() : null
      if (ready === null) {
        if (!(await this.#waitForReady())) return
        continue
      }
      const release = await limiter.acquire(batch.organizationId, signal)
      const owner = release === null ? null : await this.#currentOwner()
      if (release !== null && owner !== null && !signal.aborted) {
        void this.#runOne(ready, owner, release)
        continue
      }
      release?.()
      this.#resting.push(ready)
      if (this.#owner === null) return
    }
  }

  #mayStart(): boolean {
    return !this.#parts.writer.isFull && this.#running < this.#parts.share()
  }

  /** The next item to start: first what was put back and is due, then the next in order. */
  #takeReady(): Resting | null {
    const nowMs = this.#parts.clock.monotonicMs()
    const due = this.#resting.findIndex(({ dueMs }) => dueMs <= nowMs)
    if (due >= 0) return this.#resting.splice(due, 1)[0] ?? null
    const item = this.#queue[this.#next]
    if (item === undefined) return null
    this.#next++
    return { item, attempts: 0, dueMs: 0, missing: null, sinceMs: null, error: null }
  }

  /** Waits for a change; false when there is nothing worth waiting for here. */
  async #waitForReady(): Promise<boolean> {
    const changed = this.#changed.promise
    if (!this.#mayStart()) {
      await changed
      return true
    }
    if (this.#resting.length === 0) {
      if (this.#running === 0) return false
      await changed
      return true
    }
    const waitMs = this.#restMs()
    if (this.#running === 0 && (waitMs > segmentRestMs || this.#isStuck())) return false
    const done = new AbortController()
    await Promise.race([
      changed,
      this.#parts.pause(waitMs, AbortSignal.any([done.signal, this.#starting.signal])),
    ])
    done.abort()
    return true
  }

  /** Nothing has ended for a while: waiting for money or a provider is no reason to keep others waiting. */
  #isStuck(): boolean {
    return this.#parts.clock.monotonicMs() - this.#progressMs > segmentRestMs
  }

  #restMs(): number {
    const nowMs = this.#parts.clock.monotonicMs()
    const dueMs = Math.min(...this.#resting.map((resting) => resting.dueMs))
    return Number.isFinite(dueMs) ? Math.max(0, dueMs - nowMs) : 0
  }

  async #runOne(ready: Resting, owner: Principal, release: () => void): Promise<void> {
    this.#running++
    if (ready.error !== null) this.#retried.add(ready)
    const input = readItemLine(ready.item.line)
    const outcome =
      input.body === null ? tooLarge() : await this.#execute(ready.item, input, input.body, owner)
    this.#queued.delete(ready.item)
    this.#retried.delete(ready)
    release()
    this.#settle(ready, input, outcome)
    this.#running--
    this.wake()
  }

  async #execute(
    item: OpenItem,
    input: ItemInput,
    body: Uint8Array,
    principal: Principal,
  ): Promise<ItemOutcome> {
    const { batch, money, runItem, clock } = this.#parts
    try {
      return await runItem({
        principal,
        batchId: batch.id,
        customId: input.customId,
        endpoint: batch.endpoint,
        model: batch.model,
        body,
        providerOnly: batch.providerOnly,
        budgets: money.budgetsOf(batch),
        signal: this.#halt.signal,
        deadlineMs: batch.expiresAtMs,
        onQueued: (place) => {
          if (place === null) this.#queued.delete(item)
          else this.#queued.set(item, { place, sinceMs: clock.nowMs() })
        },
      })
    } catch (thrown) {
      // Promised not to happen. The item ends with it, so that one bug cannot hold up a batch for a day.
      return failure(new GatewayError('internal', 'Internal server error.', { cause: thrown }))
    }
  }

  #settle(ready: Resting, input: ItemInput, outcome: ItemOutcome): void {
    const restMs = this.#restOf(ready, outcome)
    if (restMs === null) return this.#finish(ready.item, input, outcome)
    if (outcome.capture) this.#parts.money.release(outcome.capture.hold)
    const missing = outcome.error?.type === 'payment_required' ? outcome.missingNanocredits : null
    const attempts = outcome.retryLaterMs === null ? ready.attempts + 1 : ready.attempts
    const { clock } = this.#parts
    const monotonicMs = clock.monotonicMs()
    const resting = {
      item: ready.item,
      attempts,
      dueMs: monotonicMs + restMs,
      askedUntilMs: monotonicMs + (outcome.retryAfterMs ?? 0),
      missing,
      sinceMs: ready.sinceMs ?? clock.nowMs(),
      // What is given up because the process stops waits for nothing.
      error: this.#halt.signal.aborted ? null : waitsFor(outcome),
    }
    this.#resting.push(resting)
    if (missing !== null) void this.#enlarge(resting, missing)
  }

  /** How long an item is put back for; null when its outcome is final. */
  #restOf(ready: Resting, outcome: ItemOutcome): number | null {
    if (outcome.response !== null) return null
    if (this.#halt.signal.aborted) return 0
    if (outcome.retryLaterMs !== null)
      return Math.min(Math.max(outcome.retryLaterMs, itemRestMinMs), itemRestMaxMs)
    if (ready.attempts + 1 >= (attemptsMax.get(outcome.error?.type ?? '') ?? 0)) return null
    const waitMs = Math.min(itemRetryMs * 2 ** ready.attempts, itemRestMaxMs)
    const leftMs = this.#parts.batch.expiresAtMs - this.#parts.clock.nowMs()
    return waitMs < leftMs ? waitMs : null
  }

  /** More money lets the item go on at once. A refusal is not asked again in this run, unless running items end. */
  async #enlarge(resting: Resting, missing: bigint): Promise<void> {
    if (!this.#canEnlarge || this.#starting.signal.aborted) return
    const owner = await this.#currentOwner()
    const { batch, money } = this.#parts
    const isEnlarged = owner !== null && (await money.enlarge(batch, owner, missing).catch(() => false))
    this.#canEnlarge = isEnlarged
    if (isEnlarged) resting.dueMs = 0
    this.wake()
  }

  #finish(item: OpenItem, { customId }: ItemInput, outcome: ItemOutcome): void {
    const { batch, money, writer } = this.#parts
    let final = outcome
    if (outcome.response !== null && !isJson(outcome.response.body)) {
      final = failure(
        new GatewayError('provider_failed', 'The provider answered with something that is not JSON.'),
      )
    }
    // Only what the caller gets is charged.
    const isFailed = final.response === null
    const capture = isFailed ? null : final.capture
    if (outcome.capture && capture === null) money.release(outcome.capture.hold)
    this.#canEnlarge = true
    this.#hasProgressed = true
    this.#progressMs = this.#parts.clock.monotonicMs()
    writer.add({
      index: item.index,
      item: item.item,
      line: resultLine({ batchId: batch.id, item: item.item, customId }, final),
      usage: isFailed || final.usage === null ? null : usageSumOf(final.usage),
      isFailed,
      capture,
    })
  }

  #closeRest(reason: CloseReason): void {
    const isUnpaid = batchErrorType(this.#parts.batch.errorJson) === 'payment_required'
    const unpaid = new Set(
      this.#resting.filter(({ missing }) => missing !== null).map(({ item }) => item.index),
    )
    this.#endRest((item) => {
      const type =
        reason === 'batch_expired' && (isUnpaid || unpaid.has(item.index)) ? 'payment_required' : reason
      return new GatewayError(type, closeMessages[type])
    })
  }

  /** Ends everything that has no result with an error. */
  #endRest(errorOf: (item: OpenItem) => GatewayError): void {
    const rest = [...this.#resting.map(({ item }) => item), ...this.#queue.slice(this.#next)]
    this.#resting = []
    this.#next = this.#queue.length
    for (const item of rest) this.#finish(item, readItemLine(item.line), failure(errorOf(item)))
  }
}

const closeMessages = {
  batch_cancelled: 'The batch was cancelled before this request was finished.',
  batch_expired: 'The batch expired before this request was finished.',
  payment_required: 'The batch expired while this request waited for credits.',
}

function waitsFor({ error }: ItemOutcome): Resting['error'] {
  if (error?.type !== 'payment_required') return error
  // The item's own error speaks of the batch's budget, which its owner cannot see.
  return { type: error.type, message: 'This batch waits for credits, or for a limit to be raised.' }
}

function restOf({ providerName }: QueuedPlace): NonNullable<Resting['error']> {
  const message = `${providerName} limits the rate of calls or is overloaded; the batch waits for as long as it asked.`
  return { type: 'upstream_rate_limited', message }
}

function failure(error: GatewayError): ItemOutcome {
  return {
    response: null,
    error: itemErrorOf(error),
    usage: null,
    capture: null,
    retryLaterMs: null,
    missingNanocredits: 0n,
  }
}

function tooLarge(): ItemOutcome {
  const message = `The item is larger than ${batchItemBytesMax} bytes, or has more than ${batchItemValuesBytesMax} besides its long texts. Send less in it.`
  return failure(new GatewayError('payload_too_large', message, { param: 'body' }))
}

function ownerGone(): (item: OpenItem) => GatewayError {
  const error = new GatewayError(
    'permission_denied',
    'The API key that created this batch may no longer be used.',
  )
  return () => error
}
