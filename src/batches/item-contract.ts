import type { BudgetRef, CaptureRow, Hold } from '../billing/billing.ts'
import type { Principal } from '../canonical/principal.ts'
import type { Demand } from '../canonical/usage.ts'
import type { BatchId, KeyId, OrganizationId } from '../core/ids.ts'
import type { BatchEndpoint, LaneChoice, LaneName } from '../canonical/batch.ts'
import type { ItemError, ItemResponse } from '../formats/batch/result-line.ts'
import type { BatchUsage } from '../formats/batch/batch-usage.ts'

/** One item, ready to be executed. */
export interface ItemRequest {
  principal: Principal
  batchId: BatchId
  customId: string
  endpoint: BatchEndpoint
  /** The batch's model; if the body has one too, it is the same. */
  model: string
  /** The caller's `body` object, as JSON. */
  body: Uint8Array
  providerOnly: readonly string[] | null
  /** The caller's `anthropic-beta`; null where there was none. */
  betas: string | null
  /**
   * A cheaper service tier that the item asks for unless its body names one. `isHeldAlone`: only that tier's price is held.
   * Null: it is served as its body says.
   */
  tier: { name: string; isHeldAlone: boolean } | null
  /** The budgets to hold from: the batch's own, or none when nothing limits the organization. */
  budgets: readonly BudgetRef[]
  /** Aborted when the result is no longer wanted. */
  signal: AbortSignal
  /** Wall clock, Unix milliseconds: the batch's deadline. */
  deadlineMs: number
  /**
   * Moves up to this amount into the batch's budget, because the item cost more than its hold. Resolves with whether the
   * whole amount was moved; rejects when storage is unavailable.
   */
  enlarge?(missingNanocredits: bigint): Promise<boolean>
  /** Called with the provider while the item waits for a place there, and with null once it has one. */
  onQueued(place: QueuedPlace | null): void
}

/** A provider that an item waits for. */
export interface QueuedPlace {
  providerName: string
  /** How long the provider still rests after it refused calls; 0 when it is only busy. */
  restMs(): number
}

/** The charge for an item, made when its part is committed. */
export interface ItemCapture {
  hold: Hold
  row: CaptureRow
}

/** How an item ended. Exactly one of `response` and `error` is set, unless `retryLaterMs` is. */
export interface ItemOutcome {
  response: ItemResponse | null
  error: ItemError | null
  usage: BatchUsage | null
  /** The item's charge; it is committed with the part that holds the result, or not at all. */
  capture: ItemCapture | null
  /** Set when the item has not ended: the budget is short or the provider rests. Put the item back for so many milliseconds. */
  retryLaterMs: number | null
  /** The amount that the batch's budget lacked for this item; 0 when money was not the reason, or the amount is unknown. */
  missingNanocredits: bigint
  /** The wait that the provider named; a different provider may take the item earlier. */
  retryAfterMs?: number
  /** Set when the item asked for `tier`. */
  hasAskedTier?: true
  /** Set when `tier` has no room at the provider: the item waits, and the try does not count. */
  hasNoRoom?: true
  /**
   * Called once the result is durable. An item of a provider's job is logged then and not before, because results that were
   * not stored are taken in again.
   */
  noteDurable?(): void
  /** Set when the provider itself answered that it failed, as with status 500: it is there, and may fail again. */
  isAnsweredFailure?: true
}

/** Executes one item through the one path; a failure of the item is an outcome, not a rejection. */
export type RunItem = (item: ItemRequest) => Promise<ItemOutcome>

/** What one item may cost, in nanocredits. */
export interface ItemEstimate {
  estimate: bigint
  worstCase: bigint
}

/** The cost of an item with this demand. Null is an item that cannot be decoded: it fails by itself and costs nothing. */
export type EstimateItem = (demand: Demand | null) => ItemEstimate

/** A lane that a batch could take, and what its items cost there. */
export interface LaneOffer {
  lane: LaneName
  estimateItem: EstimateItem
}

/** A batch's model, resolved: what serves it, in which lane, and what its items may cost. */
export interface ResolvedBatch {
  endpointIds: readonly string[]
  providerSlug: string | null
  lane: LaneName
  /** Of the offers, the one whose price is set aside: the dearest lane that the items may take. */
  heldLane: LaneName
  /** Every lane that the batch could have, its own first. */
  offers: readonly LaneOffer[]
}

/** Resolves at acceptance and again before the first item; throws (or rejects with) 400 for the model and a lane that it does not have, 404 and 403 for policy. */
export type ResolveBatch = (input: {
  principal: Principal
  endpoint: BatchEndpoint
  model: string
  providerOnly: readonly string[] | null
  lane: LaneChoice
  /** 0 while the number is not known. */
  items: number
  /** Of the items, those that a provider's jobs would run; absent where that is not known, and then it is all of them. */
  jobItems?: number
}) => ResolvedBatch | Promise<ResolvedBatch>

/** The batch's owner under the rules of now; null when the key or its organization is gone or disabled. */
export type LoadPrincipal = (owner: {
  organizationId: OrganizationId
  keyId: KeyId
}) => Promise<Principal | null>
