import type { Clock } from '../core/clock.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database.ts'
import type { BatchRepository } from './batch-repository.ts'
import { createBatchRepository } from './batch-repository.ts'
import type { BlobDeletionRepository } from './results/blob-deletion-repository.ts'
import { createBlobDeletionRepository } from './results/blob-deletion-repository.ts'
import type { Committer } from './commit-repository.ts'
import { createCommitter } from './commit-repository.ts'
import type { CrashHook } from './commit-points.ts'
import type { IdempotencyRepository } from './ingest/idempotency-repository.ts'
import { createIdempotencyRepository } from './ingest/idempotency-repository.ts'
import type { PartRepository } from './results/part-repository.ts'
import { createPartRepository } from './results/part-repository.ts'
import type { Payloads } from './results/payload-repository.ts'
import { createPayloads } from './results/payload-repository.ts'
import type { Pause } from './running/pause.ts'
import type { SegmentRepository } from './running/segment-repository.ts'
import { createSegmentRepository } from './running/segment-repository.ts'
import type { Signals } from './signal-repository.ts'
import { createSignals } from './signal-repository.ts'
import type { WaitingRepository } from './running/waiting-repository.ts'
import { createWaitingRepository } from './running/waiting-repository.ts'

/** What batches are stored in. */
export interface StoreDependencies {
  database: Database
  blobs: BlobStore
  clock: Clock
  pause: Pause
  crash: CrashHook | null
}

/** Everything that reads and writes what lasts. */
export interface Stores {
  batches: BatchRepository
  segments: SegmentRepository
  parts: PartRepository
  deletions: BlobDeletionRepository
  claims: IdempotencyRepository
  payloads: Payloads
  committer: Committer
  signals: Signals
  waits: WaitingRepository
}

export function createStores({ database, blobs, clock, pause, crash }: StoreDependencies): Stores {
  return {
    batches: createBatchRepository(database),
    segments: createSegmentRepository(database),
    parts: createPartRepository(database),
    deletions: createBlobDeletionRepository(database),
    claims: createIdempotencyRepository(database),
    payloads: createPayloads({ blobs, nowMs: () => clock.nowMs(), crash }),
    committer: createCommitter({ database, pause, crash }),
    signals: createSignals(database),
    waits: createWaitingRepository(database),
  }
}
