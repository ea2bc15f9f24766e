import { paymentRequiredGuard } from '../../billing/budgets/budget-repository.ts'
import type { BudgetRef } from '../../billing/billing.ts'
import { limitNames, limitSources, remedies } from '../../billing/budgets/granter.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import type { BatchId } from '../../core/ids.ts'
import { recallWaitMs } from '../../core/limits/billing.ts'
import { formatCredits, toCredits } from '../../core/money.ts'
import { unavailable } from '../batch-availability.ts'
import { lockOrganization } from '../../access/organization-repository.ts'
import type { Batch, BatchEndpoint, BatchLimits } from '../../canonical/batch.ts'
import type { LinesRefused } from '../../formats/batch/line-faults.ts'
import {
  type BatchRepository,
  type FileOrigin,
  insertBatch,
  insertRefusedBatch,
  queueFullGuard,
  requireQueueRoom,
  toBatch,
} from '../batch-repository.ts'
import { showOffers } from '../../formats/batch/batch-object.ts'
import type { CommitAnswer, Committed, Committer } from '../committer.ts'
import type { Claimed } from './idempotency.ts'
import type { Ingested } from './ingest.ts'
import type { BatchMoney } from '../running/batch-money.ts'
import type { Pause } from '../running/pause.ts'
import { insertSegments } from '../running/segment-repository.ts'

/** Time between two looks at a budget that others were asked to give back to. */
const acceptRetryMs = 50
/** Seconds after which a batch that found the queue full may be sent again. */
const queueRetrySeconds = 60
/** What becomes of a batch within its completion window. */
const completionWindowMs = 86_400_000

/** What `checkAffordable` needs. */
export interface AffordDependencies {
  money: BatchMoney
  pause: Pause
  clock: Clock
}

/** What `acceptBatch` needs. */
export interface AcceptDependencies extends AffordDependencies {
  committer: Committer
  batches: BatchRepository
  limits: BatchLimits
}

/** An upload to be accepted. */
export interface Acceptance {
  batchId: BatchId
  principal: Principal
  upload: Ingested
  /** As in `CreateBatch`. */
  betas: string | null
  origin: FileOrigin | null
  /** The request's idempotency key, completed in the same unit; null without one. */
  remembered: Remembered | null
}

/** The claim of an idempotency key, and the hash that the body of a repetition must have. */
export interface Remembered {
  claim: Claimed
  bodySha256: string
}

/**
 * Creates the batch in one unit: its row, its segments, its budget and the memory of its idempotency key. After that
 * the 202 may be sent. Throws `payment_required` with the estimate, the worst case and the available amount, or
 * `batch_unavailable` while a process that does not answer has enough; then nothing was written.
 */
export async function acceptBatch(acceptance: Acceptance, dependencies: AcceptDependencies): Promise<Batch> {
  const { batchId, upload, principal } = acceptance
  return untilAffordable(upload, principal, dependencies, async (parents) => {
    const answer = await commitAcceptance(acceptance, parents, dependencies)
    if (answer.type === 'committed') return acceptedBatch(answer, batchId, dependencies)
    if (answer.guard === paymentRequiredGuard) return null
    if (answer.guard === queueFullGuard) throw queueFull(dependencies.limits)
    throw new Error(`accepting a batch failed on ${answer.guard}`)
  })
}

/**
 * Checks whether `acceptBatch` would accept the upload now, and throws what it would throw. Resolves with the available
 * amounts of the budgets that limit the principal; null when none does. Sets nothing aside.
 */
export async function checkAffordable(
  upload: Priced,
  principal: Principal,
  dependencies: AffordDependencies,
): Promise<bigint | null> {
  const found = await untilAffordable(upload, principal, dependencies, async (parents) => {
    if (parents.length === 0) return { available: null }
    const { available } = await dependencies.money.scarcest(parents)
    return available >= upload.estimate ? { available } : null
  })
  return found.available
}

/** The figures of an upload that its budget depends on. */
export type Priced = Pick<Ingested, 'estimate' | 'worstCase' | 'offers' | 'maxCostNanocredits'>

/** Repeats `attempt` for a moment while it finds too little money (null); then refuses. */
async function untilAffordable<T>(
  upload: Priced,
  principal: Principal,
  dependencies: AffordDependencies,
  attempt: (parents: readonly BudgetRef[]) => Promise<T | null>,
): Promise<T> {
  checkMaxCost(upload)
  const parents = dependencies.money.parentsOf(principal)
  const untilMs = dependencies.clock.monotonicMs() + recallWaitMs
  let isRecalled = false
  for (;;) {
    const found = await attempt(parents)
    if (found !== null) return found
    // Other processes may have slices that they do not use, so they are asked to give them back before a refusal.
    if (!isRecalled) await dependencies.money.recall(parents)
    isRecalled = true
    if (dependencies.clock.monotonicMs() >= untilMs) {
      if (await dependencies.money.willReturn(parents, upload.estimate)) throw unavailable()
      throw await tooExpensive(upload, parents, dependencies.money)
    }
    await dependencies.pause(acceptRetryMs)
  }
}

function commitAcceptance(
  { batchId, principal, upload, remembered, betas, origin }: Acceptance,
  parents: readonly BudgetRef[],
  { committer, money, batches, limits }: AcceptDependencies,
): Promise<CommitAnswer> {
  const budgetParents = parents.map((parent) => parent.budgetId)
  const insert = insertBatch({
    id: batchId,
    principal,
    endpoint: upload.endpoint,
    model: upload.model,
    models: upload.models,
    providerOnly: upload.providerOnly,
    laneChoice: upload.laneChoice,
    lane: upload.lane,
    providerSlug: upload.providerSlug,
    totalItems: upload.totalItems,
    requestBytes: upload.requestBytes,
    estimateNanocredits: upload.estimate,
    worstCaseNanocredits: upload.worstCase,
    maxCostNanocredits: upload.maxCostNanocredits,
    budgetParents,
    betas,
    origin,
    idempotencyId: remembered?.claim.claimId ?? null,
    callbackUrl: upload.callbackUrl,
    windowMs: completionWindowMs,
  })
  const budget = { id: batchId, organizationId: principal.organizationId, budgetParents }
  const statements = [
    insert,
    insertSegments(batchId, upload.segments),
    ...queueStatements({ id: batchId, organizationId: principal.organizationId }, limits),
    ...money.accept(budget, parents, upload.estimate),
    ...completionOf(remembered, batchId),
  ]
  return committer.commit('batch.accept', statements, async () => (await batches.load(batchId)) !== null)
}

function completionOf(remembered: Remembered | null, batchId: BatchId) {
  if (remembered === null) return []
  const { claim, bodySha256 } = remembered
  return [claim.completion({ bodySha256, referenceId: batchId })]
}

/** The lock makes batches that come at the same time count one another. */
function queueStatements(batch: Pick<Batch, 'id' | 'organizationId'>, { queuedItems }: BatchLimits) {
  return queuedItems === null
    ? []
    : [lockOrganization(batch.organizationId), requireQueueRoom(batch, queuedItems)]
}

/** Throws what `acceptBatch` throws for a queue that is full. */
export async function checkQueue(
  { totalItems }: Pick<Ingested, 'totalItems'>,
  { organizationId }: Pick<Principal, 'organizationId'>,
  { batches, limits }: Pick<AcceptDependencies, 'batches' | 'limits'>,
): Promise<void> {
  const { queuedItems } = limits
  if (queuedItems === null) return
  if ((await batches.countQueued(organizationId)) + totalItems > queuedItems) throw queueFull(limits)
}

function queueFull({ queuedItems }: BatchLimits): GatewayError {
  const message = `The batches of your organization would have more than ${queuedItems} requests still to run. Send this one when others have ended.`
  const metadata = { limit_source: 'organization_queued_items' }
  return new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds: queueRetrySeconds, metadata })
}

/** Keeps a batch that has failed because of the lines of its file, so that its caller can read why. Costs nothing. */
export async function keepRefused(
  {
    batchId,
    principal,
    endpoint,
    origin,
    remembered,
  }: Pick<Acceptance, 'batchId' | 'principal' | 'origin' | 'remembered'> & { endpoint: BatchEndpoint },
  { faults: lineFaults, model }: LinesRefused,
  { committer, batches }: Pick<AcceptDependencies, 'committer' | 'batches'>,
): Promise<Batch> {
  const batch = { id: batchId, principal, endpoint, model, windowMs: completionWindowMs }
  const statements = [insertRefusedBatch(batch, { origin, lineFaults }), ...completionOf(remembered, batchId)]
  const proof = async () => (await batches.load(batchId)) !== null
  const answer = await committer.commit('batch.accept', statements, proof)
  if (answer.type !== 'committed') throw new Error(`keeping a failed batch was refused by ${answer.guard}`)
  return acceptedBatch(answer, batchId, { batches })
}

/** The accepted batch. The unit returned no rows when the answer to its commit was lost; then the batch is loaded. */
async function acceptedBatch(
  { rows }: Committed,
  batchId: BatchId,
  dependencies: Pick<AcceptDependencies, 'batches'>,
): Promise<Batch> {
  const row = rows[0]?.[0]
  if (row) return toBatch(row)
  const batch = await dependencies.batches.load(batchId)
  if (!batch) throw new GatewayError('batch_unavailable', 'The batch was accepted but cannot be read now.')
  return batch
}

function checkMaxCost(upload: Priced): void {
  const { estimate, maxCostNanocredits } = upload
  if (maxCostNanocredits === null || estimate <= maxCostNanocredits) return
  const message = `The estimated cost of ${formatCredits(estimate)} credits is above headrace.max_cost.${cheaperLane(upload, maxCostNanocredits)}`
  throw new GatewayError('payment_required', message, {
    param: 'headrace.max_cost',
    metadata: { lanes: showOffers(upload.offers) },
  })
}

/** The remedy that costs nothing: a lane whose estimate fits. Empty when there is none. */
function cheaperLane({ estimate, offers }: Priced, available: bigint): string {
  const fitting = offers.find((offer) => offer.estimate < estimate && offer.estimate <= available)
  if (fitting === undefined) return ''
  return ` In lane "${fitting.lane}" (headrace.lane) it is estimated at ${formatCredits(fitting.estimate)} credits.`
}

async function tooExpensive(
  upload: Priced,
  parents: readonly BudgetRef[],
  money: BatchMoney,
): Promise<GatewayError> {
  const { budget, available } = await money.scarcest(parents)
  const { estimate, worstCase } = upload
  const message =
    `This batch is estimated to cost ${formatCredits(estimate)} credits (at most ${formatCredits(worstCase)}), more than ` +
    `is left of ${limitNames[budget.kind]}. ${formatCredits(available)} credits are available. ${remedies[budget.kind]} or send fewer items.` +
    cheaperLane(upload, available)
  return new GatewayError('payment_required', message, {
    metadata: {
      limit_source: limitSources[budget.kind],
      estimate: toCredits(estimate),
      worst_case: toCredits(worstCase),
      lanes: showOffers(upload.offers),
      available: toCredits(available),
    },
  })
}
