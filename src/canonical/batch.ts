import type { BatchId, KeyId, OrganizationId } from '../core/ids.ts'

/** The operations a batch can ask for, by the path that its JSON field `endpoint` carries. */
export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
] as const
/** One of `batchEndpoints`. */
export type BatchEndpoint = (typeof batchEndpoints)[number]

/** What callers see of a batch's life. */
export const batchStatuses = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const
/** One of `batchStatuses`. */
export type BatchStatus = (typeof batchStatuses)[number]

/**
 * The stored status. `expiring`: the deadline has passed, and unfinished items are being closed. `failing`: results could
 * not be stored, and running items are being given up. Callers see both as `finalizing`, because the contract has no
 * words for them.
 */
export type StoredStatus = BatchStatus | 'expiring' | 'failing'

/** How much one organization may queue, as the operator says; null for no limit. */
export interface BatchLimits {
  /** Items of one batch. */
  items: number | null
  /** Items that all of its batches still have to run. */
  queuedItems: number | null
}

/** The ways in which a batch's items can reach a provider; `src/batches/lanes` has what each of them means. */
export const laneNames = ['native', 'flex', 'emulated'] as const
/** One of `laneNames`. */
export type LaneName = (typeof laneNames)[number]

/** What the caller of a batch may ask for: one lane, or the gateway's choice, which may also move items later. */
export const laneChoices = ['auto', ...laneNames] as const
/** One of `laneChoices`. */
export type LaneChoice = (typeof laneChoices)[number]

/** How many items of a batch ended in another lane than its own, and why. */
export interface LaneMove {
  from: LaneName
  to: LaneName
  /** `deadline`, or the type of the error with which the items failed in the first lane. */
  reason: string
  items: number
}

/** What is wrong with a line of an input file, as OpenAI says it. */
export interface LineFault {
  code: string
  message: string
  param: string | null
  /** From 1; null for the file as a whole. */
  line: number | null
}

/** One job of a provider's own batch service that runs items of a batch, as its caller sees it. */
export interface LaneJob {
  /** `preparing`: its provider has not confirmed it. `collecting`: its provider has ended it, and results are taken in. */
  state: 'preparing' | 'running' | 'collecting' | 'ended'
  /** The items that were sent; 0 until then. */
  items: number
  /** How it ended: `completed`, `failed`, `expired` or `cancelled` by its provider, `refused`, `abandoned` or `unneeded`. */
  ended_as?: string
  /** Lines of its results that answer no item. */
  stray_lines?: number
  /** What it has made at its provider and is not removed yet. */
  left?: number
}

/** The items of one model among those of a batch. They stand together, in the order in which models were first named. */
export interface BatchModel {
  model: string
  items: number
  /** The lane in which they start: the batch's, or the emulated one. */
  lane: LaneName
}

/** One batch as stored. Times are Unix milliseconds by the database's clock. */
export interface Batch {
  id: BatchId
  organizationId: OrganizationId
  keyId: KeyId
  endpoint: BatchEndpoint
  /** The model of its items, or of the first of them. */
  model: string
  /** Null where all items have one model. */
  models: readonly BatchModel[] | null
  /** The caller's `provider.only`, null when there was none. */
  providerOnly: readonly string[] | null
  completionWindow: string
  status: StoredStatus
  /** What the caller asked for. */
  laneChoice: LaneChoice
  /** The lane in which the items start. */
  lane: LaneName
  createdAtMs: number
  startedAtMs: number | null
  finalizedAtMs: number | null
  cancelRequestedAtMs: number | null
  expiresAtMs: number
  totalItems: number
  completedItems: number
  failedItems: number
  /** Of the failed items, those that were closed because the batch was cancelled, and because it had expired. */
  cancelledItems: number
  expiredItems: number
  /** Bytes of the answers and of the errors, as lines of the files that OpenAI's clients read. */
  outputBytes: number
  errorBytes: number
  estimateNanocredits: bigint
  worstCaseNanocredits: bigint
  /** The most that the batch's budget may grow to; null means the amount of its parents. */
  maxCostNanocredits: bigint | null
  /** The budgets that the batch's own was carved out of; empty when nothing limits its organization. */
  budgetParents: readonly string[]
  /** JSON of the summed usage, null until terminal. */
  usageJson: string | null
  /** `anthropic-beta` of the request that created the batch, for each of its items; null when there was none. */
  betas: string | null
  /** The file that the batch was made of; null for a batch whose requests came with it. */
  inputFileId: string | null
  /** What the caller noted on the batch. */
  callerMetadata: Readonly<Record<string, string>> | null
  /** Why a batch that was made of a file failed before anything ran. */
  lineFaults: readonly LineFault[]
  /** JSON of the batch's error; before the end it may say why the batch waits. */
  errorJson: string | null
  requestBytes: number
  providerSlug: string | null
  /** Where the end is told; null when the caller named no address. */
  callbackUrl: string | null
}

/** The models of a batch, with its own facts where it has one. */
export function modelsOf(
  batch: Pick<Batch, 'model' | 'models' | 'totalItems' | 'lane'>,
): readonly BatchModel[] {
  return batch.models ?? [{ model: batch.model, items: batch.totalItems, lane: batch.lane }]
}

/** The model of the item in this place of the batch. */
export function modelOfItem({ model, models }: Pick<Batch, 'model' | 'models'>, item: number): string {
  let end = 0
  for (const each of models ?? []) {
    end += each.items
    if (item < end) return each.model
  }
  return model
}

/** The statuses of a batch that has ended. */
export const terminalStatuses: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled'])

/** Whether the batch has ended and will not change any more. */
export function isTerminal(status: StoredStatus): boolean {
  return terminalStatuses.has(status)
}

/** Whether every item has an entry in `results`. A failed batch has none, because nothing ran or not all could be stored. */
export function hasResults(status: StoredStatus): boolean {
  return isTerminal(status) && status !== 'failed'
}

/** The status callers see. */
export function shownStatus(status: StoredStatus): BatchStatus {
  return status === 'expiring' || status === 'failing' ? 'finalizing' : status
}

/** The id of an item's result, always the same for the item. */
export function resultIdOf(batchId: BatchId, item: number): string {
  return `batch_req_${batchId.slice(batchId.indexOf('_') + 1)}_${item.toString(36)}`
}
