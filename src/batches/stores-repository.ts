import type { Clock } from '../core/clock.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database.ts'
import type { BatchRepository } from './batch-repository.ts'
import { createBatchRepository } from './batch-repository.ts'
import type { BlobDeletionRepository } from './blob-deletion-repository.ts'
import { createBlobDeletionRepository } from './blob-deletion-repository.ts'
import type { Committer } from './commit-repository.ts'
import { createCommitter } from './commit-repository.ts'
import type { CrashHook } from './commit-points.ts'
import type { IdempotencyRepository } from './idempotency-repository.ts'
import { createIdempotencyRepository } from './idempotency-repository.ts'
import type { PartRepository } from './part-repository.ts'
import { createPartRepository } from './part-repository.ts'
import type { Payloads } from './payload-repository.ts'
import { createPayloads } from './payload-repository.ts'
import type { Pause } from './pause.ts'
import type { SegmentRepository } from './segment-repository.ts'
import { createSegmentRepository } from './segment-repository.ts'
import type { Signals } from './signal-repository.ts'
import { createSignals } from './signal-repository.ts'
import type { WaitingRepository } from './waiting-repository.ts'
import { createWaitingRepository } from './waiting-repository.ts'

/** What batches are stored in. */
export interface StoreParts {
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

export function createStores({ database, blobs, clock, pause, crash }: StoreParts): Stores {
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
