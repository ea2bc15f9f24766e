import type { Batch } from '../../canonical/batch.ts'
import type { Waiting } from '../../canonical/waiting.ts'
import type { Clock } from '../../core/clock.ts'
import { workerIdleMs } from '../../core/limits/batches.ts'
import type { ItemOutcome, ItemRequest } from '../item-contract.ts'
import { laneOf } from '../lanes/choose-lane.ts'
import { leavesInMs, type MoveReason } from '../lanes/item-moves.ts'
import type { LaneRoom, LaneRooms } from '../lanes/lane-room.ts'
import type { Lane } from '../lanes/lane.ts'

/** What one item does in its lane, from its start on. */
export interface LaneTurn {
  tier: ItemRequest['tier']
  /** Why the item runs outside the lane of its batch; null when it runs in it. */
  moved: MoveReason | null
  /** Called once, with how the item ended. */
  end(outcome: ItemOutcome): void
}

/** What `SegmentLane` needs. */
export interface SegmentLaneDependencies {
  batch: Batch
  rooms: LaneRooms
  clock: Clock
}

/** The lane of one segment's items: which of them may start now, and what they ask for. */
export class SegmentLane {
  readonly #batch: Batch
  readonly #clock: Clock
  readonly #lane: Lane
  /** Null in a lane that is never full. */
  readonly #room: LaneRoom | null
  readonly #stopListening: () => void
  #isBlocked = false

  constructor({ batch, rooms, clock }: SegmentLaneDependencies, wake: () => void) {
    this.#batch = batch
    this.#clock = clock
    this.#lane = laneOf(batch.lane)
    this.#room = this.#lane.waitsFor === null ? null : rooms.of(batch)
    this.#stopListening = this.#room?.listen(wake) ?? (() => undefined)
  }

  /** Whether an item that has not left the lane may start now. */
  hasPlace(): boolean {
    const mayStart = this.#room === null || this.#hasLeft() || this.#room.hasPlace(this.#batch.organizationId)
    this.#isBlocked = !mayStart
    return mayStart
  }

  /** Whether the last `hasPlace` found none. */
  get isBlocked(): boolean {
    return this.#isBlocked
  }

  /** Milliseconds after which a blocked segment looks again. */
  get restMs(): number {
    const restMs = Math.max(this.#room?.restMs ?? 0, workerIdleMs)
    return Math.min(restMs, leavesInMs(this.#batch, this.#clock.nowMs()) ?? restMs)
  }

  /** What items wait for that have not started, while the provider has no room. */
  waiting(items: number): Waiting[] {
    const { waitsFor } = this.#lane
    const sinceMs = this.#room?.fullSinceMs ?? null
    if (waitsFor === null || sinceMs === null || items === 0 || this.#hasLeft()) return []
    const nextTryMs = this.#clock.nowMs() + Math.ceil(this.#room?.restMs ?? 0)
    return [{ ...waitsFor, items, sinceMs, nextTryMs }]
  }

  /** An item starts; `moved`: why it left the lane before. */
  begin(moved: MoveReason | null): LaneTurn {
    const { organizationId, laneChoice } = this.#batch
    const { tier } = this.#lane
    const reason = moved ?? (tier !== null && this.#hasLeft() ? 'deadline' : null)
    if (tier === null || this.#room === null || reason !== null)
      return { tier: null, moved: reason, end: () => undefined }
    const release = this.#room.begin(organizationId)
    return {
      tier: { name: tier, isHeldAlone: laneChoice !== 'auto' },
      moved: null,
      end({ response, hasNoRoom, retryAfterMs = null }) {
        if (hasNoRoom) release({ type: 'full', retryAfterMs })
        else release({ type: response === null ? 'other' : 'answered' })
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
