import type { Clock } from '../../core/clock.ts'
import { fileBlobPrefix, type Files } from '../../files/file-store.ts'
import { purgeDeliveries } from '../../delivery/delivery-repository.ts'
import type { BatchId } from '../../core/ids.ts'
import type { BatchRepository } from '../batch-repository.ts'
import { deleteResultFiles } from '../../files/file-repository.ts'
import { markDeleted, purgeBatch } from '../batch-repository.ts'
import type { BlobDeletionRepository } from './blob-deletion-repository.ts'
import { forgetOrphan, noteOrphan } from './blob-deletion-repository.ts'
import { rowsOf } from '../committer.ts'
import type { Committer } from '../committer.ts'
import type { Idempotency } from '../ingest/idempotency.ts'
import { forgetClaims } from '../ingest/idempotency-repository.ts'
import type { PartRepository } from './part-repository.ts'
import { purgeParts } from './part-repository.ts'
import { purgeJobs } from '../lanes/native/job-repository.ts'
import type { Payloads } from './payloads.ts'
import { purgeMoves } from '../lanes/move-repository.ts'
import { payloadKinds, writtenAtMs } from './payloads.ts'
import type { SegmentRepository } from '../running/segment-repository.ts'
import { purgeSegments } from '../running/segment-repository.ts'

/** Rows and blobs per page of cleaning up, and pages per pass. */
export const retentionPageMax = 200
const retentionPagesMax = 500

/** A batch's inputs and results are kept this long, and its blobs this long after its deletion. */
const batchRetentionMs = 30 * 86_400_000
const blobDeletionDelayMs = 86_400_000
/** A blob without a row is removed when it is this old and has been seen without one this long ago. */
const orphanAgeMs = 2 * 86_400_000
const orphanSecondLookMs = 3_600_000
/** No upload takes this long, so one that began earlier belongs to a process that died. */
const unfinishedAgeMs = 86_400_000

/** What cleaning up needs. */
export interface RetentionDependencies {
  batches: BatchRepository
  segments: SegmentRepository
  parts: PartRepository
  deletions: BlobDeletionRepository
  files: Pick<Files, 'removeExpired' | 'isReferenced'>
  payloads: Payloads
  committer: Committer
  idempotency: Idempotency
  clock: Clock
}

/**
 * One bounded pass over everything that can be deleted: batches past their retention, the blobs and rows of batches
 * deleted a day ago, remembered idempotency keys, blobs that no row names, and writes that a dead process left unfinished. Every step may be repeated, and several
 * processes may do it at once. A deletion that fails does not stop the others; the pass rejects with the first failure.
 */
export async function cleanUp(dependencies: RetentionDependencies): Promise<void> {
  const attempts = new Attempts()
  await dependencies.idempotency.releaseLeftovers()
  await inPages(async () => {
    const forgotten = await dependencies.committer.commit('idempotency.release', [
      forgetClaims(retentionPageMax),
    ])
    return rowsOf(forgotten).length
  })
  await inPages(async () => {
    const retired = await dependencies.batches.listRetired(batchRetentionMs, retentionPageMax)
    for (const { id } of retired)
      await dependencies.committer.commit('batch.delete', [markDeleted(id), deleteResultFiles(id)])
    return retired.length
  })
  // A response may be read for half a day, so the blobs stay longer than any reader of the batch.
  await inPages(async () => {
    // Batches whose deletion failed are still listed first, so the page begins after them.
    const page = { limit: retentionPageMax, offset: attempts.failed }
    const deleted = await dependencies.batches.listDeleted(blobDeletionDelayMs, page)
    for (const id of deleted) await attempts.make(() => purge(id, dependencies))
    return deleted.length
  })
  await inPages(() => dependencies.files.removeExpired(retentionPageMax))
  for (const kind of [...payloadKinds, fileBlobPrefix] as const)
    await sweepOrphans(kind, dependencies, attempts)
  await attempts.make(async () => {
    await dependencies.payloads.removeUnfinished(dependencies.clock.nowMs() - unfinishedAgeMs)
  })
  attempts.end()
}

/** Counts failed deletions. A whole page of failures is not the fault of single blobs, so it ends the pass. */
class Attempts {
  failed = 0
  #first: unknown = null

  async make(deletion: () => Promise<void>): Promise<void> {
    try {
      await deletion()
    } catch (thrown) {
      if (this.failed++ === 0) this.#first = thrown
      if (this.failed >= retentionPageMax) throw thrown
    }
  }

  /** Throws the first failure. */
  end(): void {
    if (this.failed > 0) throw this.#first
  }
}

/** Repeats `doPage`, which returns how much it found, until a page is not full: a backlog that grew between two passes goes too. */
async function inPages(doPage: () => Promise<number>): Promise<void> {
  for (let page = 0; page < retentionPagesMax; page++) if ((await doPage()) < retentionPageMax) return
}

/** Deletes blobs first, then the rows that name them: after a crash in between the rows are purged again, and no orphans are left. */
async function purge(
  id: BatchId,
  { segments, parts, payloads, committer }: RetentionDependencies,
): Promise<void> {
  for (let page = 0; page < retentionPagesMax; page++) {
    const ofParts = await parts.listPurgeable(id, retentionPageMax)
    const ofSegments = await segments.listPurgeable(id, retentionPageMax)
    for (const blob of [...ofParts.blobs, ...ofSegments.blobs]) await payloads.delete(blob)
    const { ids } = ofParts
    const { ordinals } = ofSegments
    await committer.commit('batch.purge', [
      ...(ids.length > 0 ? [purgeParts(id, ids)] : []),
      ...(ordinals.length > 0 ? [purgeSegments(id, ordinals)] : []),
      ...(ids.length + ordinals.length === 0
        ? [purgeJobs(id), ...purgeDeliveries(id), purgeBatch(id), purgeMoves(id)]
        : []),
    ])
    if (ids.length + ordinals.length === 0) return
  }
}

/** Deletes a blob without a row if it is old and also had no row when it was seen before; otherwise an upload or a part may still be in progress. */
async function sweepOrphans(
  kind: Parameters<Payloads['list']>[0],
  dependencies: RetentionDependencies,
  attempts: Attempts,
): Promise<void> {
  let after: string | null = null
  for (let page = 0; page < retentionPagesMax; page++) {
    const blobs: string[] = await dependencies.payloads.list(kind, after, retentionPageMax)
    for (const blob of blobs) await attempts.make(() => judge(blob, dependencies))
    after = blobs.at(-1) ?? null
    if (blobs.length < retentionPageMax) return
  }
}

async function judge(
  blob: string,
  { segments, parts, files, deletions, payloads, committer, clock }: RetentionDependencies,
): Promise<void> {
  const ageMs = clock.nowMs() - writtenAtMs(blob)
  if (!(ageMs >= orphanAgeMs)) return
  const state = await deletions.stateOf(blob)
  if (state === 'waiting') return
  const isKept =
    (await segments.isReferenced(blob)) ||
    (await parts.isReferenced(blob)) ||
    (await files.isReferenced(blob))
  if (isKept) {
    if (state === 'due') await committer.commit('blob.orphan', [forgetOrphan(blob)])
    return
  }
  if (state === 'unseen') {
    await committer.commit('blob.orphan', [noteOrphan(blob, orphanSecondLookMs)])
    return
  }
  await payloads.delete(blob)
  await committer.commit('blob.orphan', [forgetOrphan(blob)])
}
