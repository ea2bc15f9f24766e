import type { Clock } from '../core/clock.ts'
import { discoveryConcurrencyMax, discoveryRetryMs, discoveryWaitMs } from '../core/limits/catalog.ts'
import type { Catalog } from './catalog.ts'
import { parseListing, type ListedModel } from './listing.ts'

/** How often the listings of all deployments are read again. */
export const discoveryEveryMs = 600_000

/** The result of the last reading of a deployment's listing. */
export interface DiscoveryState {
  deploymentId: string
  /** Models listed at the last success; null before the first. */
  modelCount: number | null
  /** Why the last reading failed, for the log and the operator; null after a success. */
  failure: string | null
}

/** Reads the model listings of deployments. After a failed reading the models known before stay offered. */
export interface Discovery {
  /** Begins reading in the background: now, and then periodically. */
  start(): void
  stop(): void
  /** Reads the listings that are due; after a failure a listing is due sooner. Never rejects. */
  refreshDue(): Promise<void>
  /**
   * Reads all listings now, except those read within the retry time; for a call that names an unknown model. Resolves when
   * all are read, or as soon as one was and `isEnough` returns true. Never rejects.
   */
  refreshStale(isEnough?: () => boolean): Promise<void>
  states(): readonly DiscoveryState[]
}

/** What `createDiscovery` needs. */
export interface DiscoveryOptions {
  catalog: Catalog
  /** Deployments that have a listing. */
  deploymentIds: readonly string[]
  /** The parsed body of the deployment's listing; rejects when it cannot be read. Must end when the signal aborts. */
  fetchListing: (deploymentId: string, signal: AbortSignal) => Promise<unknown>
  /** Adds to a listing what the server itself tells of its models; never rejects. */
  inspect?: (
    deploymentId: string,
    models: readonly ListedModel[],
    signal: AbortSignal,
  ) => Promise<readonly ListedModel[]>
  clock: Clock
  /** Called for every failed reading. */
  onFailure?: (deploymentId: string, failure: unknown) => void
}

interface Entry extends DiscoveryState {
  /** Monotonic time at which it may be read again. */
  dueAtMs: number
  /** Monotonic time at which the last reading began. */
  readAtMs: number
  running: Promise<void> | null
}

/** Nothing is read before `start` or a refresh. */
export function createDiscovery(options: DiscoveryOptions): Discovery {
  const { clock } = options
  const entries: Entry[] = options.deploymentIds.map((deploymentId) => ({
    deploymentId,
    modelCount: null,
    failure: null,
    dueAtMs: Number.NEGATIVE_INFINITY,
    readAtMs: Number.NEGATIVE_INFINITY,
    running: null,
  }))
  let timer: ReturnType<typeof setInterval> | null = null
  const refreshDue = () => {
    const nowMs = clock.monotonicMs()
    return readAll(
      entries.filter((entry) => entry.dueAtMs <= nowMs),
      options,
    )
  }
  return {
    start() {
      void refreshDue()
      timer ??= setInterval(() => void refreshDue(), discoveryRetryMs / 2)
      timer.unref()
    },
    stop() {
      if (timer) clearInterval(timer)
      timer = null
    },
    refreshDue,
    refreshStale(isEnough = () => false) {
      const staleMs = clock.monotonicMs() - discoveryRetryMs
      const asked = entries.filter((entry) => entry.running !== null || entry.readAtMs <= staleMs)
      const { promise, resolve } = Promise.withResolvers<void>()
      void readAll(asked, options, () => isEnough() && resolve()).then(resolve)
      return promise
    },
    states: () =>
      entries.map(({ deploymentId, modelCount, failure }) => ({ deploymentId, modelCount, failure })),
  }
}

/**
 * Reads several listings, a few at a time; it waits for one that is being read already. Those that failed last time come
 * last: a few servers that do not answer must not delay the others.
 */
async function readAll(
  entries: readonly Entry[],
  options: DiscoveryOptions,
  onRead: () => void = () => undefined,
): Promise<void> {
  const waiting = entries.toSorted(
    (left, right) => Number(left.failure !== null) - Number(right.failure !== null),
  )
  const reader = async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      entry.running ??= read(entry, options)
      await entry.running
      onRead()
    }
  }
  await Promise.all(Array.from({ length: Math.min(discoveryConcurrencyMax, entries.length) }, reader))
}

async function read(
  entry: Entry,
  { catalog, fetchListing, inspect, clock, onFailure }: DiscoveryOptions,
): Promise<void> {
  entry.readAtMs = clock.monotonicMs()
  let waitMs = discoveryEveryMs
  try {
    const body = await fetchListing(entry.deploymentId, AbortSignal.timeout(discoveryWaitMs))
    const listed = parseListing(body)
    const models = inspect
      ? await inspect(entry.deploymentId, listed, AbortSignal.timeout(discoveryWaitMs))
      : listed
    await catalog.replaceDiscovered(entry.deploymentId, models)
    entry.modelCount = models.length
    entry.failure = null
  } catch (error) {
    entry.failure = error instanceof Error ? error.message : 'failed'
    waitMs = discoveryRetryMs
    onFailure?.(entry.deploymentId, error)
  }
  entry.dueAtMs = clock.monotonicMs() + waitMs
  entry.running = null
}
