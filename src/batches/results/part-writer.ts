import type { PreparedCaptures } from '../../billing/billing.ts'
import type { LaneMove } from '../../canonical/batch.ts'
import type { Clock } from '../../core/clock.ts'
import type { ItemError } from '../../formats/batch/result-line.ts'
import { errorLine } from '../../formats/batch/result-files.ts'
import { newId } from '../../core/ids.ts'
import { resultsHoldMs } from '../../core/limits/batches.ts'
import { countItems, type ItemCounts, statusGuard } from '../batch-repository.ts'
import { countMoves } from '../lanes/move-repository.ts'
import { withBits } from './bitmap.ts'
import type { Committer, Patience } from '../committer.ts'
import type { ItemCapture } from '../item-contract.ts'
import type { BatchMoney } from '../running/batch-money.ts'
import type { ResultLine } from './parts.ts'
import { encodePart } from './parts.ts'
import type { Payloads } from './payloads.ts'
import type { Pause } from '../running/pause.ts'
import type { ResultPart, PartRepository } from './part-repository.ts'
import type { Ramp } from '../running/ramp.ts'
import type { SegmentLease } from '../running/segment-repository.ts'
import { commitPart, leaseGuard } from '../running/segment-repository.ts'

/** Results gathered in memory before they become a durable part; a crash repeats at most these. */
const partBytesMax = 1_000_000
/** Results of a part: its unit has as many captures, behind which live calls wait for theirs. */
export const partItemsMax = 256

/** A compressed part up to this size lives in its row, which saves a small batch two fsyncs per part. */
export const partInlineBytesMax = 65_536
/** Gathered results beyond which no new item of the segment starts until a part is durable. */
const gatheredBytesMax = 4_000_000
/** The first wait before a part is tried again, and the longest. */
const partCommitRetryMs = 200
const partCommitRetryMaxMs = 5_000
/**
 * Questions whether a part became real, one every `partCommitRetryMaxMs`: until its segment goes on without it, and then
 * more than fit into a batch's window.
 */
export const partDoubtsMax = 30
const partQuestionsMax = 20_000

/** An item's result on its way into a part. */
export interface FinishedItem extends ResultLine {
  /** Place in the segment. */
  index: number
  /** Why it failed; null when it was answered. */
  error: ItemError | null
  capture: ItemCapture | null
  /** The lane in which it ended, where that is not its batch's; null for most. */
  move: Omit<LaneMove, 'items'> | null
  /** Called once the result is durable. */
  noteDurable?: (() => void) | undefined
}

/** What a part writer needs. */
export interface PartWriterDependencies {
  lease: SegmentLease
  owner: string
  committer: Committer
  parts: PartRepository
  payloads: Payloads
  money: BatchMoney
  pause: Pause
  clock: Clock
  /** Bounds how many results can be lost with this process, or in the first moments after a segment was taken over. */
  ramp: Ramp
  /** A part failed to commit at its first try; it is kept and tried again. For the log. */
  onHeld(cause: unknown): void
  /** Storage refused a part for `resultsHoldMs`: the batch fails. Rejects when the database cannot record that now. */
  giveUp(cause: unknown): Promise<void>
  /** The lease is lost, and so many results came too late. They are neither kept nor charged. */
  onLost(lateResults: number): void
  /** Results became durable or were dropped, so there may be room for more items. */
  onSettled(): void
}

/** `unknown`: the part may have been committed, so nothing of it may be cleaned up or given back. */
type Ending = 'committed' | 'lost' | 'unknown' | Failure

/** `isOutage`: the database gave no answer. That does not refuse the results, and it will end. */
interface Failure {
  cause: unknown
  isOutage: boolean
}

const everyQuestion = { waitMs: partCommitRetryMaxMs, waitMsMax: partCommitRetryMaxMs }
/** How long to ask about a part of unknown outcome before the segment goes on without it, and how long after that. */
const partDoubts: Patience = { triesMax: partDoubtsMax, ...everyQuestion }
const partQuestions: Patience = { triesMax: partQuestionsMax, ...everyQuestion }

/**
 * Gathers one segment's results and makes them durable, part by part: first the blob, then part, bitmap, counts and
 * captures in one unit. Only one part is written at a time, so the bitmap in memory always equals the row's.
 */
export class PartWriter {
  readonly #dependencies: PartWriterDependencies
  #gathered: FinishedItem[] = []
  #gatheredBytes = 0
  #done: Uint8Array
  #doneCount: number
  #writing: Promise<void> | null = null
  #isTimed = false
  #isLost = false
  /** A part is kept in memory until storage takes it. */
  #isHeld = false
  #isClosing = false
  /** A commit of the present part got no answer. It was not found when asked, but may still be committed. */
  #isInDoubt = false

  constructor(dependencies: PartWriterDependencies) {
    this.#dependencies = dependencies
    this.#done = dependencies.lease.done
    this.#doneCount = dependencies.lease.doneCount
  }

  /** Durable results of the segment. */
  get doneCount(): number {
    return this.#doneCount
  }

  /** Whether results wait for storage, or too many bytes are gathered; then no further items should start. */
  get isFull(): boolean {
    return this.#isHeld || this.#gatheredBytes >= gatheredBytesMax
  }

  get isLost(): boolean {
    return this.#isLost
  }

  add(finished: FinishedItem): void {
    if (this.#isLost) return this.#drop([finished])
    this.#gathered.push(finished)
    this.#gatheredBytes += finished.line.length
    this.#dependencies.ramp.gather()
    this.#writeWhenDue()
  }

  /** Resolves when everything gathered is durable or was dropped. */
  async flush(): Promise<void> {
    while (this.#writing || this.#gathered.length > 0) {
      this.#write()
      await this.#writing
    }
  }

  /** The process stops: a part that storage refuses now is dropped. */
  close(): void {
    this.#isClosing = true
  }

  /** Drops what is not durable, because another owner has the segment. */
  lose(): void {
    this.#isLost = true
    const lost = this.#take(this.#gathered.length)
    this.#dependencies.ramp.settle(lost.length, false)
    this.#drop(lost)
  }

  #writeWhenDue(): void {
    if (this.#gathered.length === 0) return
    const isFull = this.#gatheredBytes >= partBytesMax || this.#gathered.length >= partItemsMax
    if (isFull || this.#dependencies.ramp.isTight) this.#write()
    else this.#writeSoon()
  }

  #writeSoon(): void {
    if (this.#isTimed) return
    this.#isTimed = true
    void this.#writeLater()
  }

  async #writeLater(): Promise<void> {
    await this.#dependencies.pause(this.#dependencies.ramp.gatherMs)
    this.#isTimed = false
    this.#write()
  }

  #write(): void {
    if (this.#writing || this.#gathered.length === 0) return
    this.#writing = this.#writeAll(this.#take(partItemsMax)).finally(() => {
      this.#writing = null
      this.#writeWhenDue()
      this.#dependencies.onSettled()
    })
  }

  async #writeAll(items: FinishedItem[]): Promise<void> {
    const isDurable = await this.#writePart(items)
    this.#dependencies.ramp.settle(items.length, isDurable)
    if (isDurable) for (const { noteDurable } of items) noteDurable?.()
  }

  #take(itemsMax: number): FinishedItem[] {
    const taken = this.#gathered.splice(0, itemsMax)
    for (const { line } of taken) this.#gatheredBytes -= line.length
    return taken
  }

  /**
   * Writes a part; false when its results were dropped. The results were paid for, so they are kept and tried again while
   * the lease is renewed, and their items do not run again. If storage refuses them for `resultsHoldMs` while the database
   * answers, the batch fails: otherwise its items would be paid for again and again.
   */
  async #writePart(items: FinishedItem[]): Promise<boolean> {
    const { clock, pause, payloads } = this.#dependencies
    let untilMs = clock.monotonicMs() + resultsHoldMs
    let waitMs = partCommitRetryMs
    let part: ResultPart | null = null
    this.#isInDoubt = false
    while (!this.#isLost) {
      let ending: Ending
      try {
        part ??= await this.#store(items)
        ending = await this.#commit(part, items)
      } catch (cause) {
        ending = { cause, isOutage: false }
      }
      if (ending === 'committed') {
        this.#isHeld = false
        return true
      }
      if (ending === 'unknown') {
        this.lose()
        return false
      }
      if (ending === 'lost' || this.#isClosing) break
      if (ending.isOutage) untilMs = clock.monotonicMs() + resultsHoldMs
      if (clock.monotonicMs() >= untilMs && (await this.#isGivenUp(ending.cause))) break
      if (!this.#isHeld) this.#dependencies.onHeld(ending.cause)
      this.#isHeld = true
      await pause(waitMs)
      waitMs = Math.min(waitMs * 2, partCommitRetryMaxMs)
    }
    // Without the row, a blob is only an orphan. But if the row may exist, deleting its blob would lose results.
    if (part?.blob && !this.#isInDoubt) await payloads.delete(part.blob).catch(() => undefined)
    this.lose()
    this.#drop(items)
    return false
  }

  async #isGivenUp(cause: unknown): Promise<boolean> {
    try {
      await this.#dependencies.giveUp(cause)
      return true
    } catch {
      // The database cannot record the failure now. No items can run meanwhile, so dropping the results would gain nothing.
      return false
    }
  }

  async #store(items: readonly FinishedItem[]): Promise<ResultPart> {
    const { lease, payloads, clock } = this.#dependencies
    const bytes = encodePart(items)
    const compressed = await payloads.compress(bytes)
    const isInline = compressed.byteLength <= partInlineBytesMax
    return {
      id: newId('part', clock.nowMs()),
      batchId: lease.batchId,
      segmentOrdinal: lease.ordinal,
      sequence: 0,
      itemCount: items.length,
      blob: isInline ? null : await payloads.putPart(lease.batchId, compressed),
      inlineBody: isInline ? compressed : null,
      bytes: bytes.length,
    }
  }

  async #commit(part: ResultPart, items: readonly FinishedItem[]): Promise<Ending> {
    const { lease, owner, money, committer, parts } = this.#dependencies
    const counts = countsOf(items)
    const after = withBits(
      this.#done,
      items.map((item) => item.index),
    )
    const { claim, insert } = commitPart({
      part,
      epoch: lease.epoch,
      owner,
      before: this.#done,
      after,
      failedCount: counts.failed,
    })
    const count = countItems(lease.batchId, counts)
    const prepared = money.prepareCaptures(items.flatMap((item) => item.capture ?? []))
    const outcome = await committer.commitOnce(
      'part.commit',
      [claim, count, insert, ...countMoves(lease.batchId, movesOf(items)), ...prepared.statements],
      { proof: () => parts.exists(part.id), isInDoubt: this.#isInDoubt },
    )
    this.#isInDoubt = outcome.type === 'unknown'
    if (outcome.type === 'committed') return this.#succeed(prepared, after, items.length)
    const { error: cause } = outcome
    if (outcome.type === 'refused') {
      const { guard } = outcome
      prepared.failed(outcome.by === 'guard' ? outcome.guard : undefined)
      return guard === leaseGuard || guard === statusGuard ? 'lost' : { cause, isOutage: guard === null }
    }
    const isDurable = await this.#isDurable(part, partDoubts)
    if (isDurable === null) {
      void this.#learnLater(part, prepared, items)
      return 'unknown'
    }
    if (isDurable) return this.#succeed(prepared, after, items.length)
    prepared.failed()
    return { cause, isOutage: true }
  }

  #succeed(prepared: PreparedCaptures, after: Uint8Array, count: number): Ending {
    prepared.committed()
    this.#done = after
    this.#doneCount += count
    return 'committed'
  }

  /**
   * Keeps asking about a part of unknown outcome after the segment was given up. Its holds must end, because a batch
   * cannot end while anything is held from its budget. The asking ends with the process, and so do its holds.
   */
  async #learnLater(
    part: ResultPart,
    prepared: PreparedCaptures,
    items: readonly FinishedItem[],
  ): Promise<void> {
    const isDurable = await this.#isDurable(part, partQuestions)
    if (isDurable === null) return
    if (isDurable) return prepared.committed()
    prepared.failed()
    this.#drop(items)
  }

  /** Whether a part of unknown outcome was committed; null when storage did not answer for long. */
  #isDurable(part: ResultPart, patience: Patience): Promise<boolean | null> {
    const { committer, parts } = this.#dependencies
    return committer.ask(() => parts.exists(part.id), patience)
  }

  #drop(items: readonly FinishedItem[]): void {
    for (const { capture } of items) if (capture) this.#dependencies.money.release(capture.hold)
    if (items.length > 0) this.#dependencies.onLost(items.length)
  }
}

function countsOf(items: readonly FinishedItem[]): ItemCounts {
  const counts = { completed: 0, failed: 0, cancelled: 0, expired: 0, outputBytes: 0, errorBytes: 0 }
  for (const { line, error } of items) {
    if (error === null) {
      counts.completed++
      counts.outputBytes += line.length
      continue
    }
    counts.failed++
    counts.errorBytes += errorLine(line).length
    if (error.type === 'batch_cancelled') counts.cancelled++
    if (error.type === 'batch_expired') counts.expired++
  }
  return counts
}

function movesOf(items: readonly FinishedItem[]): LaneMove[] {
  const moves = new Map<string, LaneMove>()
  for (const { move } of items) {
    if (move === null) continue
    const key = JSON.stringify([move.from, move.to, move.reason])
    const known = moves.get(key)
    if (known) known.items += 1
    else moves.set(key, { ...move, items: 1 })
  }
  return [...moves.values()]
}
