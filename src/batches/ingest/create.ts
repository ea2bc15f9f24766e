import type { Principal } from '../../canonical/principal.ts'
import type { Clock } from '../../core/clock.ts'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { AcceptDependencies, Remembered } from './acceptance.ts'
import { acceptBatch, checkAffordable, checkQueue, keepRefused } from './acceptance.ts'
import type { Batch } from '../../canonical/batch.ts'
import type { BatchEstimate, BatchObject } from '../../formats/batch/batch-object.ts'
import { toBatchEstimate, toBatchObject } from '../../formats/batch/batch-object.ts'
import type { ItemForm } from '../../formats/batch/item-form.ts'
import { LinesRefused } from '../../formats/batch/line-faults.ts'
import type { RequestHead } from '../../formats/batch/request-head.ts'
import type { FileOrigin } from '../batch-repository.ts'
import { CommitUnknown } from '../committer.ts'
import type { Claimed, Idempotency, Replay } from './idempotency.ts'
import type { Ingested, IngestDependencies, IngestRequest } from './ingest.ts'
import { ingestBatch } from './ingest.ts'
import { hashUpload } from './upload-body.ts'

/** A `POST /batches` that is authenticated and within its rate limit. */
export interface CreateBatch {
  principal: Principal
  /** How the caller writes the batch. */
  form: ItemForm
  /** The caller's `anthropic-beta`, which holds for every item; null where there was none. */
  betas: string | null
  /** What the caller says of the batch beside the body, and the file that the body is; only for the lines of a file. */
  head?: Partial<RequestHead>
  origin?: FileOrigin
  /** What the caller sends, or how what the caller names is opened; it is opened only where no earlier request made the batch. */
  body: ReadableStream<Uint8Array> | OpenBody
  contentEncoding: string | null
  contentLength: number | null
  idempotencyKey: string | null
  /** What a repetition must equal, where the caller's body is not the upload but names it; absent, the upload is hashed. */
  bodySha256?: string
  isDryRun: boolean
}

/** Opens a body. Rejects with the caller's mistake where there is none to open. */
export type OpenBody = () => Promise<{ body: ReadableStream<Uint8Array>; contentLength: number }>

/** A request whose body is open. */
type Opened = CreateBatch & { body: ReadableStream<Uint8Array> }

/** The answer. `isReplayed`: an earlier request with the same key created the batch. */
export type Created =
  | { kind: 'batch'; batch: Batch; object: BatchObject; dropped: readonly string[]; isReplayed: boolean }
  | { kind: 'estimate'; object: BatchEstimate; dropped: readonly string[] }

/** What `createBatch` needs. */
export interface CreateDependencies extends AcceptDependencies, IngestDependencies {
  idempotency: Idempotency
  clock: Clock
  /** Tells the workers that there is work. */
  wake(): void
}

/**
 * Accepts an upload: when it resolves, the batch survives any crash. Rejects with the contract's refusals, and then
 * nothing of the upload remains, or with `batch_unavailable` when storage is out of order.
 */
export async function createBatch(request: CreateBatch, dependencies: CreateDependencies): Promise<Created> {
  if (request.isDryRun) return estimateBatch(request, dependencies)
  const { idempotencyKey, principal } = request
  const { route } = request.form
  if (idempotencyKey === null) return acceptUpload(request, null, dependencies)
  const { organizationId } = principal
  const claim = await dependencies.idempotency.claim({ organizationId, route, key: idempotencyKey })
  if (claim.isReplay) return replay(request, claim, dependencies)
  try {
    const created = await acceptUpload(request, claim, dependencies)
    claim.completed()
    return created
  } catch (thrown) {
    // After a commit of unknown outcome the key may belong to a batch, so it is not released here: it expires, or the next claim finds the batch.
    if (thrown instanceof CommitUnknown) claim.completed()
    else await claim.release()
    throw thrown
  }
}

async function acceptUpload(
  asked: CreateBatch,
  claim: Claimed | null,
  dependencies: CreateDependencies,
): Promise<Created> {
  const request = await opened(asked)
  const batchId = newId('batch', dependencies.clock.nowMs())
  const { origin = null } = request
  let upload: Ingested
  try {
    upload = await ingestBatch(
      toIngest(request, batchId, claim !== null && request.bodySha256 === undefined),
      dependencies,
    )
  } catch (thrown) {
    const endpoint = request.head?.endpoint
    if (!(thrown instanceof LinesRefused) || endpoint == null) throw thrown
    const refused = {
      batchId,
      principal: request.principal,
      endpoint,
      origin,
      remembered: remembering(request, claim),
    }
    const batch = await keepRefused(refused, thrown, dependencies)
    return { kind: 'batch', batch, object: toBatchObject(batch), dropped: [], isReplayed: false }
  }
  try {
    const { principal, betas } = request
    const remembered = remembering(request, claim, upload.sha256)
    const batch = await acceptBatch({ batchId, principal, upload, remembered, betas, origin }, dependencies)
    dependencies.wake()
    return { kind: 'batch', batch, object: toBatchObject(batch), dropped: upload.dropped, isReplayed: false }
  } catch (thrown) {
    // The batch may have been committed, and then it needs its segments. If it was not, they are removed later as orphans.
    if (!(thrown instanceof CommitUnknown)) await upload.discard()
    throw thrown
  }
}

async function opened(request: CreateBatch): Promise<Opened> {
  const { body } = request
  return typeof body === 'function' ? { ...request, ...(await body()) } : { ...request, body }
}

/** What the unit that creates the batch remembers of its idempotency key. */
function remembering(
  { bodySha256 }: CreateBatch,
  claim: Claimed | null,
  uploadSha256: string | null = null,
): Remembered | null {
  return claim && { claim, bodySha256: bodySha256 ?? uploadSha256 ?? '' }
}

/** A dry run: every check of the real request, in the same order; nothing is stored. */
async function estimateBatch(request: CreateBatch, dependencies: CreateDependencies): Promise<Created> {
  const { idempotencyKey, principal } = request
  const { route } = request.form
  if (idempotencyKey !== null) {
    const { organizationId } = principal
    const earlier = await dependencies.idempotency.look({ organizationId, route, key: idempotencyKey })
    if (earlier !== null) return estimateOfReplay(request, earlier, dependencies)
  }
  const batchId = newId('batch', dependencies.clock.nowMs())
  const upload = await ingestBatch(toIngest(await opened(request), batchId, false), dependencies)
  await checkQueue(upload, principal, dependencies)
  const available = await checkAffordable(upload, principal, dependencies)
  return {
    kind: 'estimate',
    object: toBatchEstimate({ ...upload, available }),
    dropped: upload.dropped,
  }
}

/** The real request would be answered with the existing batch, so the rest of the body is not checked. */
async function estimateOfReplay(
  request: CreateBatch,
  earlier: Replay,
  dependencies: CreateDependencies,
): Promise<Created> {
  const batch = await replayed(request, earlier, dependencies)
  const { estimateNanocredits: estimate, worstCaseNanocredits: worstCase } = batch
  const parents = dependencies.money.parentsOf(request.principal)
  const available = parents.length === 0 ? null : (await dependencies.money.scarcest(parents)).available
  // What the other lanes would have cost was not kept.
  const offers = [{ lane: batch.lane, estimate, worstCase }]
  const object = toBatchEstimate({ ...batch, estimate, worstCase, offers, available })
  return { kind: 'estimate', object, dropped: [] }
}

function toIngest(request: Opened, batchId: string, wantsHash: boolean): IngestRequest {
  const { principal, form, betas, head = {}, body, contentEncoding, contentLength, isDryRun } = request
  return { batchId, principal, form, betas, head, body, contentEncoding, contentLength, wantsHash, isDryRun }
}

async function replay(
  request: CreateBatch,
  earlier: Replay,
  dependencies: CreateDependencies,
): Promise<Created> {
  const batch = await replayed(request, earlier, dependencies)
  return { kind: 'batch', batch, object: toBatchObject(batch), dropped: [], isReplayed: true }
}

/** A repetition with the same body gets the batch as it is now; with another body it is the caller's mistake. */
async function replayed(
  request: CreateBatch,
  earlier: Replay,
  dependencies: CreateDependencies,
): Promise<Batch> {
  const sha256 = request.bodySha256 ?? (await hashUpload(await opened(request)))
  if (sha256 !== earlier.bodySha256) {
    const message = 'This Idempotency-Key was used with another body. Use a new key for a new batch.'
    throw new GatewayError('unprocessable', message, { param: 'Idempotency-Key' })
  }
  const batch = await dependencies.batches.load(earlier.referenceId, request.principal.organizationId)
  if (!batch) throw deletedSince()
  return batch
}

/** The key's batch was deleted: only the key is still remembered. */
function deletedSince(): GatewayError {
  const message =
    'This Idempotency-Key made a batch that has been deleted since. Use a new key for a new batch.'
  return new GatewayError('not_found', message, { param: 'Idempotency-Key' })
}
