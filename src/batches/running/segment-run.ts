import { type Batch, modelOfItem } from '../../canonical/batch.ts'
import type { Principal } from '../../canonical/principal.ts'
import { sumWaiting, type Waiting, type WaitingReason } from '../../canonical/waiting.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { batchErrorType } from '../../formats/batch/batch-object.ts'
import { usageSumOf } from '../../formats/batch/batch-usage.ts'
import { failureOf, readItemLine, resultLine, type ItemInput } from '../../formats/batch/result-line.ts'
import { BatchOwner } from './batch-owner.ts'
import type { Tries } from './given-back.ts'
import type { ItemOutcome, LoadPrincipal, RunItem } from '../item-contract.ts'
import type { CloseReason } from './item-endings.ts'
import { closedEnding, failedEnding, keptEnding, ownerGoneEnding, tooLargeEnding } from './item-endings.ts'
import { itemRestMinMs, retryRestMs } from './item-retries.ts'
import type { ItemLimiter } from './item-limiter.ts'
import type { BatchMoney } from './batch-money.ts'
import { mayMove } from '../lanes/choose-lane.ts'
import { moveAfter } from '../lanes/item-moves.ts'
import type { LaneRooms, RoomVerdict } from '../lanes/lane-room.ts'
import type { PartWriter } from '../results/part-writer.ts'
import type { Payloads } from '../results/payloads.ts'
import type { Pause } from './pause.ts'
import type { Resting } from './put-back.ts'
import { PutBack } from './put-back.ts'
import type { OpenItem } from './segment-items.ts'
import { type LaneTurn, SegmentLane } from './segment-lane.ts'
import { readOpenItems } from './segment-items.ts'
import type { SegmentLease } from './segment-repository.ts'

/** How long items may take to finish after their batch was cancelled. */
const cancelGraceMs = 30_000

/** A segment whose items cannot run for longer than this is given back, so that a different segment gets its place. */
const segmentRestMs = 5_000

/** How a run ended: every item has its result, or some are left and the segment is to be leased again after `restMs`. */
export type RunEnd =
  | { isDone: true }
  | {
      isDone: false
      restMs: number
      /** The amount that an item lacks for which money was short; null when there is no such item. */
      missing: bigint | null
      /** The earlier tries of items that were put back, by place in the segment. */
      tries: ReadonlyMap<number, Tries>
    }

/** What a run needs. */
export interface SegmentRunDependencies {
  batch: Batch
  lease: SegmentLease
  writer: PartWriter
  payloads: Payloads
  money: BatchMoney
  limiter: ItemLimiter
  rooms: LaneRooms
  runItem: RunItem
  loadPrincipal: LoadPrincipal
  clock: Clock
  pause: Pause
  /** The items' tries in earlier runs, by place in the segment. */
  tries: ReadonlyMap<number, Tries>
  /** How many items this run may have running, so that other segments can start theirs; changes at any time. */
  share(): number
}

/**
 * Works on one leased segment: starts its unfinished items in order, as many at once as the limiter allows, puts back
 * those that cannot run yet, and hands every outcome to the part writer. Ends when no item is left, when it is told to
 * end, or when the remaining items have to wait so long that a different segment should have the place.
 */
export class SegmentRun {
  readonly #dependencies: SegmentRunDependencies
  /** Aborts running items, whose results are not wanted any more. */
  readonly #halt = new AbortController()
  /** Of the running items, what ends them; true for those that only wait for a place at their provider. */
  readonly #calls = new Map<AbortController, boolean>()
  /** Keeps further items from starting. */
  readonly #starting = new AbortController()
  #closing: CloseReason | null = null
  readonly #queue: OpenItem[] = []
  #next = 0
  readonly #putBack: PutBack
  readonly #owner: BatchOwner
  readonly #lane: SegmentLane
  #running = 0
  #hasProgressed = false
  #changed = Promise.withResolvers<void>()
  #canEnlarge = true
  /** Monotonic time of the last item that ended. */
  #progressMs: number

  constructor(dependencies: SegmentRunDependencies) {
    this.#dependencies = dependencies
    this.#putBack = new PutBack(dependencies.clock)
    this.#owner = new BatchOwner(dependencies)
    this.#lane = new SegmentLane(dependencies, () => this.wake())
    this.#progressMs = dependencies.clock.monotonicMs()
  }

  /** Ends the items that have not started; running ones may finish, but not beyond the deadline. */
  close(reason: CloseReason): void {
    if (this.#closing !== null) return
    this.#closing = reason
    this.stop()
    if (reason === 'batch_expired') this.halt()
    else void this.#dependencies.pause(cancelGraceMs, this.#halt.signal).then(() => this.halt())
  }

  /** No more items start; running ones finish, but not those that still wait for a place at their provider. */
  stop(): void {
    this.#starting.abort()
    for (const [call, isQueued] of this.#calls) if (isQueued) call.abort()
    this.wake()
  }

  /** Aborts the running items. */
  halt(): void {
    this.stop()
    this.#halt.abort()
    for (const call of this.#calls.keys()) call.abort()
  }

  /** The process stops for good: nothing waits for storage any more. */
  abandon(): void {
    this.#dependencies.writer.close()
    this.halt()
  }

  /** The lease is lost: no result of this run counts any more. */
  lose(): void {
    this.#dependencies.writer.lose()
    this.halt()
  }

  /** Makes the run look again at what it waits for. */
  wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }

  /** Whether an item of the segment has ended in this run. */
  get hasProgressed(): boolean {
    return this.#hasProgressed
  }

  /** Why items of the segment wait for their next try, and until when. */
  get waiting(): Waiting[] {
    const queued = this.#closing === null ? this.#lane.waiting(this.#queue.length - this.#next) : []
    return queued.length === 0 ? this.#putBack.waiting : sumWaiting([...this.#putBack.waiting, ...queued])
  }

  async run(): Promise<RunEnd> {
    const { lease, payloads, writer } = this.#dependencies
    for (const item of await readOpenItems(payloads, lease)) {
      const tries = this.#dependencies.tries.get(item.index)
      if (tries) this.#putBack.put({ item, dueMs: 0, missing: null, ...tries })
      else this.#queue.push(item)
    }
    const isOwnerGone = this.#isGivenUpByJobs
    if (!isOwnerGone && (await this.#owner.read())) await this.#startItems()
    while (this.#running > 0) await this.#changed.promise
    this.#lane.close()
    if (this.#closing !== null) this.#closeRest(this.#closing)
    else if (isOwnerGone || this.#owner.lastRead === null) this.#endRest(ownerGoneEnding)
    await writer.flush()
    if (!writer.isLost && writer.doneCount === lease.itemCount) return { isDone: true }
    const { missing, tries } = this.#putBack
    // A run that gave its place up left items that could start at once.
    const restMs = this.#next < this.#queue.length && !this.#lane.isBlocked ? 0 : this.#restMs
    return { isDone: false, restMs, missing, tries }
  }

  /** Nothing runs live where the caller named the lane of jobs: its planner has given such items up because the key was gone. */
  get #isGivenUpByJobs(): boolean {
    const { batch } = this.#dependencies
    return batch.lane === 'native' && !mayMove(batch)
  }

  /** Starts items until none is left to start, or until the owner is gone. */
  async #startItems(): Promise<void> {
    const { batch, limiter, writer } = this.#dependencies
    const { signal } = this.#starting
    const claim = { ownerId: batch.organizationId, workId: batch.id, deadlineMs: batch.expiresAtMs }
    while (!signal.aborted && !writer.isLost) {
      const ready = this.#mayStart() ? this.#takeReady() : null
      if (ready === null) {
        if (!(await this.#waitForReady())) return
        continue
      }
      const release = await limiter.acquire(claim, signal)
      const owner = release === null ? null : await this.#owner.current()
      // Other segments may have taken the lane's last place meanwhile.
      if (release !== null && owner !== null && ready.moved === null && !this.#lane.hasPlace()) {
        release()
        this.#putBack.put(ready)
        continue
      }
      if (release !== null && owner !== null && !signal.aborted) {
        void this.#runOne(ready, owner, release)
        continue
      }
      release?.()
      this.#putBack.put(ready)
      if (this.#owner.lastRead === null) return
    }
  }

  #mayStart(): boolean {
    return !this.#dependencies.writer.isFull && this.#running < this.#dependencies.share()
  }

  /** The next item to start: an item that was put back and is due, else the next in order. */
  #takeReady(): Resting | null {
    const item = this.#queue[this.#next]
    if (item === undefined && this.#putBack.count === 0) return null
    const hasPlace = this.#lane.hasPlace()
    this.#putBack.noteBlocked(hasPlace ? null : this.#lane.waitsFor)
    const due = this.#putBack.takeDue(!hasPlace)
    if (due !== null) return due
    if (item === undefined || !hasPlace) return null
    this.#next++
    return { item, attempts: 0, dueMs: 0, missing: null, sinceMs: null, error: null, moved: null }
  }

  /** Milliseconds until an item may be ready. */
  get #restMs(): number {
    if (!this.#lane.isBlocked) return this.#putBack.restMs
    return Math.min(this.#lane.restMs, this.#putBack.movedRestMs ?? Number.POSITIVE_INFINITY)
  }

  /** Waits for a change; false when this run should end instead of waiting. */
  async #waitForReady(): Promise<boolean> {
    const changed = this.#changed.promise
    if (!this.#mayStart()) {
      await changed
      return true
    }
    if (this.#putBack.count === 0 && this.#next === this.#queue.length) {
      if (this.#running === 0) return false
      await changed
      return true
    }
    const waitMs = this.#restMs
    if (this.#running === 0 && (waitMs > segmentRestMs || this.#isStuck())) return false
    const done = new AbortController()
    await Promise.race([
      changed,
      this.#dependencies.pause(waitMs, AbortSignal.any([done.signal, this.#starting.signal])),
    ])
    done.abort()
    return true
  }

  /** Whether no item has ended for a while. A run that only waits for money or a provider must not keep its place. */
  #isStuck(): boolean {
    return this.#dependencies.clock.monotonicMs() - this.#progressMs > segmentRestMs
  }

  async #runOne(ready: Resting, owner: Principal, release: () => void): Promise<void> {
    this.#running++
    this.#putBack.begin(ready)
    const input = readItemLine(ready.item.line)
    const { batch } = this.#dependencies
    const turn = this.#lane.begin(`${batch.id}/${ready.item.item}`, ready.moved)
    const asked = { body: input.body, principal: owner, tier: turn.tier }
    const outcome = await this.#execute(ready.item, input, asked)
    const verdict = turn.end(outcome)
    this.#putBack.end(ready)
    release()
    this.#settle({ ...ready, moved: turn.moved }, input, { outcome, verdict })
    this.#running--
    this.wake()
  }

  async #execute(
    item: OpenItem,
    input: ItemInput,
    { body, principal, tier }: Pick<ItemInput, 'body'> & { principal: Principal; tier: LaneTurn['tier'] },
  ): Promise<ItemOutcome> {
    const { batch, money, runItem } = this.#dependencies
    if (body === null) return tooLargeEnding()
    const call = new AbortController()
    this.#calls.set(call, false)
    if (this.#halt.signal.aborted) call.abort()
    try {
      return await runItem({
        principal,
        batchId: batch.id,
        customId: input.customId,
        endpoint: batch.endpoint,
        model: modelOfItem(batch, item.item),
        body,
        providerOnly: batch.providerOnly,
        betas: batch.betas,
        tier,
        budgets: money.budgetsOf(batch),
        signal: call.signal,
        deadlineMs: batch.expiresAtMs,
        enlarge: (missing) => money.enlargeForCharge(batch, principal, missing),
        onQueued: (place) => {
          this.#putBack.noteQueued(item, place)
          this.#calls.set(call, place !== null)
          if (place !== null && this.#starting.signal.aborted) call.abort()
        },
      })
    } catch (thrown) {
      // `RunItem` promises not to throw. If it does, the item ends with an error, so that one bug cannot hold up a batch for a day.
      return failedEnding(new GatewayError('internal', 'Internal server error.', { cause: thrown }))
    } finally {
      this.#calls.delete(call)
    }
  }

  #settle(ready: Resting, input: ItemInput, ended: EndedTurn): void {
    const { outcome } = ended
    const next = this.#nextTry(ready, ended)
    if (next === null) return this.#finish(ready, input, outcome)
    if (outcome.capture) this.#dependencies.money.release(outcome.capture.hold)
    const missing = outcome.error?.type === 'payment_required' ? outcome.missingNanocredits : null
    const { clock } = this.#dependencies
    const monotonicMs = clock.monotonicMs()
    const resting = {
      item: ready.item,
      attempts: next.attempts,
      moved: next.moved,
      dueMs: monotonicMs + next.restMs,
      askedUntilMs: monotonicMs + (outcome.retryAfterMs ?? 0),
      missing,
      sinceMs: ready.sinceMs ?? clock.nowMs(),
      // An item that is given up because the process stops waits for nothing, and no more money was requested for it.
      error:
        this.#isGivenUp(outcome) || (missing !== null && this.#starting.signal.aborted)
          ? null
          : this.#reasonOf(ended),
    }
    this.#putBack.put(resting)
    if (missing !== null) void this.#enlarge(resting, missing)
  }

  /** Whether the item was ended because this run ends, and so did not have its try. */
  #isGivenUp({ response, retryLaterMs, missingNanocredits }: ItemOutcome): boolean {
    if (response !== null) return false
    const isPutBack = retryLaterMs !== null && missingNanocredits === 0n
    return this.#halt.signal.aborted || (isPutBack && this.#starting.signal.aborted)
  }

  /** How long an item is put back for, and how it goes on then; null when its outcome is final. */
  #nextTry(
    { attempts, moved }: Resting,
    { outcome, verdict }: EndedTurn,
  ): (Pick<Resting, 'attempts' | 'moved'> & { restMs: number }) | null {
    const { batch, clock } = this.#dependencies
    if (this.#isGivenUp(outcome)) return { attempts, moved, restMs: 0 }
    if (verdict === 'waits') return { attempts, moved, restMs: Math.max(this.#lane.restMs, itemRestMinMs) }
    if (verdict === 'given up') return null
    const leftMs = batch.expiresAtMs - clock.nowMs()
    const restMs = retryRestMs(outcome, { attempts, leftMs })
    if (restMs !== null)
      return { attempts: outcome.retryLaterMs === null ? attempts + 1 : attempts, moved, restMs }
    const reason = outcome.error && outcome.hasAskedTier ? moveAfter(batch, outcome.error) : null
    return reason === null ? null : { attempts: 0, moved: reason, restMs: itemRestMinMs }
  }

  #reasonOf({ outcome: { error }, verdict }: EndedTurn): WaitingReason | null {
    if (verdict === 'waits') return this.#lane.waitsFor
    if (error?.type !== 'payment_required') return error
    // The item's own error names the batch's budget, which the owner cannot see.
    return { type: error.type, message: 'This batch waits for credits, or for a limit to be raised.' }
  }

  /** More money lets the item go on at once. After a refusal this run does not ask again until a running item has ended. */
  async #enlarge(resting: Resting, missing: bigint): Promise<void> {
    if (!this.#canEnlarge || this.#starting.signal.aborted) return
    const owner = await this.#owner.current()
    const { batch, money } = this.#dependencies
    const isEnlarged = owner !== null && (await money.enlarge(batch, owner, missing).catch(() => false))
    this.#canEnlarge = isEnlarged
    if (isEnlarged) resting.dueMs = 0
    this.wake()
  }

  #finish({ item, moved }: Finishing, { customId }: ItemInput, outcome: ItemOutcome): void {
    const { batch, money, writer } = this.#dependencies
    const final = keptEnding(outcome)
    // An item is charged only when its caller gets an answer.
    const isFailed = final.response === null
    const capture = isFailed ? null : final.capture
    if (outcome.capture && capture === null) money.release(outcome.capture.hold)
    this.#canEnlarge = true
    this.#hasProgressed = true
    this.#progressMs = this.#dependencies.clock.monotonicMs()
    writer.add({
      index: item.index,
      item: item.item,
      line: resultLine({ batchId: batch.id, item: item.item, customId }, final),
      usage: isFailed || final.usage === null ? null : usageSumOf(final.usage),
      error: isFailed ? failureOf(final) : null,
      capture,
      move: moved === null ? null : { from: batch.lane, to: 'emulated', reason: moved },
    })
  }

  #closeRest(reason: CloseReason): void {
    const isUnpaid = batchErrorType(this.#dependencies.batch.errorJson) === 'payment_required'
    const { unpaid } = this.#putBack
    this.#endRest(({ index }) => closedEnding(reason, isUnpaid || unpaid.has(index)))
  }

  /** Ends every item that has no result, with an error. */
  #endRest(endingOf: (item: OpenItem) => ItemOutcome): void {
    const rest = [...this.#putBack.takeAll(), ...this.#queue.slice(this.#next)]
    this.#next = this.#queue.length
    for (const item of rest) this.#finish({ item, moved: null }, readItemLine(item.line), endingOf(item))
  }
}

/** An item that ends, and why it left the lane of its batch; null when it did not, or did not run. */
type Finishing = Pick<Resting, 'item' | 'moved'>

/** How an item's turn in its lane ended. */
interface EndedTurn {
  outcome: ItemOutcome
  verdict: RoomVerdict
}
