import type { SpendFigures, SpendGroup } from './spend.ts'
import { type BucketRun, type Buckets, quarterMs } from './time-buckets.ts'
import type { UserSums, UsersRepository } from './users-repository.ts'

const dayMs = 86_400_000
/** Days for which users are summed from the usage rows themselves; before that, from what was kept of each day. */
const exactDays = 7
export const usersExactMs = exactDays * dayMs
/** Users that are kept of a day: callers choose their names freely, so there may be as many as calls. */
export const usersKept = 1_000

/** What is summed by user. */
export interface UsersQuestion {
  organizationId: string
  buckets: Buckets
  top: number
  nowMs: number
  /** What all users together come to: the groups sum to it. */
  total: SpendGroup
}

/**
 * Spending by end user, the dearest first. The last group is everything else: the rest of all, to the nanocredit. Users
 * are read from the ledger, which has no calls that failed or were refused: here requests are those that were charged.
 */
export async function sumUsersSpend(
  question: UsersQuestion,
  repository: UsersRepository,
): Promise<SpendGroup[]> {
  const { organizationId, buckets, top, nowMs, total } = question
  const exactFromMs = exactFrom(nowMs)
  const [exact, kept] = await Promise.all([
    repository.sumExact(organizationId, runsFrom(buckets.runs, exactFromMs / quarterMs)),
    repository.sumDays(organizationId, daysBefore(buckets, exactFromMs)),
  ])
  const users = new Map<string, SpendGroup & { overTime: SpendFigures[] }>()
  for (const sums of [...exact, ...kept]) {
    if (sums.userId === null) continue
    const known = users.get(sums.userId) ?? emptyGroup(sums.userId, buckets.starts.length)
    users.set(sums.userId, known)
    add(known, sums)
    const cell = known.overTime[sums.bucket]
    if (cell) add(cell, sums)
  }
  const dearest = [...users.values()].toSorted(byFallingCost)
  const shown: SpendGroup[] = dearest.slice(0, top)
  const rest = shown.reduce(without, chargedOf(total))
  const isEmpty = rest.costNanocredits === 0n && rest.chargedRequests === 0
  return isEmpty ? shown : [...shown, { ...rest, id: null }]
}

function byFallingCost(left: SpendGroup, right: SpendGroup): number {
  if (left.costNanocredits === right.costNanocredits) return right.chargedRequests - left.chargedRequests
  return left.costNanocredits < right.costNanocredits ? 1 : -1
}

/** Whole days (UTC) are kept, so exact sums begin with one. */
function exactFrom(nowMs: number): number {
  return Math.floor((nowMs - usersExactMs) / dayMs) * dayMs
}

/** The parts of the runs from a quarter of an hour on. A bucket that the quarter cuts is one by itself. */
function runsFrom(runs: readonly BucketRun[], from: number): BucketRun[] {
  return runs.flatMap(({ first, start, length, count }): BucketRun[] => {
    if (start >= from) return [{ first, start, length, count }]
    const skipped = Math.floor((from - start) / length)
    if (skipped >= count) return []
    const cut = start + skipped * length
    const part = { first: first + skipped, start: from, length: cut + length - from, count: 1 }
    const left = count - skipped - 1
    return left === 0
      ? [part]
      : [part, { first: first + skipped + 1, start: cut + length, length, count: left }]
  })
}

/** The whole days of a span before a time, each with the bucket in which it begins. */
function daysBefore({ starts, endMs }: Buckets, beforeMs: number): { day: number; bucket: number }[] {
  const days: { day: number; bucket: number }[] = []
  const [fromMs = 0] = starts
  const untilMs = Math.min(beforeMs, endMs)
  let bucket = 0
  for (let day = Math.ceil(fromMs / dayMs); (day + 1) * dayMs <= untilMs; day++) {
    while ((starts[bucket + 1] ?? Number.POSITIVE_INFINITY) <= day * dayMs) bucket += 1
    days.push({ day, bucket })
  }
  return days
}

function emptyFigures(): SpendFigures {
  const counts = { chargedRequests: 0, requests: 0, errors: 0, inputTokens: 0, outputTokens: 0 }
  return { costNanocredits: 0n, ...counts, p50Ms: null, p95Ms: null }
}

function emptyGroup(id: string, buckets: number): SpendGroup & { overTime: SpendFigures[] } {
  return { id, ...emptyFigures(), overTime: Array.from({ length: buckets }, emptyFigures) }
}

function add(figures: SpendFigures, sums: UserSums): void {
  figures.costNanocredits += sums.costNanocredits
  figures.chargedRequests += sums.requests
  figures.requests += sums.requests
  figures.inputTokens += sums.inputTokens
  figures.outputTokens += sums.outputTokens
}

function chargedOf(group: SpendGroup): SpendGroup {
  return { ...withoutUncharged(group), overTime: group.overTime.map(withoutUncharged) }
}

function withoutUncharged<Figures extends SpendFigures>(figures: Figures): Figures {
  return { ...figures, requests: figures.chargedRequests, errors: 0 }
}

function without(all: SpendGroup, group: SpendGroup): SpendGroup {
  const overTime = all.overTime.map((cell, index) => subtract(cell, group.overTime[index] ?? emptyFigures()))
  return { id: null, ...subtract(all, group), overTime }
}

function subtract(all: SpendFigures, part: SpendFigures): SpendFigures {
  return {
    costNanocredits: all.costNanocredits - part.costNanocredits,
    chargedRequests: all.chargedRequests - part.chargedRequests,
    requests: all.requests - part.requests,
    errors: all.errors - part.errors,
    p50Ms: null,
    p95Ms: null,
    inputTokens: all.inputTokens - part.inputTokens,
    outputTokens: all.outputTokens - part.outputTokens,
  }
}

/** How often the days that have become old enough are kept, and how far back at most. */
const keepEveryMs = 1_800_000
const keptDaysBack = 120
const organizationsAtOnce = 100

/** Keeps the largest users of each day, once it is older than the exact days; in any number of processes. */
export function createUsersKeeper(options: UsersKeeperOptions): UsersKeeper {
  return new DailyKeeper(options)
}

/** What the keeper is made of. */
export interface UsersKeeperOptions {
  repository: UsersRepository
  nowMs: () => number
  report: (cause: unknown) => void
}

/** Runs in the background, in any number of processes. */
export interface UsersKeeper {
  start(): void
  stop(): Promise<void>
  /** Keeps every day that is due. */
  round(): Promise<void>
}

class DailyKeeper implements UsersKeeper {
  readonly #options: UsersKeeperOptions
  #timer: Timer | null = null
  #running: Promise<void> | null = null
  #isStopped = false

  constructor(options: UsersKeeperOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#running ??= this.round()
        .catch(this.#options.report)
        .finally(() => {
          this.#running = null
        })
    }, keepEveryMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#running
  }

  async round(): Promise<void> {
    const { repository, nowMs } = this.#options
    const last = exactFrom(nowMs()) / dayMs - 1
    for (let day = last; day > last - keptDaysBack && !this.#isStopped; day--) {
      for (const organizationId of await repository.listUnkept(day, organizationsAtOnce)) {
        if (this.#isStopped) return
        await repository.keepDay(organizationId, day, usersKept)
      }
    }
  }
}
