import type { BudgetRef, CaptureRow, Hold } from '../billing/billing.ts'
import type { Principal } from '../canonical/principal.ts'
import type { Demand } from '../canonical/usage.ts'
import type { BatchId, KeyId, OrganizationId } from '../core/ids.ts'
import type { BatchEndpoint, Lane } from '../canonical/batch.ts'
import type { ItemError, ItemResponse } from '../formats/batch/result-line.ts'
import type { BatchUsage } from '../formats/batch/batch-usage.ts'

/** One item, ready to be executed. */
export interface ItemRequest {
  principal: Principal
  batchId: BatchId
  customId: string
  endpoint: BatchEndpoint
  /** The batch's model; the body's own, when present, names the same. */
  model: string
  /** The caller's `body` object, as JSON. */
  body: Uint8Array
  providerOnly: readonly string[] | null
  /** The budgets to hold from: the batch's own, or none when nothing limits the organization. */
  budgets: readonly BudgetRef[]
  /** Aborted when the result is no longer wanted. */
  signal: AbortSignal
  /** Wall clock, Unix milliseconds: the batch's deadline. */
  deadlineMs: number
  /**
   * Moves as much of this amount as there is into the batch's budget, for what the item cost above its hold. Resolves with
   * whether all of it was moved. Never rejects.
   */
  enlarge?(missingNanocredits: bigint): Promise<boolean>
  /** Called with the provider while the item waits for a place there, and with null once it has one. */
  onQueued(place: QueuedPlace | null): void
}

/** A provider that an item waits for. */
export interface QueuedPlace {
  providerName: string
  /** How long the provider still rests because it refused calls; 0 when it is only busy. */
  restMs(): number
}

/** What is charged for an item, once its part is durable. */
export interface ItemCapture {
  hold: Hold
  row: CaptureRow
}

/** How an item ended. Exactly one of `response` and `error` is set, unless `retryLaterMs` is. */
export interface ItemOutcome {
  response: ItemResponse | null
  error: ItemError | null
  usage: BatchUsage | null
  /** What is charged for it; it becomes real with the part that holds the result, or not at all. */
  capture: ItemCapture | null
  /** Not an ending: the budget is short or the provider is cooling, so put the item back for so many milliseconds. */
  retryLaterMs: number | null
  /** What the batch's budget was short of for this item; 0 when money was not the reason or nobody said. */
  missingNanocredits: bigint
  /** The wait that the provider named; another provider may take the item earlier. */
  retryAfterMs?: number
}

/** Executes one item through the one path; never throws for the item's own fault. */
export type RunItem = (item: ItemRequest) => Promise<ItemOutcome>

/** What one item may cost, in nanocredits. */
export interface ItemEstimate {
  estimate: bigint
  worstCase: bigint
}

/** A batch's model, resolved: what serves it and what its items may cost. */
export interface ResolvedBatch {
  endpointIds: readonly string[]
  /** Of an item with this demand; null for one that cannot be decoded, which costs nothing because it fails by itself. */
  estimateItem(demand: Demand | null): ItemEstimate
  providerSlug: string | null
  lane: Lane
}

/** Resolves at acceptance; throws (or rejects with) 400 for the model, 404 and 403 for policy. */
export type ResolveBatch = (input: {
  principal: Principal
  endpoint: BatchEndpoint
  model: string
  providerOnly: readonly string[] | null
}) => ResolvedBatch | Promise<ResolvedBatch>

/** Who owns the batch, as its rules are now; null when the key or its organization is gone or disabled. */
export type LoadPrincipal = (owner: {
  organizationId: OrganizationId
  keyId: KeyId
}) => Promise<Principal | null>
