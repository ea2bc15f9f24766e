import type { Slice } from './slices.ts'

/** An amount set aside for one call. It ends once: captured, or released. */
export interface Hold {
  /** Unique within the process, for logs. */
  readonly id: string
  /** Nanocredits set aside; 0 for accounts without any limit. At most what was asked for, at least the smallest amount. */
  readonly amount: bigint
}

/** Where a part of a charge goes: first to the lease it was held from, to the budget when that lease is gone. */
export interface Share {
  readonly slice: Slice
  /** `budget` once the lease was found closed, `parents` once the budget of a batch was. */
  target: 'lease' | 'budget' | 'parents'
  fromFree: bigint
  excess: bigint
}

/** A hold as billing keeps it. */
export interface SliceHold extends Hold {
  readonly shares: readonly Share[]
  state: 'held' | 'capturing' | 'ended'
  /** Of its capture, resolved when that is durable; null before. */
  captured: Promise<void> | null
}

let holdsMade = 0

/** A hold over these slices, from which the amount was granted already. */
export function createHold(amount: bigint, slices: readonly Slice[]): SliceHold {
  holdsMade += 1
  const shares = slices.length === 0 ? noShares : slices.map(toShare)
  return { id: `hold_${holdsMade}`, amount, shares, state: 'held', captured: null }
}

const noShares: readonly Share[] = []

function toShare(slice: Slice): Share {
  return { slice, target: 'lease', fromFree: 0n, excess: 0n }
}
