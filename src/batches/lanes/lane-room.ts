import type { WaitingReason } from '../../canonical/waiting.ts'
import type { Clock } from '../../core/clock.ts'

/** The first rest of a lane that its provider refused for want of room; it doubles while nothing is answered. */
export const laneRestMs = 5_000
/** The longest such rest, also when the provider names a longer one: room may be there again earlier. */
export const laneRestMaxMs = 300_000
/**
 * The circuit of a lane opens when so many of its items have failed one after the other, over at least so long, with no
 * answer to any item between them. One item fails by itself; several different ones do when their provider is down.
 */
export const circuitItems = 5
export const circuitOpensMs = 10_000
/**
 * How long a circuit waits for a provider that is there and answers every item with a failure of its own. After that each
 * item is asked once more, and what fails has failed. A provider that cannot be reached is waited for until the deadline.
 */
export const circuitPatienceMs = 7_200_000
/** Failures that are further apart than this do not belong to one row: an open circuit asks more often. */
const faultRowGapMs = 2 * laneRestMaxMs
/** Organizations that asked for a place this recently still want one. */
const wantedMs = 2_000
/** Rooms that a process remembers. */
const roomsMax = 1_000

/** How an item that had a place ended, as far as room is concerned. */
export type RoomOutcome =
  | { type: 'answered' | 'other' }
  | { type: 'full'; retryAfterMs: number | null }
  /** Not asked: the operator's quota has room again after so long. The provider may have all the room there is. */
  | { type: 'held'; waitMs: number }
  /** Its provider failed; `item` tells it from other items. */
  | {
      type: 'failed'
      item: string
      retryAfterMs: number | null
      reason: WaitingReason
      /** Whether the provider itself answered so, as with status 500. Otherwise nothing answered, or something before it. */
      isAnswered: boolean
    }

/** What follows for an item: `waits`: it has not had its try. `given up`: it has had its last one. */
export type RoomVerdict = 'tried' | 'waits' | 'given up'

/**
 * How many items of one lane and model this process may have running at its provider. Unbounded until the provider
 * refuses one for want of room; then the lane rests, and half as many items may run, or one when nothing was answered.
 * Each answer makes room for one more. So a full provider is asked by one item now and then, not by every item of every
 * batch. The same happens when the provider is down, which its failures tell (`circuitItems`).
 */
export class LaneRoom {
  readonly #clock: Clock
  readonly #held = new Map<string, number>()
  /** When each organization last wanted a place and got none, monotonic. */
  readonly #wanted = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  #running = 0
  #places = Number.POSITIVE_INFINITY
  #restUntilMs = Number.NEGATIVE_INFINITY
  #nextRestMs = laneRestMs
  /** Whether an item was answered since the last rest. */
  #hasAnswered = false
  /** Wall clock, since when the provider has had no room; null while it has. */
  #fullSinceMs: number | null = null
  /** Items that failed since the last answer, up to `circuitItems` of them, and since when (monotonic). */
  readonly #failed = new Set<string>()
  #failingSinceMs = 0
  #failure: WaitingReason | null = null
  /** The row of failures that the provider itself answered: when it began and when it went on (monotonic). */
  #faults: { sinceMs: number; lastMs: number } | null = null
  #isGivenUp = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Milliseconds until the lane may be asked again; 0 when it may be asked now. */
  get restMs(): number {
    return Math.max(0, this.#restUntilMs - this.#clock.monotonicMs())
  }

  get fullSinceMs(): number | null {
    return this.#fullSinceMs
  }

  /** The last failure of the provider while the circuit is open; null while it is closed. */
  get failure(): WaitingReason | null {
    return this.#failure
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.restMs === 0 && this.#listeners.size === 0
  }

  /** Whether an item of this organization may start. A free place goes to the organization with the fewest. */
  hasPlace(organizationId: string): boolean {
    const isFree = this.restMs === 0 && this.#running < this.#places && !this.#isOutranked(organizationId)
    if (isFree) this.#wanted.delete(organizationId)
    else this.#wanted.set(organizationId, this.#clock.monotonicMs())
    return isFree
  }

  /**
   * Takes a place. The returned function gives it back, once, and is told how the item ended. An item waits when the lane is
   * at rest for the same reason.
   */
  begin(organizationId: string): (outcome: RoomOutcome) => RoomVerdict {
    this.#running++
    this.#held.set(organizationId, this.#heldBy(organizationId) + 1)
    const beganMs = this.#clock.monotonicMs()
    return (outcome) => {
      this.#running--
      const left = this.#heldBy(organizationId) - 1
      if (left > 0) this.#held.set(organizationId, left)
      else this.#held.delete(organizationId)
      if (outcome.type === 'answered') this.#grow()
      else if (outcome.type === 'full') this.#rest(beganMs, outcome.retryAfterMs)
      else if (outcome.type === 'held')
        this.#restUntilMs = Math.max(this.#restUntilMs, this.#clock.monotonicMs() + outcome.waitMs)
      else if (outcome.type === 'failed') this.#noteFailure(beganMs, outcome)
      for (const wake of this.#listeners) wake()
      if (outcome.type === 'failed' && this.#isGivenUp) return 'given up'
      const isAtRest =
        outcome.type === 'full' ||
        outcome.type === 'held' ||
        (outcome.type === 'failed' && this.#failure !== null)
      return isAtRest ? 'waits' : 'tried'
    }
  }

  /** Calls back after every change; returns how to stop that. */
  listen(wake: () => void): () => void {
    this.#listeners.add(wake)
    return () => void this.#listeners.delete(wake)
  }

  #heldBy(organizationId: string): number {
    return this.#held.get(organizationId) ?? 0
  }

  /** Only while places are short: then an organization with fewer places, which wants one now, comes first. */
  #isOutranked(organizationId: string): boolean {
    if (this.#places === Number.POSITIVE_INFINITY) return false
    const sinceMs = this.#clock.monotonicMs() - wantedMs
    for (const [other, wantedAtMs] of this.#wanted) {
      if (wantedAtMs < sinceMs) this.#wanted.delete(other)
      else if (other !== organizationId && this.#heldBy(other) < this.#heldBy(organizationId)) return true
    }
    return false
  }

  #noteFailure(beganMs: number, failed: RoomOutcome & { type: 'failed' }): void {
    const { item, retryAfterMs, reason } = failed
    const nowMs = this.#clock.monotonicMs()
    this.#noteFault(failed.isAnswered, nowMs)
    if (this.#isGivenUp) return
    if (this.#failed.size === 0) this.#failingSinceMs = nowMs
    if (this.#failed.size < circuitItems) this.#failed.add(item)
    if (this.#failed.size < circuitItems || nowMs - this.#failingSinceMs < circuitOpensMs) return
    if (this.#faults !== null && nowMs - this.#faults.sinceMs >= circuitPatienceMs) return this.#giveUp()
    this.#failure = reason
    this.#hasAnswered = false
    this.#rest(beganMs, retryAfterMs)
  }

  /** A failure that the provider did not answer itself ends the row: then it is waited for. */
  #noteFault(isAnswered: boolean, nowMs: number): void {
    const isNew = this.#faults === null || nowMs - this.#faults.lastMs > faultRowGapMs
    if (!isAnswered || isNew) this.#isGivenUp = false
    if (!isAnswered) this.#faults = null
    else this.#faults = { sinceMs: isNew ? nowMs : (this.#faults?.sinceMs ?? nowMs), lastMs: nowMs }
  }

  /** Every item may be asked, once. */
  #giveUp(): void {
    this.#isGivenUp = true
    this.#open()
    this.#places = Number.POSITIVE_INFINITY
    this.#restUntilMs = Number.NEGATIVE_INFINITY
    this.#nextRestMs = laneRestMs
  }

  #open(): void {
    this.#failed.clear()
    this.#failure = null
    this.#fullSinceMs = null
  }

  #grow(): void {
    this.#open()
    this.#faults = null
    this.#isGivenUp = false
    this.#hasAnswered = true
    this.#nextRestMs = laneRestMs
    this.#places += 1
  }

  /** A refusal of a call that began before the last rest is an answer to the same lack of room. */
  #rest(beganMs: number, retryAfterMs: number | null): void {
    const nowMs = this.#clock.monotonicMs()
    this.#fullSinceMs ??= this.#clock.nowMs()
    if (this.restMs > 0 || beganMs < this.#restUntilMs) return
    const running = Math.min(this.#places, this.#running + 1)
    this.#places = this.#hasAnswered ? Math.max(1, Math.floor(running / 2)) : 1
    this.#hasAnswered = false
    this.#restUntilMs = nowMs + Math.min(Math.max(retryAfterMs ?? 0, this.#nextRestMs), laneRestMaxMs)
    this.#nextRestMs = Math.min(this.#nextRestMs * 2, laneRestMaxMs)
  }
}

/** The rooms of this process, one for each lane, model and choice of providers. */
export class LaneRooms {
  readonly #clock: Clock
  readonly #rooms = new Map<string, LaneRoom>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(batch: { lane: string; model: string; providerOnly: readonly string[] | null }): LaneRoom {
    const key = JSON.stringify([batch.lane, batch.model, batch.providerOnly])
    const known = this.#rooms.get(key)
    if (known) return known
    if (this.#rooms.size >= roomsMax)
      for (const [other, room] of this.#rooms) if (room.isIdle) this.#rooms.delete(other)
    const room = new LaneRoom(this.#clock)
    this.#rooms.set(key, room)
    return room
  }
}
