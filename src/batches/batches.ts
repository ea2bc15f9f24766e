import { creditsBudget } from '../billing/budgets/budget-ids.ts'
import type { Principal } from '../canonical/principal.ts'
import { GatewayError } from '../core/errors.ts'
import type { BatchId } from '../core/ids.ts'
import { batchItemsAtOnce } from '../core/limits/batches.ts'
import { parseCredits } from '../core/money.ts'
import type { Callbacks } from '../delivery/callbacks.ts'
import { type DeliveryList, listDeliveries } from './callbacks/delivery-list.ts'
import { answerable, unavailable } from './batch-availability.ts'
import type { Batch, BatchLimits, LaneJob } from '../canonical/batch.ts'
import { hasResults, isTerminal } from '../canonical/batch.ts'
import type { BatchObject } from '../formats/batch/batch-object.ts'
import { mayWait, toBatchObject } from '../formats/batch/batch-object.ts'
import { contractForm, mixedForm } from '../formats/batch/item-form.ts'
import { deleteResultFiles } from '../files/file-repository.ts'
import { cancelBatch, markDeleted } from './batch-repository.ts'
import { endRests } from './running/segment-repository.ts'
import type { CreateBatch, Created } from './ingest/create.ts'
import { createBatch } from './ingest/create.ts'
import type { Idempotency } from './ingest/idempotency.ts'
import { createIdempotency } from './ingest/idempotency.ts'
import type { LoadPrincipal, ResolveBatch, RunItem } from './item-contract.ts'
import { LaneRooms } from './lanes/lane-room.ts'
import { createItemLimiter } from './running/item-limiter.ts'
import type { BatchList, BatchPage, PageQuery } from './results/batch-list.ts'
import { listBatches, pageOfBatches } from './results/batch-list.ts'
import { type ConvertLine, streamConverted } from './results/converted-results.ts'
import { retryBody } from './results/failed-items.ts'
import type { BatchMoney, MoneyDependencies } from './running/batch-money.ts'
import { createBatchMoney } from './running/batch-money.ts'
import type { LiveCalls } from './running/loop-room.ts'
import type { Pause } from './running/pause.ts'
import { systemPause } from './running/pause.ts'
import { Ramp } from './running/ramp.ts'
import type { JobItems } from './lanes/native/job-contract.ts'
import { JobRunner } from './lanes/native/job-runner.ts'
import { parseCursor, streamBatch, streamResults } from './results/results.ts'
import { cleanUp } from './results/retention.ts'
import { ProgressFeed } from './watching/progress-feed.ts'
import { openProgress, type ProgressStream, type ProgressWish } from './watching/progress-stream.ts'
import type { StoreDependencies, Stores } from './batch-stores.ts'
import { createStores } from './batch-stores.ts'
import { createUploadPlaces } from './ingest/upload-places.ts'
import type { WorkerDependencies, WorkerStats } from './running/worker.ts'
import { Worker } from './running/worker.ts'

/** The time between two passes of cleaning up. */
const retentionEveryMs = 3_600_000

/** Uploads of batches read at once by one process; the bound on what scanning may hold in memory. */
const ingestsMax = 8

/** When a caller may ask again to delete a batch of which its provider still has something. */
const leftRetrySeconds = 10

/** What `createBatches` needs. */
export interface BatchesDependencies
  extends
    Pick<StoreDependencies, 'database' | 'blobs' | 'clock'>,
    Pick<MoneyDependencies, 'billing' | 'ledger' | 'readBalance'> {
  runItem: RunItem
  resolveBatch: ResolveBatch
  /** What the jobs of providers' batch services need. */
  jobItems: JobItems
  /** Where lines of jobs wait on their way; what a dead process left there is removed by others. */
  spoolFolder: string
  loadPrincipal: LoadPrincipal
  callbacks: Callbacks
  /** No limits by default. */
  limits?: BatchLimits
  /** How many items run at once in this process; `batchItemsAtOnce` by default. */
  itemsAtOnce?: number
  /** The live calls that items of batches stand back for. */
  live: LiveCalls
  pause?: Pause
  /** How often a silent stream of progress shows a comment. */
  keepAliveMs?: number | undefined
  /** For the crash suite: called around every commit point. */
  crash?: StoreDependencies['crash']
  report: WorkerDependencies['report']
}

/** A polled batch. */
export interface PolledBatch {
  /** The batch without results; it is the response's body when `results` is null. */
  object: BatchObject
  /** The body with results inline, as a stream; null until terminal, and when `debt` is set. */
  results: (() => ReadableStream<Uint8Array>) | null
  /** Set while the organization's balance is negative because of this batch: answer 402 with the object and this error. */
  debt: GatewayError | null
}

/** What may be said of a batch of failed items. */
export type RetryWish = Pick<CreateBatch, 'idempotencyKey' | 'isDryRun'>

/** The deletion record of the contract. */
export interface DeletedBatch {
  id: string
  object: 'batch'
  deletion: { openrouter: 'deleted' }
}

/** Figures for metrics. */
export interface BatchesStats extends WorkerStats {
  uploadsRunning: number
}

/**
 * The batch engine. Its callers are authenticated. Another organization's batch is `not_found`, like an unknown one.
 * Every failure of storage is `batch_unavailable`.
 */
export interface Batches {
  create(request: CreateBatch): Promise<Created>
  get(principal: Principal, id: BatchId): Promise<PolledBatch>
  list(principal: Principal, query: URLSearchParams): Promise<BatchList>
  /** The batch as it is stored, for the dialects that show it in another way. */
  read(principal: Principal, id: BatchId): Promise<Batch>
  /** A page of batches as they are stored. */
  page(principal: Principal, query: PageQuery): Promise<BatchPage>
  /** The results of an ended batch as lines of another dialect, in input order. */
  converted(principal: Principal, id: BatchId, convert: ConvertLine): Promise<ReadableStream<Uint8Array>>
  /** NDJSON in commit order, after `cursor`; for a running batch, the results so far. */
  results(principal: Principal, id: BatchId, cursor: string | null): Promise<ReadableStream<Uint8Array>>
  /**
   * The progress of a batch as server-sent events, until it has ended; null when `lastEventId` names its end. Throws
   * `rate_limit_exceeded` or `batch_unavailable` when too many streams are open.
   */
  progress(principal: Principal, id: BatchId, wish: ProgressWish): Promise<ProgressStream | null>
  /** Requests cancellation and returns the batch; a batch that is being cancelled, or was, is returned unchanged. */
  cancel(principal: Principal, id: BatchId): Promise<BatchObject>
  /**
   * Creates a batch of the items whose result is an error, with all that the caller asked of the first one. Rejects with
   * `conflict` when the batch has not ended or no item failed, with `payment_required` while it is owed for, and as
   * `create` does.
   */
  retry(principal: Principal, id: BatchId, wish: RetryWish): Promise<Created>
  /** The log of the event that told the batch's end; empty before it, and for a batch without an address. */
  deliveries(principal: Principal, id: BatchId): Promise<DeliveryList>
  /** Tells the end again, with a day of tries. Throws `conflict` when there is nothing to tell. */
  redeliver(principal: Principal, id: BatchId): Promise<DeliveryList>
  /** Hides a terminal batch at once. */
  delete(principal: Principal, id: BatchId): Promise<DeletedBatch>
  /** Begins to work on the stored batches. */
  start(): void
  /** Starts nothing new, finishes running items within bounds, and gives the rest back. */
  stop(): Promise<void>
  stats(): BatchesStats
  /** The rounds that `start` repeats, for a simulation that controls time. */
  readonly rounds: {
    look(): Promise<void>
    renew(): Promise<void>
    cleanUp(): Promise<void>
    settled(): Promise<void>
  }
}

const noLimits: BatchLimits = { items: null, queuedItems: null }

/** An engine on these stores; several on the same stores, also in other processes, share the work. */
export function createBatches(dependencies: BatchesDependencies): Batches {
  return new StoredBatches(dependencies)
}

class StoredBatches implements Batches {
  readonly rounds: Batches['rounds']
  readonly #dependencies: BatchesDependencies
  readonly #stores: Stores
  readonly #money: BatchMoney
  readonly #idempotency: Idempotency
  readonly #pause: Pause
  /** Uploads run in real time, even when a simulation controls the workers' time. */
  readonly #uploads = createUploadPlaces(ingestsMax, systemPause)
  readonly #worker: Worker
  readonly #jobs: JobRunner
  readonly #feed: ProgressFeed
  readonly #stopping = new AbortController()
  #cleaning: Promise<void> = Promise.resolve()

  constructor(dependencies: BatchesDependencies) {
    const pause = dependencies.pause ?? systemPause
    this.#dependencies = dependencies
    this.#pause = pause
    this.#stores = createStores({ ...dependencies, pause, crash: dependencies.crash ?? null })
    const { committer, signals, claims } = this.#stores
    this.#money = createBatchMoney({ ...dependencies, committer, pause })
    this.#idempotency = createIdempotency({
      repository: claims,
      committer,
      ownerId: signals.ownerId,
      isOwnerDead: (ownerId) => signals.isOwnerDead(ownerId),
    })
    this.#feed = new ProgressFeed(this.#stores)
    const ramp = new Ramp(dependencies.clock)
    const rooms = new LaneRooms(dependencies.clock)
    const limiter = createItemLimiter(dependencies.itemsAtOnce ?? batchItemsAtOnce, ramp, dependencies)
    this.#worker = new Worker({
      ...dependencies,
      ...this.#stores,
      money: this.#money,
      limiter,
      rooms,
      ramp,
      pause,
    })
    const { jobItems: items, spoolFolder, report, clock, loadPrincipal } = dependencies
    const own = { items, spoolFolder, report, clock, loadPrincipal }
    this.#jobs = new JobRunner({ ...this.#stores, ...own, money: this.#money, pause })
    this.rounds = {
      look: async () => {
        await this.#worker.look()
        await this.#jobs.look()
      },
      renew: async () => {
        await this.#worker.renew()
        await this.#jobs.renew()
      },
      cleanUp: () => this.#cleanUp(),
      settled: async () => {
        await Promise.all([this.#worker.settled(), this.#jobs.settled()])
      },
    }
  }

  create(request: CreateBatch): Promise<Created> {
    return answerable(this.#create(request))
  }

  async get(principal: Principal, id: BatchId): Promise<PolledBatch> {
    const batch = await this.#load(principal, id)
    const waiting = mayWait(batch) ? await answerable(this.#stores.waits.listOf([id])) : null
    const moves = (await answerable(this.#stores.moves.listOf([id]))).get(id)
    const jobs = await this.#jobsOf(batch)
    const object = toBatchObject(batch, { waiting: waiting?.get(id), moves, jobs })
    const debt = await answerable(this.#debtOf(batch))
    const isReadable = hasResults(batch.status) && debt === null
    return {
      object,
      debt,
      results: isReadable ? () => streamBatch(batch, { moves, jobs }, this.#readers()) : null,
    }
  }

  list(principal: Principal, query: URLSearchParams): Promise<BatchList> {
    return answerable(listBatches(principal, query, this.#stores))
  }

  read(principal: Principal, id: BatchId): Promise<Batch> {
    return this.#load(principal, id)
  }

  page(principal: Principal, query: PageQuery): Promise<BatchPage> {
    return answerable(pageOfBatches(principal, query, this.#stores))
  }

  async converted(
    principal: Principal,
    id: BatchId,
    convert: ConvertLine,
  ): Promise<ReadableStream<Uint8Array>> {
    const batch = await this.#load(principal, id)
    if (!isTerminal(batch.status))
      throw new GatewayError('conflict', 'The batch has not ended; its results can be read when it has.')
    const debt = await answerable(this.#debtOf(batch))
    if (debt !== null) throw debt
    return streamConverted(batch, convert, this.#readers())
  }

  async results(
    principal: Principal,
    id: BatchId,
    cursor: string | null,
  ): Promise<ReadableStream<Uint8Array>> {
    const from = parseCursor(cursor)
    const batch = await this.#load(principal, id)
    const debt = await answerable(this.#debtOf(batch))
    if (debt !== null) throw debt
    return streamResults(batch, from, this.#readers())
  }

  async progress(principal: Principal, id: BatchId, wish: ProgressWish): Promise<ProgressStream | null> {
    const batch = await this.#load(principal, id)
    const times = this.#dependencies.keepAliveMs
    return answerable(
      openProgress(batch, wish, this.#feed, times === undefined ? {} : { pingEveryMs: times }),
    )
  }

  async cancel(principal: Principal, id: BatchId): Promise<BatchObject> {
    await this.#load(principal, id)
    const { type } = await answerable(
      this.#stores.committer.commit('batch.cancel', [cancelBatch(id), endRests(id)]),
    )
    this.#wake()
    const batch = await this.#load(principal, id)
    const isAsked = batch.status === 'cancelling' || batch.status === 'cancelled'
    if (type === 'committed' || isAsked) return toBatchObject(batch)
    throw new GatewayError(
      'conflict',
      `The batch is ${toBatchObject(batch).status} and cannot be cancelled any more.`,
    )
  }

  async retry(principal: Principal, id: BatchId, wish: RetryWish): Promise<Created> {
    const batch = await this.#load(principal, id)
    const debt = await answerable(this.#debtOf(batch))
    if (debt !== null) throw debt
    const body = retryBody(batch, this.#readers())
    const { betas } = batch
    const form = batch.models === null ? contractForm : mixedForm
    const request = { principal, form, betas, body, contentEncoding: null, contentLength: null }
    return this.create({ ...request, ...wish })
  }

  async deliveries(principal: Principal, id: BatchId): Promise<DeliveryList> {
    await this.#load(principal, id)
    return answerable(listDeliveries(id, this.#dependencies.callbacks))
  }

  async redeliver(principal: Principal, id: BatchId): Promise<DeliveryList> {
    await this.#load(principal, id)
    if (!(await answerable(this.#dependencies.callbacks.redeliver(id)))) {
      const message =
        'There is no event to tell: the batch has not ended, or was created without callback_url.'
      throw new GatewayError('conflict', message)
    }
    return this.deliveries(principal, id)
  }

  async delete(principal: Principal, id: BatchId): Promise<DeletedBatch> {
    const batch = await this.#load(principal, id)
    if (!isTerminal(batch.status)) throw notEnded()
    const jobs = await this.#jobsOf(batch)
    if (jobs?.some(({ left = 0 }) => left > 0)) throw leftAtProvider()
    // When another request deletes it first, it is deleted all the same.
    await answerable(this.#stores.committer.commit('batch.delete', [markDeleted(id), deleteResultFiles(id)]))
    return { id, object: 'batch', deletion: { openrouter: 'deleted' } }
  }

  start(): void {
    this.#worker.start()
    this.#jobs.start()
    this.#cleaning = this.#repeatCleanUp()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all([this.#worker.stop(), this.#jobs.stop(), this.#feed.stop()])
    await this.#cleaning
  }

  stats(): BatchesStats {
    return { ...this.#worker.stats, uploadsRunning: this.#uploads.running }
  }

  async #create(request: CreateBatch): Promise<Created> {
    if (this.#stopping.signal.aborted) throw unavailable()
    const leave = await this.#uploads.acquire(request.principal.organizationId, this.#stopping.signal)
    try {
      return await createBatch(request, {
        ...this.#stores,
        money: this.#money,
        idempotency: this.#idempotency,
        resolveBatch: this.#dependencies.resolveBatch,
        jobItems: this.#dependencies.jobItems,
        callbacks: this.#dependencies.callbacks,
        limits: this.#dependencies.limits ?? noLimits,
        clock: this.#dependencies.clock,
        pause: this.#pause,
        wake: () => this.#wake(),
      })
    } finally {
      leave()
    }
  }

  async #load(principal: Principal, id: BatchId): Promise<Batch> {
    const batch = await answerable(this.#stores.batches.load(id, principal.organizationId))
    if (!batch) throw new GatewayError('not_found', 'Batch not found.')
    return batch
  }

  async #jobsOf(batch: Batch): Promise<readonly LaneJob[] | undefined> {
    return (await answerable(this.#stores.jobs.shownOf([batch]))).get(batch.id)
  }

  /** A batch may cost more than was set aside; its results are shown once the organization has paid. */
  async #debtOf(batch: Batch): Promise<GatewayError | null> {
    if (!isTerminal(batch.status) || batch.usageJson === null || !isPrepaid(batch)) return null
    const cost = (JSON.parse(batch.usageJson) as { cost?: number | null }).cost ?? 0
    if (parseCredits(cost) <= batch.estimateNanocredits) return null
    const balance = await this.#dependencies.readBalance(batch.organizationId)
    if (balance === null || balance >= 0n) return null
    const message = 'The batch cost more than the balance. Add credits and ask again for the results.'
    return new GatewayError('payment_required', message)
  }

  #readers(): Pick<Stores, 'segments' | 'parts' | 'payloads'> & Pick<BatchesDependencies, 'clock'> {
    return {
      segments: this.#stores.segments,
      parts: this.#stores.parts,
      payloads: this.#stores.payloads,
      clock: this.#dependencies.clock,
    }
  }

  /** Wakes the worker of this process at once, and those of other processes by a signal. */
  #wake(): void {
    this.#worker.wake()
    this.#stores.signals.wakeWorkers()
  }

  #cleanUp(): Promise<void> {
    return cleanUp({ ...this.#stores, idempotency: this.#idempotency, clock: this.#dependencies.clock })
  }

  async #repeatCleanUp(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#cleanUp().catch((cause: unknown) =>
        this.#dependencies.report('batch_clean_up_failed', { cause }),
      )
      await this.#pause(retentionEveryMs, this.#stopping.signal)
    }
  }
}

/** Only credits can be owed. The other budgets are limits of spending. */
function isPrepaid({ organizationId, budgetParents }: Batch): boolean {
  return budgetParents.includes(creditsBudget(organizationId).budgetId)
}

function leftAtProvider(): GatewayError {
  const message =
    'The provider still has jobs or files of this batch, which are being removed. Send the request again to delete it.'
  return new GatewayError('batch_unavailable', message, { retryAfterSeconds: leftRetrySeconds })
}

function notEnded(): GatewayError {
  const message =
    'Only completed, failed, expired, or cancelled batches can be deleted. Wait for the batch to finish and try again.'
  return new GatewayError('conflict', message)
}
