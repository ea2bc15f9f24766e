import { type Batch, modelOfItem } from '../../canonical/batch.ts'
import type { Waiting, WaitingReason } from '../../canonical/waiting.ts'
import type { Clock } from '../../core/clock.ts'
import { workerIdleMs } from '../../core/limits/batches.ts'
import type { ItemOutcome, ItemRequest } from '../item-contract.ts'
import { laneOf } from '../lanes/choose-lane.ts'
import { leavesInMs, type MoveReason } from '../lanes/item-moves.ts'
import type { LaneRoom, LaneRooms, RoomOutcome, RoomVerdict } from '../lanes/lane-room.ts'
import type { Lane } from '../lanes/lane.ts'
import type { SegmentLease } from './segment-repository.ts'

/** What one item does in its lane, from its start on. */
export interface LaneTurn {
  tier: ItemRequest['tier']
  /** Why the item runs outside the lane of its batch; null when it runs in it. */
  moved: MoveReason | null
  /** Called once, with how the item ended. */
  end(outcome: ItemOutcome): RoomVerdict
}

/** What `SegmentLane` needs. */
export interface SegmentLaneDependencies {
  batch: Batch
  lease: Pick<SegmentLease, 'firstItem'>
  rooms: LaneRooms
  clock: Clock
}

/** The lane of one segment's items: which of them may start now, and what they ask for. */
export class SegmentLane {
  readonly #batch: Batch
  readonly #clock: Clock
  readonly #lane: Lane
  readonly #room: LaneRoom
  readonly #stopListening: () => void
  #isBlocked = false

  constructor({ batch, lease, rooms, clock }: SegmentLaneDependencies, wake: () => void) {
    this.#batch = batch
    this.#clock = clock
    this.#lane = laneOf(batch.lane)
    // What is left of a provider's jobs runs in the emulated lane.
    const asked = { ...batch, model: modelOfItem(batch, lease.firstItem) }
    this.#room = rooms.of(this.#lane.tier === null ? { ...asked, lane: 'emulated' } : asked)
    this.#stopListening = this.#room.listen(wake)
  }

  /** Whether an item that has not left the lane may start now. */
  hasPlace(): boolean {
    const mayStart = this.#hasLeft() || this.#room.hasPlace(this.#batch.organizationId)
    this.#isBlocked = !mayStart
    return mayStart
  }

  /** Whether the last `hasPlace` found none. */
  get isBlocked(): boolean {
    return this.#isBlocked
  }

  /** Milliseconds after which a blocked segment looks again. */
  get restMs(): number {
    const restMs = Math.max(this.#room.restMs, workerIdleMs)
    return Math.min(restMs, leavesInMs(this.#batch, this.#clock.nowMs()) ?? restMs)
  }

  /** What items wait for while the lane takes none; null while nothing is known to be in their way. */
  get waitsFor(): WaitingReason | null {
    return this.#lane.waitsFor ?? this.#room.failure
  }

  /** What items wait for that have not started, while the provider has no room or is down. */
  waiting(items: number): Waiting[] {
    const sinceMs = this.#room.fullSinceMs
    const { waitsFor } = this
    if (waitsFor === null || sinceMs === null || items === 0 || this.#hasLeft()) return []
    const nextTryMs = this.#clock.nowMs() + Math.ceil(this.#room.restMs)
    return [{ ...waitsFor, items, sinceMs, nextTryMs }]
  }

  /** An item starts; `moved`: why it left the lane before; `item` tells it from others. */
  begin(item: string, moved: MoveReason | null): LaneTurn {
    const { organizationId, laneChoice } = this.#batch
    const { tier } = this.#lane
    if (tier === null) {
      const release = this.#room.begin(organizationId)
      return { tier: null, moved, end: (outcome) => release(untieredOutcome(item, outcome)) }
    }
    const reason = moved ?? (this.#hasLeft() ? 'deadline' : null)
    if (reason !== null) return { tier: null, moved: reason, end: () => 'tried' }
    const release = this.#room.begin(organizationId)
    return {
      tier: { name: tier, isHeldAlone: laneChoice !== 'auto' },
      moved: null,
      end(outcome) {
        const { response, hasNoRoom, retryAfterMs = null } = outcome
        if (isHeld(outcome)) return release({ type: 'held', waitMs: retryAfterMs ?? 0 })
        if (hasNoRoom) return release({ type: 'full', retryAfterMs })
        return release({ type: response === null ? 'other' : 'answered' })
      },
    }
  }

  /** The segment's run has ended. */
  close(): void {
    this.#stopListening()
  }

  /** Whether items leave the lane now, because the deadline is near. */
  #hasLeft(): boolean {
    return leavesInMs(this.#batch, this.#clock.nowMs()) === 0
  }
}

/** Errors that, when every item meets them, say that the provider is down or takes nothing. */
const outageErrors: ReadonlySet<string> = new Set([
  'provider_failed',
  'provider_overloaded',
  'provider_timeout',
  'upstream_rate_limited',
  'no_healthy_endpoint',
])

/** Whether it was not sent, because the operator's quota has no room. */
function isHeld({ error }: ItemOutcome): boolean {
  return error?.type === 'quota_used_up'
}

function untieredOutcome(item: string, outcome: ItemOutcome): RoomOutcome {
  const { response, error, retryLaterMs, retryAfterMs, isAnsweredFailure } = outcome
  if (response !== null) return { type: 'answered' }
  if (isHeld(outcome)) return { type: 'held', waitMs: retryAfterMs ?? 0 }
  if (error === null || retryLaterMs !== null || !outageErrors.has(error.type)) return { type: 'other' }
  return {
    type: 'failed',
    item,
    retryAfterMs: retryAfterMs ?? null,
    reason: error,
    isAnswered: isAnsweredFailure === true,
  }
}
