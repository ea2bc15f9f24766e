import { createHash } from 'node:crypto'
import { type Batch, isTerminal } from '../../canonical/batch.ts'
import { GatewayError } from '../../core/errors.ts'
import type { BatchId, OrganizationId } from '../../core/ids.ts'
import { organizationShareOf } from '../../core/limits/batches.ts'
import { type BatchObject, mayWait, toBatchObject } from '../../formats/batch/batch-object.ts'
import type { Stores } from '../batch-stores.ts'
import { systemPause } from '../running/pause.ts'

/** Streams of progress that one process has open at once. */
export const progressStreamsMax = 256
/** How often the watched batches are read, all of them together. */
const progressLookEveryMs = 500
/** Seconds after which a caller who got no stream may ask again. */
const progressRetrySeconds = 10

/** What a caller is shown of a batch at one moment. */
export interface ProgressState {
  /** Names this state of the batch: the same in every process, another one after every change that is shown. */
  id: string
  object: BatchObject
  isEnded: boolean
}

/** A batch that one stream watches. */
export interface ProgressWatch {
  /** The last state that was read; null when the batch was deleted meanwhile. */
  readonly latest: ProgressState | null
  /** Calls `wake` after every change; returns a function that stops it. */
  onChange(wake: () => void): () => void
  /** Gives the stream's place back; to be called once. */
  leave(): void
}

/** Where the progress of batches is read. */
export type ProgressStores = Pick<Stores, 'batches' | 'waits' | 'moves'>

interface Watched {
  latest: ProgressState | null
  streams: number
  readonly listeners: Set<() => void>
}

/**
 * Reads the batches that callers watch, for all streams of this process in one look, however many there are. The
 * database is the only source, so a stream shows what any process did to the batch.
 */
export class ProgressFeed {
  readonly #stores: ProgressStores
  readonly #lookEveryMs: number
  readonly #watched = new Map<BatchId, Watched>()
  readonly #heldBy = new Map<OrganizationId, number>()
  readonly #stopping = new AbortController()
  #streams = 0
  #looks: Promise<void> | null = null

  constructor(stores: ProgressStores, lookEveryMs = progressLookEveryMs) {
    this.#stores = stores
    this.#lookEveryMs = lookEveryMs
  }

  /** The number of open streams. */
  get streams(): number {
    return this.#streams
  }

  /** Aborts when the process stops: all streams end, and their callers may continue them at another process. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /** Reads the batch's state now, without watching it. */
  async read(batch: Batch): Promise<ProgressState> {
    return (await this.#progressOf([batch])).get(batch.id) ?? toProgress(batch, {})
  }

  /** Watches a batch whose state is known. Throws `rate_limit_exceeded` or `batch_unavailable` when no place is free. */
  watch({ id, organizationId }: Pick<Batch, 'id' | 'organizationId'>, known: ProgressState): ProgressWatch {
    this.#enter(organizationId)
    const watched = this.#watched.get(id) ?? { latest: known, streams: 0, listeners: new Set() }
    watched.streams += 1
    this.#watched.set(id, watched)
    tell(watched, known)
    this.#looks ??= this.#repeatLook()
    return {
      get latest() {
        return watched.latest
      },
      onChange(wake) {
        watched.listeners.add(wake)
        return () => watched.listeners.delete(wake)
      },
      leave: () => {
        this.#leave(organizationId)
        watched.streams -= 1
        if (watched.streams === 0) this.#watched.delete(id)
      },
    }
  }

  /** Reads every watched batch and wakes the streams of those that have changed. */
  async look(): Promise<void> {
    const ids = [...this.#watched.keys()]
    const batches = await this.#stores.batches.listOf(ids)
    const found = await this.#progressOf(batches)
    for (const id of ids) {
      const watched = this.#watched.get(id)
      const progress = found.get(id) ?? null
      if (watched !== undefined) tell(watched, progress)
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#looks
  }

  async #repeatLook(): Promise<void> {
    while (this.#watched.size > 0 && !this.stopping.aborted) {
      await systemPause(this.#lookEveryMs, this.stopping)
      // While storage is out of order the streams stay open and show comments alone.
      if (!this.stopping.aborted) await this.look().catch(() => undefined)
    }
    this.#looks = null
  }

  async #progressOf(batches: readonly Batch[]): Promise<Map<BatchId, ProgressState>> {
    const waiting = await this.#stores.waits.listOf(batches.filter(mayWait).map(({ id }) => id))
    const moves = await this.#stores.moves.listOf(batches.map(({ id }) => id))
    return new Map(
      batches.map((batch) => [
        batch.id,
        toProgress(batch, { waiting: waiting.get(batch.id), moves: moves.get(batch.id) }),
      ]),
    )
  }

  #enter(organizationId: OrganizationId): void {
    const held = this.#heldBy.get(organizationId) ?? 0
    if (held >= organizationShareOf(progressStreamsMax)) {
      const message = `Your organization watches ${held} batches at this process already, which is its share. Close a stream, or poll the batch.`
      const metadata = { limit_source: 'organization_streams' }
      throw new GatewayError('rate_limit_exceeded', message, {
        retryAfterSeconds: progressRetrySeconds,
        metadata,
      })
    }
    if (this.#streams >= progressStreamsMax) {
      const message = 'Too many batches are being watched. Poll the batch, or ask again shortly.'
      throw new GatewayError('batch_unavailable', message, { retryAfterSeconds: progressRetrySeconds })
    }
    this.#streams += 1
    this.#heldBy.set(organizationId, held + 1)
  }

  #leave(organizationId: OrganizationId): void {
    this.#streams -= 1
    const left = (this.#heldBy.get(organizationId) ?? 0) - 1
    if (left > 0) this.#heldBy.set(organizationId, left)
    else this.#heldBy.delete(organizationId)
  }
}

function tell(watched: Watched, progress: ProgressState | null): void {
  if (watched.latest?.id === progress?.id) return
  watched.latest = progress
  for (const wake of watched.listeners) wake()
}

function toProgress(batch: Batch, facts: Parameters<typeof toBatchObject>[1]): ProgressState {
  const object = toBatchObject(batch, facts)
  const { completedItems, failedItems } = batch
  const { waiting } = object.headrace_metadata
  const id = `${object.status}.${completedItems}.${failedItems}${waiting === undefined ? '' : `.${digestOf(waiting)}`}`
  return { id, object, isEnded: isTerminal(batch.status) }
}

/** The times of a waiting note change every few seconds, and tell nothing new. */
function digestOf({
  type,
  message,
  items,
  causes,
}: NonNullable<BatchObject['headrace_metadata']['waiting']>): string {
  const told = [type, message, items, causes?.map((cause) => [cause.type, cause.message, cause.items])]
  return createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 12)
}
