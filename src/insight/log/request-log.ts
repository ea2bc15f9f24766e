import type { Clock } from '../../core/clock.ts'
import type { CallLine, RequestLine } from '../../telemetry/call-line.ts'
import { statusOfWord } from '../../core/errors.ts'
import { GatheredSums, noSums } from './log-sums.ts'
import { type LogRow, toLogRow } from './log-row.ts'
import type { AnonymousCount, LogUnit, RequestLogRepository } from './request-log-repository.ts'

/** How long a row waits for others before it is written, unless there is a unit before: a crash loses no more than that. */
export const logGatherMs = 500
/**
 * Rows of one unit, which is written as soon as there are so many, because the garbage collector looks at all rows that
 * wait. A unit costs about as much as a hundred rows, so there are many in it; not more, because a capture may have to wait
 * for them, which is about a millisecond.
 */
export const logRowsMax = 200
/** Rows that may wait; one more is dropped and counted, because a call must never wait for its log. */
export const logQueueMax = 20_000
/** Addresses that are counted within one gathering; further ones are counted together, under an empty address. */
const addressesMax = 1_000
/** Units of others that may wait for the database before the log stands back, and how often it does so in a row. */
const busyUnits = 32
const standBacksMax = 20
/** How often rows that are too old are looked for, and how many are deleted at once. */
const retentionEveryMs = 600_000
const deletedAtOnce = 200
/** Pause between two deletions, and their number in one round. */
const deletionPauseMs = 50
const deletionsMax = 2_000
/** Sums are kept for longer than rows: they are few. */
const sumsKeptMs = 800 * 86_400_000

/** An item of a batch that has ended, or is put back to be tried again. */
export interface LoggedItem {
  /** The id that its result has, if it was answered; it tells when the item began. */
  requestId: string
  batchId: string
  organizationId: string
  keyId: string
  durationMs: number
}

/** The log of calls: rows gather here and are written apart from the calls' own units. */
export interface RequestLog {
  /** A live request has ended. Management requests are not logged. */
  request(line: RequestLine): void
  /** An item of a batch has ended, for which there was no request. */
  item(item: LoggedItem, facts: CallLine): void
  /**
   * The row of an item that a provider's job had, which the returned function adds. It has no times: the answer was there
   * before it was read.
   */
  itemOfJob(item: Omit<LoggedItem, 'durationMs'>, facts: CallLine): () => void
  /** Rows that wait, and rows that were dropped since the start. */
  stats(): { queued: number; dropped: number }
  start(): void
  /** Writes what waits, for a bounded time. Never rejects. */
  stop(): Promise<void>
}

/** What the log is made of. */
export interface RequestLogOptions {
  repository: RequestLogRepository
  clock: Clock
  /** Routes whose requests are calls, also when they fail before they are one. */
  callRoutes: ReadonlySet<string>
  /** How long rows are kept; 0: none are written. */
  keptMs: number
  /** Units that wait for the database. */
  storageQueue: () => number
  /** Receives a failure, once per streak. */
  report: (cause: unknown) => void
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  return options.keptMs > 0 ? new GatheredLog(options) : noLog
}

const noLog: RequestLog = {
  request: () => undefined,
  item: () => undefined,
  itemOfJob: () => () => undefined,
  stats: () => ({ queued: 0, dropped: 0 }),
  start: () => undefined,
  stop: () => Promise.resolve(),
}

class GatheredLog implements RequestLog {
  readonly #options: RequestLogOptions
  #rows: LogRow[] = []
  readonly #sums = new GatheredSums()
  #anonymous = new Map<string, AnonymousCount>()
  #dropped = 0
  #timer: Timer | null = null
  #retention: Timer | null = null
  #writing: Promise<void> | null = null
  /** The half second is over: the next unit has the sums and the counts of addresses. */
  #isDue = false
  #isFailing = false
  #isStopped = false

  constructor(options: RequestLogOptions) {
    this.#options = options
  }

  request(line: RequestLine): void {
    const { asker, facts } = line
    if (facts.operation === null && !this.#options.callRoutes.has(line.route)) return
    if (asker.organizationId === null) return this.#countAnonymous(line)
    if (this.#hasRoom()) this.#add(toLogRow(line, asker.organizationId))
  }

  item(item: LoggedItem, facts: CallLine): void {
    if (this.#hasRoom()) this.#add(rowOfItem(item, facts))
  }

  itemOfJob(item: Omit<LoggedItem, 'durationMs'>, facts: CallLine): () => void {
    const row = { ...rowOfItem({ ...item, durationMs: 0 }, facts), firstByteMs: null, hasTime: false }
    return () => {
      if (this.#hasRoom()) this.#add(row)
    }
  }

  stats(): { queued: number; dropped: number } {
    return { queued: this.#rows.length, dropped: this.#dropped }
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#flush(), logGatherMs)
    this.#timer.unref()
    this.#retention ??= setInterval(() => void this.#deleteOld().catch(() => undefined), retentionEveryMs)
    this.#retention.unref()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearInterval(this.#timer)
    if (this.#retention !== null) clearInterval(this.#retention)
    await this.#flush()
    // What arrived while the last units were written.
    await this.#flush()
  }

  /** Where there is none, the row that was to come counts as dropped. */
  #hasRoom(): boolean {
    const hasRoom = this.#rows.length < logQueueMax
    if (!hasRoom) this.#dropped += 1
    return hasRoom
  }

  #add(row: LogRow): void {
    this.#rows.push(row)
    this.#sums.add(row)
    if (this.#rows.length >= logRowsMax && this.#writing === null) void this.#run()
  }

  #countAnonymous({ asker }: RequestLine): void {
    const minute = Math.floor(this.#options.clock.nowMs() / 60_000)
    const isKnown = this.#anonymous.has(`${minute} ${asker.clientAddress}`)
    const clientAddress = isKnown || this.#anonymous.size < addressesMax ? asker.clientAddress : ''
    const name = `${minute} ${clientAddress}`
    const count = this.#anonymous.get(name)
    if (count) count.requests += 1
    else this.#anonymous.set(name, { minute, clientAddress, requests: 1 })
  }

  /** Writes all that waits now; never rejects. What a running write has not seen waits for the next one. */
  #flush(): Promise<void> {
    this.#isDue = true
    return this.#run()
  }

  #run(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null
    })
    return this.#writing
  }

  /** Writes all rows that wait now, a unit at a time. */
  async #write(): Promise<void> {
    let due = this.#takeDue()
    let rest = this.#rows.length
    if (rest === 0 && due.sums === noSums && due.anonymous.length === 0) return
    do {
      await this.#standBack()
      const rows = this.#rows.splice(0, Math.min(logRowsMax, rest))
      rest -= rows.length
      await this.#writeUnit({ rows, ...due })
      due = nothingDue
    } while (rest > 0)
  }

  /** Sums have few rows for all calls of a half second, and would have as many again for each unit. */
  #takeDue(): Omit<LogUnit, 'rows'> {
    if (!this.#isDue) return nothingDue
    this.#isDue = false
    return { sums: this.#sums.take(), anonymous: this.#takeAnonymous() }
  }

  async #writeUnit(unit: LogUnit): Promise<void> {
    try {
      await this.#options.repository.write(unit)
      this.#isFailing = false
    } catch (cause) {
      // The rows are lost: keeping them would fill the memory for as long as storage is out of order.
      this.#dropped += unit.rows.length
      if (!this.#isFailing) this.#options.report(cause)
      this.#isFailing = true
    }
  }

  /** Captures go first: while many units wait, the log waits too, unless its own queue is half full. */
  async #standBack(): Promise<void> {
    for (let times = 0; times < standBacksMax; times++) {
      const isLate = this.#isStopped || this.#rows.length > logQueueMax / 2
      if (isLate || this.#options.storageQueue() < busyUnits) return
      await Bun.sleep(logGatherMs / standBacksMax)
    }
  }

  #takeAnonymous(): AnonymousCount[] {
    if (this.#anonymous.size === 0) return []
    const counts = [...this.#anonymous.entries()].toSorted(([left], [right]) => (left < right ? -1 : 1))
    this.#anonymous = new Map()
    return counts.map(([, count]) => count)
  }

  /** Deletes what is too old, a little at a time; the next round goes on. */
  async #deleteOld(): Promise<void> {
    const { repository, clock, keptMs } = this.#options
    const nowMs = clock.nowMs()
    const budget = { left: deletionsMax }
    for (
      let id = await repository.nextOrganization('');
      id !== null;
      id = await repository.nextOrganization(id)
    ) {
      const organizationId = id
      await this.#repeat(budget, () => repository.deleteRows(organizationId, nowMs - keptMs, deletedAtOnce))
      await this.#repeat(budget, () =>
        repository.deleteSums(organizationId, nowMs - sumsKeptMs, deletedAtOnce),
      )
      if (budget.left <= 0 || this.#isStopped) return
    }
    await this.#repeat(budget, () => repository.deleteAnonymous(nowMs - keptMs, deletedAtOnce))
  }

  async #repeat(budget: { left: number }, remove: () => Promise<number>): Promise<void> {
    while (budget.left > 0 && !this.#isStopped) {
      budget.left -= 1
      if ((await remove()) < deletedAtOnce) return
      await Bun.sleep(deletionPauseMs)
    }
  }
}

const nothingDue: Omit<LogUnit, 'rows'> = { sums: noSums, anonymous: [] }

function rowOfItem(
  { requestId, organizationId, keyId, batchId, durationMs }: LoggedItem,
  facts: CallLine,
): LogRow {
  const asker = { organizationId, keyId, clientAddress: '' }
  // An item has no answer of its own yet; its status is what a live call would have had.
  const status = facts.errorType === null ? 200 : statusOfWord(facts.errorType)
  const line = { requestId, route: 'batch_item', status, durationMs, asker, facts }
  return { ...toLogRow(line, organizationId), batchId }
}
