import type { Clock } from '../core/clock.ts'
import { createFiles, type Files } from '../files/file-store.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database.ts'
import { type BatchRepository, createBatchRepository } from './batch-repository.ts'
import {
  type BlobDeletionRepository,
  createBlobDeletionRepository,
} from './results/blob-deletion-repository.ts'
import { type Committer, createCommitter } from './committer.ts'
import { createMoveRepository, type MoveRepository } from './lanes/move-repository.ts'
import type { CrashHook } from './batch-commit-points.ts'
import { createJobRepository, type JobRepository } from './lanes/native/job-repository.ts'
import { createIdempotencyRepository, type IdempotencyRepository } from './ingest/idempotency-repository.ts'
import { createPartRepository, type PartRepository } from './results/part-repository.ts'
import { createPayloads, type Payloads } from './results/payloads.ts'
import type { Pause } from './running/pause.ts'
import { createSegmentRepository, type SegmentRepository } from './running/segment-repository.ts'
import { createWaitingRepository, type WaitingRepository } from './running/waiting-repository.ts'

/** The storage that batches use. */
export interface StoreDependencies {
  database: Database
  blobs: BlobStore
  clock: Clock
  pause: Pause
  crash: CrashHook | null
}

/** All repositories and stores of batches. */
export interface Stores {
  batches: BatchRepository
  segments: SegmentRepository
  parts: PartRepository
  deletions: BlobDeletionRepository
  claims: IdempotencyRepository
  payloads: Payloads
  committer: Committer
  signals: WorkerSignals
  waits: WaitingRepository
  moves: MoveRepository
  jobs: JobRepository
  files: Files
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
    moves: createMoveRepository(database),
    jobs: createJobRepository(database),
    files: createFiles({ database, blobs, clock }),
  }
}

/** This process's id among the processes that share the database, and the signals between them. */
export interface WorkerSignals {
  readonly ownerId: string
  isOwnerDead(ownerId: string): Promise<boolean>
  /** Tells all workers to look for work. The signal carries no data and may be lost. */
  wakeWorkers(): void
  onWake(wake: () => void): () => void
}

const channel = 'batches'

export function createSignals(database: Database): WorkerSignals {
  return {
    ownerId: database.ownerId,
    isOwnerDead: (ownerId) => database.isOwnerDead(ownerId),
    wakeWorkers: () => database.notify(channel),
    onWake: (wake) => database.listen(channel, wake),
  }
}
