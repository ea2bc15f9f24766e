import { atMost } from '../core/at-most.ts'
import { Bag, type Placed } from '../core/bag.ts'
import { commitWaitMs } from '../core/limits/storage.ts'
import { StorageFailure, storageUnavailable } from './database.ts'
import type { Row, Unit } from './database.ts'

/** Writes that may wait for the writer before new ones are refused with a storage error. */
export const writerQueueMax = 20_000
/** Rows of a group from which on the next one waits that long: below it there is little to gather, and a caller waits for it. */
export const writerBusyRows = 20

/** So long patient units let others go first; then each group has one of them. */
const patienceMs = 250

/** A unit that waits for its commit. The runner calls exactly one of `resolve` and `reject`. */
export interface PendingUnit {
  readonly unit: Unit
  readonly rows: number
  readonly sinceMs: number
  resolve(rows: Row[][]): void
  reject(reason: unknown): void
}

/** How units are grouped. */
export interface UnitQueueOptions {
  /** Runs one group and settles every unit in it; must not reject. */
  run(group: readonly PendingUnit[]): Promise<void>
  /** How many groups may run at once. */
  groupsMax: number
  /** The number of rows after which a group is full; a larger unit is a group of its own. */
  rowsMax: number
  /**
   * The time between the starts of two groups, once groups have become large; units gather in it. A unit that arrives
   * after a pause or after a small group does not wait.
   */
  spacingMs: number
}

interface Group extends Placed {
  readonly units: readonly PendingUnit[]
}

/**
 * Gathers units into groups, because waking a thread or opening a transaction costs as much as a dozen inserts. Units
 * that arrive while a group runs, or within `spacingMs` after a large one started, wait for the next group.
 */
export class UnitQueue {
  readonly #options: UnitQueueOptions
  readonly #waiting: PendingUnit[] = []
  readonly #patient: PendingUnit[] = []
  readonly #running = new Bag<Group>()
  #length = 0
  #scheduled = false
  /** No group starts before this time, by the process's own clock. */
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #watch: Timer | null = null
  #drained: (() => void)[] = []

  constructor(options: UnitQueueOptions) {
    this.#options = options
  }

  /** Units accepted and not yet settled. */
  get length(): number {
    return this.#length
  }

  /** Queues a unit. Rejects at once when `writerQueueMax` units wait, and after `commitWaitMs` when the database hangs. */
  add(unit: Unit): Promise<Row[][]> {
    if (this.#waiting.length + this.#patient.length >= writerQueueMax) {
      return Promise.reject(storageUnavailable(new StorageFailure('too many writes are waiting')))
    }
    const { promise, resolve, reject } = Promise.withResolvers<Row[][]>()
    const waiting = unit.isPatient === true ? this.#patient : this.#waiting
    waiting.push({ unit, rows: countRows(unit), sinceMs: performance.now(), resolve, reject })
    this.#length++
    this.#schedule()
    return promise
  }

  /** Resolves when nothing is waiting or running, or after `commitWaitMs` when the database hangs. */
  async drain(): Promise<void> {
    if (this.#length === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#drained.push(resolve)
    await atMost(commitWaitMs, promise)
  }

  #schedule(): void {
    if (this.#scheduled || this.#isEmpty || this.#running.size >= this.#options.groupsMax) return
    this.#scheduled = true
    this.#watch ??= setTimeout(() => this.#expire(), commitWaitMs)
    const waitMs = this.#notBeforeMs - performance.now()
    // Starts at the end of this turn of the event loop, so that units of the same turn join the group.
    if (waitMs <= 0) setImmediate(() => this.#start())
    else setTimeout(() => this.#start(), waitMs)
  }

  #start(): void {
    this.#scheduled = false
    while (!this.#isEmpty && this.#running.size < this.#options.groupsMax) {
      const group: Group = { units: this.#take(), place: -1 }
      this.#running.add(group)
      const isBusy = group.units.reduce((rows, pending) => rows + pending.rows, 0) >= writerBusyRows
      this.#notBeforeMs = isBusy ? performance.now() + this.#options.spacingMs : Number.NEGATIVE_INFINITY
      void this.#options.run(group.units).finally(() => this.#finish(group))
    }
  }

  get #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#patient.length === 0
  }

  #take(): readonly PendingUnit[] {
    if (this.#waiting.length === 0) return takeFrom(this.#patient, this.#options.rowsMax)
    const units = takeFrom(this.#waiting, this.#options.rowsMax)
    const [patient] = this.#patient
    if (patient === undefined || performance.now() - patient.sinceMs < patienceMs) return units
    this.#patient.shift()
    return [...units, patient]
  }

  #finish(group: Group): void {
    this.#running.delete(group)
    this.#release(group.units.length)
    this.#schedule()
  }

  #release(count: number): void {
    this.#length -= count
    if (this.#length > 0) return
    if (this.#watch) clearTimeout(this.#watch)
    this.#watch = null
    for (const drained of this.#drained.splice(0)) drained()
  }

  /** Rejects units that have waited too long. One that never started is certainly not committed; for one that runs it is uncertain. */
  #expire(): void {
    this.#watch = setTimeout(() => this.#expire(), commitWaitMs / 4)
    const beforeMs = performance.now() - commitWaitMs
    for (const group of this.#running) {
      for (const pending of group.units) if (pending.sinceMs < beforeMs) pending.reject(expired(true))
    }
    for (const waiting of [this.#waiting, this.#patient]) {
      const young = waiting.findIndex((pending) => pending.sinceMs >= beforeMs)
      const gone = waiting.splice(0, young === -1 ? waiting.length : young)
      for (const pending of gone) pending.reject(expired(false))
      this.#release(gone.length)
    }
  }
}

function expired(uncertain: boolean): Error {
  return storageUnavailable(new StorageFailure('a commit took too long', { uncertain }))
}

function countRows(unit: Unit): number {
  if (unit.rowsEstimate !== undefined) return unit.rowsEstimate
  let rows = 0
  for (const statement of unit.statements) rows += statement.rows?.length ?? 1
  return rows
}

/** The first units of as many rows as a group may have; a larger one alone. */
function takeFrom(waiting: PendingUnit[], rowsMax: number): readonly PendingUnit[] {
  let count = 0
  let rows = 0
  for (const pending of waiting) {
    rows += pending.rows
    if (count > 0 && rows > rowsMax) break
    count++
  }
  return waiting.splice(0, count)
}
