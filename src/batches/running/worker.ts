import { organizationShareOf, workerIdleMs } from '../../core/limits/batches.ts'
import type { Batch } from '../../canonical/batch.ts'
import { isTerminal } from '../../canonical/batch.ts'
import { isWaiting } from '../../formats/batch/batch-object.ts'
import type { BatchRepository } from '../batch-repository.ts'
import { expireBatches } from '../batch-repository.ts'
import { rowsOf } from '../committer.ts'
import { GivenBack } from './given-back.ts'
import type { RunItem } from '../item-contract.ts'
import type { ItemLimiter } from './item-limiter.ts'
import type { LaneRooms } from '../lanes/lane-room.ts'
import { PartWriter } from '../results/part-writer.ts'
import type { Pause } from './pause.ts'
import type { PhaseDependencies } from './phases.ts'
import { advance } from './phases.ts'
import { Ramp } from './ramp.ts'
import { SegmentEndings } from './segment-endings.ts'
import { SegmentRun } from './segment-run.ts'
import type { LiveSegments, SegmentLease } from './segment-repository.ts'
import { type HeldSegment, segmentsAtOnce, SegmentTurns } from './segment-turns.ts'
import { WaitingNote } from './waiting-note.ts'
import type { Waiting } from '../../canonical/waiting.ts'
import { endRests, freeLeases, leaseSegment, renewLeases, toLease } from './segment-repository.ts'

/** How long items may take to finish when the process stops. */
const workerStopMs = 20_000

/** How long a segment stays leased without a renewal, and how often leases are renewed. */
export const segmentLeaseMs = 30_000
const segmentRenewEveryMs = 8_000
/** Batches a worker looks at in one round. */
const activeBatchesMax = 200
/** Batches without a place that one round looks at. */
const claimantsMax = segmentsAtOnce * 2

/** What a worker needs. */
export interface WorkerDependencies extends PhaseDependencies {
  batches: BatchRepository
  limiter: ItemLimiter
  rooms: LaneRooms
  ramp: Ramp
  runItem: RunItem
  pause: Pause
  /** For the log: a failure that will be tried again. */
  report(event: string, details: { batchId?: string; cause: unknown }): void
}

/** Figures for metrics; never waits. */
export interface WorkerStats {
  segmentsRunning: number
  itemsRunning: number
  /** Batches that waited for money at the last look, in all processes. */
  batchesWaiting: number
  /** What items of all batches waited for at the last look, in all processes. */
  itemsWaiting: readonly Waiting[]
  /** Results since the start that came after their segment was taken over: neither kept nor charged. */
  lateResults: number
  /** Leases since the start that this process lost to other processes. */
  leasesLost: number
}

/** A lease and the run that works on it. */
interface Active extends HeldSegment {
  batch: Batch
  lease: SegmentLease
  run: SegmentRun
  note: WaitingNote
  ended: Promise<void>
}

/**
 * Looks at the store, does what it finds, and looks again; a signal, a timer and a restart all lead to the same look. Any
 * number of processes may do so at once: leases and guarded statements keep them apart.
 */
export class Worker {
  readonly #dependencies: WorkerDependencies
  readonly #active = new Map<string, Active>()
  /** The steps of batches that run now. */
  readonly #steps = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  /** Where the next look's page of active batches begins. */
  #offset = 0
  #rounds: Promise<void>[] = []
  #wakeup = Promise.withResolvers<void>()
  #isWoken = false
  #stopListening: () => void = () => undefined
  readonly #givenBack = new GivenBack()
  readonly #turns: SegmentTurns
  readonly #endings: SegmentEndings
  /** Monotonic time of the last renewal of all leases. */
  #renewedMs = 0
  #batchesWaiting = 0
  #itemsWaiting: readonly Waiting[] = []
  #lateResults = 0
  #leasesLost = 0

  constructor(dependencies: WorkerDependencies) {
    this.#dependencies = dependencies
    this.#turns = new SegmentTurns(dependencies.clock)
    this.#endings = new SegmentEndings({
      ...dependencies,
      givenBack: this.#givenBack,
      wake: () => this.wake(),
    })
  }

  get stats(): WorkerStats {
    return {
      segmentsRunning: this.#active.size,
      itemsRunning: this.#dependencies.limiter.running,
      batchesWaiting: this.#batchesWaiting,
      itemsWaiting: this.#itemsWaiting,
      lateResults: this.#lateResults,
      leasesLost: this.#leasesLost,
    }
  }

  start(): void {
    this.#stopListening = this.#dependencies.signals.onWake(() => this.wake())
    this.#rounds = [this.#repeatLook(), this.#repeatRenew()]
  }

  /** Finishes the items that run, as far as `workerStopMs` allows, makes their results durable and gives the leases back. */
  async stop(): Promise<void> {
    this.#stopListening()
    this.#stopping.abort()
    this.wake()
    for (const { run } of this.#active.values()) run.stop()
    const allEnded = Promise.all([...this.#active.values()].map(({ ended }) => ended))
    const isOver = new AbortController()
    await Promise.race([allEnded, this.#dependencies.pause(workerStopMs, isOver.signal)])
    isOver.abort()
    for (const { run } of this.#active.values()) run.abandon()
    await this.settled()
    await Promise.all(this.#rounds)
    // The last look may have leased one more segment; this gives it back untouched.
    await this.settled()
  }

  /** Looks at the store soon. */
  wake(): void {
    this.#isWoken = true
    this.#wakeup.resolve()
  }

  /** One look: expires overdue batches, takes the batches' next steps, and leases segments while there is room. Rejects when storage does. */
  async look(): Promise<void> {
    const { batches, limiter } = this.#dependencies
    limiter.admit()
    for (const { run, note } of this.#active.values()) {
      run.wake()
      void note.write(run)
    }
    if (await batches.hasOverdue())
      await this.#dependencies.committer.commit('batch.expire', [endRests(null), expireBatches()])
    const found = await batches.listActive(activeBatchesMax, this.#offset)
    // When there are several pages, the looks take turns, so that batches that wait for long do not hide the others.
    this.#offset = found.length < activeBatchesMax ? 0 : this.#offset + activeBatchesMax
    this.#batchesWaiting = found.filter(isWaiting).length
    this.#itemsWaiting = found.length === 0 ? [] : await this.#dependencies.waits.listAll()
    await this.#steer(found)
    await Promise.all(found.filter(({ status }) => status === 'validating').map((batch) => this.#step(batch)))
    // Ending a batch may wait until other processes return its money; work on other batches goes on.
    for (const batch of found) if (batch.status !== 'validating') void this.#step(batch)
    // Leases may have run out while the database was down or this process was frozen; they are renewed before others take them.
    const isOverdue = this.#dependencies.clock.monotonicMs() - this.#renewedMs > 2 * segmentRenewEveryMs
    if (isOverdue && this.#active.size > 0) await this.renew()
    await this.#fill(found)
  }

  /** Prolongs the leases and stops runs whose lease is lost. */
  async renew(): Promise<void> {
    await this.#freeDead()
    if (this.#active.size === 0) return
    const { committer, signals, clock } = this.#dependencies
    const nowMs = clock.monotonicMs()
    const before = [...this.#active.keys()]
    const leases = [...this.#active.values()].map(({ lease }) => lease)
    const renewal = renewLeases(signals.ownerId, segmentLeaseMs, leases)
    const renewed = await committer.commit('segment.renew', [renewal])
    this.#renewedMs = nowMs
    const kept = new Set(
      rowsOf(renewed).map((row) =>
        keyOf(String(row['batch_id']), Number(row['ordinal']), Number(row['epoch'])),
      ),
    )
    for (const key of before) {
      const active = this.#active.get(key)
      if (!active || kept.has(key)) continue
      this.#leasesLost++
      active.run.lose()
    }
  }

  /** Resolves when no step and no run is active. */
  async settled(): Promise<void> {
    while (this.#active.size + this.#steps.size > 0) {
      await Promise.all([...[...this.#active.values()].map(({ ended }) => ended), ...this.#steps.values()])
    }
  }

  /** Ends the leases of dead processes, so that a restart never waits for the leases of the process it replaces. */
  async #freeDead(): Promise<void> {
    const { segments, signals, committer } = this.#dependencies
    for (const owner of await segments.listOwners(signals.ownerId)) {
      if (!(await signals.isOwnerDead(owner))) continue
      await committer.commit('segment.free', [freeLeases(owner)])
      this.wake()
    }
  }

  async #repeatLook(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#isWoken = false
      this.#wakeup = Promise.withResolvers()
      await this.look().catch((cause: unknown) => this.#dependencies.report('batch_worker_failed', { cause }))
      if (this.#isWoken) continue
      const rest = new AbortController()
      await Promise.race([this.#wakeup.promise, this.#dependencies.pause(workerIdleMs, rest.signal)])
      rest.abort()
    }
  }

  async #repeatRenew(): Promise<void> {
    while (!this.#stopping.signal.aborted || this.#active.size > 0) {
      await this.renew().catch((cause: unknown) =>
        this.#dependencies.report('batch_renewal_failed', { cause }),
      )
      const rest = new AbortController()
      // A process that has just started looks often: it frees the leases of the process before it as soon as that is known to be dead.
      const restMs = this.#dependencies.ramp.isProven ? segmentRenewEveryMs : workerIdleMs
      const waits = [this.#dependencies.pause(restMs, AbortSignal.any([rest.signal, this.#stopping.signal]))]
      if (this.#stopping.signal.aborted) waits.push(this.settled())
      await Promise.race(waits)
      rest.abort()
    }
  }

  /** Tells runs what has happened to their batches. */
  async #steer(found: readonly Batch[]): Promise<void> {
    const byId = new Map(found.map((batch) => [batch.id, batch]))
    for (const { batch, run } of this.#active.values()) {
      const status = (byId.get(batch.id) ?? (await this.#dependencies.batches.load(batch.id)))?.status
      if (status === 'cancelling') run.close('batch_cancelled')
      else if (status === 'expiring') run.close('batch_expired')
      else if (status === undefined || status === 'failing' || isTerminal(status)) run.lose()
    }
  }

  /** The batch's next step, one at a time per batch. Never rejects. */
  #step(batch: Batch): Promise<void> {
    let step = this.#steps.get(batch.id)
    if (!step && !this.#stopping.signal.aborted) {
      step = this.#advance(batch).finally(() => this.#steps.delete(batch.id))
      this.#steps.set(batch.id, step)
    }
    return step ?? Promise.resolve()
  }

  async #advance(batch: Batch): Promise<void> {
    try {
      await advance(batch, this.#dependencies)
    } catch (cause) {
      this.#dependencies.report('batch_phase_failed', { batchId: batch.id, cause })
    }
  }

  /**
   * Leases segments while there is room, in the order of `SegmentTurns`. No organization gets all the room: a segment may
   * take hours, and a batch that comes later should not wait for it.
   */
  async #fill(found: readonly Batch[]): Promise<void> {
    let open = found.filter(
      ({ status }) => status === 'in_progress' || status === 'cancelling' || status === 'expiring',
    )
    while (open.length > 0 && !this.#stopping.signal.aborted) {
      const held = [...this.#active.values()]
      const ordered = this.#turns.order(open, held)
      const [batch] = ordered
      if (batch === undefined) return
      const ofOwner = held.filter((each) => each.batch.organizationId === batch.organizationId).length
      if (held.length >= segmentsAtOnce || ofOwner >= organizationShareOf(segmentsAtOnce))
        return this.#makeRoom(ordered)
      if (!(await this.#lease(batch))) open = open.filter(({ id }) => id !== batch.id)
    }
  }

  /** Has segments give their places up to batches whose turn it is; the items that run finish first. */
  async #makeRoom(ordered: readonly Batch[]): Promise<void> {
    const { segments, clock } = this.#dependencies
    const held: (HeldSegment & Partial<Pick<Active, 'run'>>)[] = [...this.#active.values()]
    let promised = this.#turns.promised(held).length
    for (const batch of ordered.slice(0, claimantsMax)) {
      const giver = this.#turns.giver(batch, held)
      // The first batch that has to wait its turn ends the look: those behind it have no better claim.
      if (giver === null) return
      if (!(await segments.hasFree(batch.id, liveSegmentsOf(batch)))) continue
      // From here on the place counts as this batch's.
      held.push({ batch, sinceMs: clock.monotonicMs(), yieldedMs: null })
      promised -= 1
      if (promised >= 0) continue
      giver.yieldedMs = clock.monotonicMs()
      giver.run?.stop()
    }
  }

  async #lease(found: Batch): Promise<boolean> {
    const { segments, committer, signals, batches } = this.#dependencies
    const live = liveSegmentsOf(found)
    if (!(await segments.hasFree(found.id, live))) return false
    const lease = leaseSegment(found.id, signals.ownerId, { leaseMs: segmentLeaseMs, live })
    const [row] = rowsOf(await committer.commit('segment.lease', [lease]))
    if (!row) return false
    // Loaded again: the batch's last step may have changed its status.
    const batch = (await batches.load(found.id)) ?? found
    this.#begin(batch, toLease(row))
    return true
  }

  #begin(batch: Batch, lease: SegmentLease): void {
    const { signals, committer, parts, payloads, money, pause, clock, report } = this.#dependencies
    const tries = this.#givenBack.takeTries(lease)
    // A previous owner did not finish this segment, and this process did not give it back: the segment itself may crash processes.
    const isTakenOver = lease.epoch > 1 && tries === null
    const ramp = isTakenOver ? new Ramp(clock, this.#dependencies.ramp) : this.#dependencies.ramp
    const writer = new PartWriter({
      lease,
      owner: signals.ownerId,
      committer,
      parts,
      payloads,
      money,
      pause,
      clock,
      ramp,
      onHeld: (cause) => report('batch_results_held', { batchId: batch.id, cause }),
      giveUp: (cause) => this.#endings.giveUp(batch, cause),
      onLost: (lateResults) => {
        this.#lateResults += lateResults
        run.halt()
      },
      onSettled: () => run.wake(),
    })
    const run = new SegmentRun({
      ...this.#dependencies,
      batch,
      lease,
      writer,
      tries: tries ?? new Map(),
      share: () => Math.min(this.#share(), ramp.itemsMax - ramp.gathered),
    })
    if (batch.status === 'cancelling') run.close('batch_cancelled')
    else if (batch.status === 'expiring') run.close('batch_expired')
    if (this.#stopping.signal.aborted) run.stop()
    const key = keyOf(lease.batchId, lease.ordinal, lease.epoch)
    if (this.#active.size === 0) this.#renewedMs = clock.monotonicMs()
    const note = new WaitingNote({ lease, owner: signals.ownerId, committer, clock })
    const ended = this.#work(batch, lease, { run, writer, note }).finally(() => {
      this.#active.delete(key)
      this.wake()
    })
    this.#active.set(key, { batch, lease, run, note, ended, sinceMs: clock.monotonicMs(), yieldedMs: null })
    this.#turns.note(batch)
  }

  /** An equal share for every segment, and less than all places, so that a new segment finds one. */
  #share(): number {
    return Math.ceil(this.#dependencies.limiter.max / Math.max(2, this.#active.size))
  }

  /** Never rejects: a failure here is tried again under a later lease. */
  async #work(
    batch: Batch,
    lease: SegmentLease,
    { run, writer, note }: { run: SegmentRun; writer: PartWriter; note: WaitingNote },
  ): Promise<void> {
    try {
      const end = await run.run()
      if (writer.isLost) return
      // Kept before the segment is given back, because this process may lease it again at once.
      if (!end.isDone) this.#givenBack.keepTries(lease, end.tries)
      if (end.isDone) await this.#endings.finish(lease, note)
      else await this.#endings.giveBack(batch, lease, end, note.statements(run))
      this.#givenBack.forgetFailures(lease)
    } catch (cause) {
      this.#dependencies.report('batch_segment_failed', { batchId: batch.id, cause })
      // When the database fails too, nothing is known about the segment, so its failures are forgotten.
      await this.#endings.putOff(batch, lease, cause).catch(() => this.#givenBack.forgetFailures(lease))
    }
  }
}

function keyOf(batchId: string, ordinal: number, epoch: number): string {
  return `${batchId}/${ordinal}/${epoch}`
}

/** While a provider's own jobs run a batch, a worker takes only what they have left to it. */
function liveSegmentsOf({ lane, status }: Batch): LiveSegments {
  return lane === 'native' && status === 'in_progress' ? 'moved' : 'all'
}
