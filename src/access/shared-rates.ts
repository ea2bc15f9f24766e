import type { Clock } from '../core/clock.ts'
import { rateLimitsMax } from '../core/limits/access.ts'
import type { RateRepository } from './rate-repository.ts'

/** How far ahead one call's tokens may use up a limit: an hour of it. */
const rateDebtMs = 3_600_000

/** How often the shares of large rates are divided again, how long a silent process still counts, and limits tracked at once. */
const rateShareEveryMs = 1_000
const rateShareSilentMs = 3_000

/**
 * Large limits, divided among processes. Each process grants its share from memory; every second the shares are divided
 * again in proportion to each process's requests. A single process has the whole limit.
 */
export interface SharedRates {
  /**
   * Milliseconds to wait; 0 when the request is granted. A promise only for a limit that is new to this process. So much of
   * the limit may come at once, by default a whole minute's.
   */
  take(limitId: string, perMinute: number, burstMs?: number): number | Promise<number>
  /**
   * What `take` would return now for so many at once, by default one; more than a burst only when nothing is used up. Uses
   * nothing, and does not count as a request when shares are divided.
   */
  look(limitId: string, perMinute: number, burstMs?: number, count?: number): number | Promise<number>
  /**
   * Uses up `count` at once, even more than is free. The excess must run off before the next request; an hour's worth at most.
   * Fewer than none gives back what was used up for nothing.
   */
  spend(limitId: string, perMinute: number, count: number): void
  /** Counts `count` that were refused when shares are divided: a share must not shrink because it is too small. */
  want(limitId: string, perMinute: number, count: number): void
  /** Undoes one `take` that was granted. */
  giveBack(limitId: string): void
  /** Divides the shares again. Never rejects. A timer calls it; the timer starts with the first limit. */
  divide(): Promise<void>
  stop(): void
}

/** The repository through which processes share limits, and this process's id. */
export interface SharedRatesOptions {
  repository: Pick<RateRepository, 'exchangeUses' | 'removeOld'>
  ownerId: string
  clock: Clock
  /** Gets failures of a division; the next round makes up for them. */
  onFailure?: (failure: unknown) => void
}

interface SharedLimit {
  perMinute: number
  /** Part of the limit this process may grant, above 0 and at most 1. */
  share: number
  /** Monotonic milliseconds at which all granted requests would have come at an even pace. */
  arrivalMs: number
  /** Requests since the last division, granted or not: shares follow the demand. */
  asked: number
  /** The same over some seconds: of a few requests in each, one second's are mostly chance. */
  demand: number
  usedAtMs: number
  /** The first division; nothing is granted before it is over. */
  joining: Promise<void> | null
}

const minuteMs = 60_000
/** Added to each process's requests, so that an idle process keeps a share to begin with. */
const presence = 1
/** What a second's demand still counts in the next one. */
const demandKept = 0.8
const removeEveryRounds = 600

/** Shared rates without any limit yet. */
export function createSharedRates(options: SharedRatesOptions): SharedRates {
  const { clock } = options
  const limits = new Map<string, SharedLimit>()
  let timer: ReturnType<typeof setInterval> | null = null
  let rounds = 0

  async function exchange(chosen: Iterable<[string, SharedLimit]>): Promise<void> {
    const uses = Array.from(chosen, ([limitId, limit]) => ({ limitId, count: takeDemand(limit) }))
    if (uses.length === 0) return
    try {
      const reported = await options.repository.exchangeUses(uses, rateShareSilentMs)
      for (const [limitId, owners] of reported) {
        const share = shareOf(owners, options.ownerId)
        const limit = limits.get(limitId)
        if (limit && share !== null) setShare(limit, share, clock.monotonicMs())
      }
    } catch (error) {
      options.onFailure?.(error)
    }
  }

  async function divide(): Promise<void> {
    dropIdle(limits, clock.monotonicMs())
    await exchange(limits)
    if (++rounds % removeEveryRounds !== 0) return
    await options.repository.removeOld().catch((error: unknown) => options.onFailure?.(error))
  }

  async function join(limitId: string, limit: SharedLimit): Promise<void> {
    await exchange([[limitId, limit]])
    limit.joining = null
  }

  function begin(limitId: string, perMinute: number): SharedLimit {
    const limit = newLimit(perMinute, clock.monotonicMs())
    makeRoom(limits)
    limits.set(limitId, limit)
    limit.joining = join(limitId, limit)
    timer ??= setInterval(() => void divide(), rateShareEveryMs)
    timer.unref()
    return limit
  }

  function limitOf(limitId: string, perMinute: number): SharedLimit {
    const limit = limits.get(limitId) ?? begin(limitId, perMinute)
    return Object.assign(limit, { perMinute, usedAtMs: clock.monotonicMs() })
  }

  return {
    take(limitId, perMinute, burstMs = minuteMs) {
      const limit = limitOf(limitId, perMinute)
      limit.asked += 1
      const take = () => grant(limit, clock.monotonicMs(), burstMs)
      return limit.joining ? limit.joining.then(take) : take()
    },
    look(limitId, perMinute, burstMs = minuteMs, count = 1) {
      const limit = limitOf(limitId, perMinute)
      const wait = () => waitOf(limit, clock.monotonicMs(), burstMs, count)
      return limit.joining ? limit.joining.then(wait) : wait()
    },
    spend: (limitId, perMinute, count) => spend(limitOf(limitId, perMinute), count),
    want: (limitId, perMinute, count) => void (limitOf(limitId, perMinute).asked += count),
    giveBack: (limitId) => undo(limits.get(limitId)),
    divide,
    stop() {
      if (timer) clearInterval(timer)
      timer = null
    },
  }
}

function newLimit(perMinute: number, usedAtMs: number): SharedLimit {
  return { perMinute, share: 1, arrivalMs: 0, asked: 0, demand: 0, usedAtMs, joining: null }
}

/** The demand of the last seconds, with what was asked since the last division. */
function takeDemand(limit: SharedLimit): number {
  limit.demand = limit.demand * demandKept + limit.asked
  limit.asked = 0
  return Math.round(limit.demand)
}

function makeRoom(limits: Map<string, SharedLimit>): void {
  for (const oldest of limits.keys()) {
    if (limits.size < rateLimitsMax) return
    limits.delete(oldest)
  }
}

/** The generic cell rate algorithm; a burst's share may come at once, and one at least. */
function grant(limit: SharedLimit, nowMs: number, burstMs: number): number {
  const waitMs = waitOf(limit, nowMs, burstMs, 1)
  if (waitMs === 0) limit.arrivalMs = Math.max(limit.arrivalMs, nowMs) + intervalOf(limit)
  return waitMs
}

/** Milliseconds until so many more are granted, 0 when they are now. */
function waitOf(limit: SharedLimit, nowMs: number, burstMs: number, count: number): number {
  const arrivalMs = Math.max(limit.arrivalMs, nowMs)
  const waitMs = arrivalMs - nowMs - Math.max(0, burstMs - intervalOf(limit) * count)
  // Waits below a ten-thousandth of a millisecond are rounding errors of summed fractions.
  return waitMs > 1e-4 ? waitMs : 0
}

/** Uses up `count`, even more than is free. */
function spend(limit: SharedLimit, count: number): void {
  limit.asked = Math.max(0, limit.asked + count)
  const arrivalMs = Math.max(limit.arrivalMs, limit.usedAtMs) + intervalOf(limit) * count
  limit.arrivalMs = Math.min(arrivalMs, limit.usedAtMs + rateDebtMs)
}

function undo(limit: SharedLimit | undefined): void {
  if (limit) limit.arrivalMs -= intervalOf(limit)
}

function intervalOf({ perMinute, share }: SharedLimit): number {
  return minuteMs / Math.max(1, perMinute * share)
}

/** The part of a limit that this process may grant; null when it is not among the owners. */
function shareOf(owners: ReadonlyMap<string, number>, ownerId: string): number | null {
  const own = owners.get(ownerId)
  if (own === undefined) return null
  let total = 0
  for (const count of owners.values()) total += count + presence
  return (own + presence) / total
}

/** What was used beyond its time stays the same number of requests: at another pace it takes another time to run off. */
function setShare(limit: SharedLimit, share: number, nowMs: number): void {
  const aheadMs = limit.arrivalMs - nowMs
  if (aheadMs > 0) limit.arrivalMs = nowMs + Math.min(aheadMs * (limit.share / share), rateDebtMs)
  limit.share = share
}

function dropIdle(limits: Map<string, SharedLimit>, nowMs: number): void {
  // After two idle minutes all granted requests have run off, so forgetting the limit changes nothing. A debt of tokens is kept longer.
  for (const [limitId, { usedAtMs, arrivalMs }] of limits)
    if (Math.max(usedAtMs, arrivalMs) + 2 * minuteMs < nowMs) limits.delete(limitId)
}
