import type { Slice } from './slices.ts'

/**
 * An amount set aside for one call. It ends once: captured, or released. It has no time of its own: a call's deadline ends
 * the call and so its hold, and what a dead process held returns when `reaper.ts` ends that process's leases.
 */
export interface Hold {
  /** Unique within the process, for logs. */
  readonly id: string
  /** Nanocredits set aside; 0 for accounts without any limit. At most what was asked for, at least the smallest amount. */
  readonly amount: bigint
}

/** One budget's part in a hold, and where its charge goes: to the lease, or to the budget when that lease is gone. */
export interface Share {
  readonly slice: Slice
  /** `budget` once the lease was found closed; `parents` once the budget of a batch was found closed. */
  target: 'lease' | 'budget' | 'parents'
  fromFree: bigint
  excess: bigint
}

/** A hold as billing keeps it. */
export interface SliceHold extends Hold {
  readonly shares: readonly Share[]
  state: 'held' | 'capturing' | 'ended'
  /** The promise of its capture, resolved when that is durable; null before the capture. */
  captured: Promise<void> | null
}

let holdsMade = 0

/** A hold over these slices, from which the amount was granted already. */
export function createHold(amount: bigint, slices: readonly Slice[]): SliceHold {
  holdsMade += 1
  const shares = slices.length === 0 ? noShares : slices.map(toShare)
  return { id: `hold_${holdsMade}`, amount, shares, state: 'held', captured: null }
}

/**
 * One hold for two, if both are from the same slices. Null, and nothing has changed, when a slice was replaced between
 * them. After joining, the two holds must not be used any more.
 */
export function joinHolds(first: SliceHold, second: SliceHold): SliceHold | null {
  const isJoinable =
    first.state === 'held' &&
    second.state === 'held' &&
    first.shares.length === second.shares.length &&
    first.shares.every(({ slice }, index) => second.shares[index]?.slice === slice)
  if (!isJoinable) return null
  first.state = 'ended'
  second.state = 'ended'
  for (const { slice } of second.shares) slice.joinHolds()
  return createHold(
    first.amount + second.amount,
    first.shares.map(({ slice }) => slice),
  )
}

const noShares: readonly Share[] = []

function toShare(slice: Slice): Share {
  return { slice, target: 'lease', fromFree: 0n, excess: 0n }
}
