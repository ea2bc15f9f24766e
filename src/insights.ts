import { hostname } from 'node:os'
import { type Config, processEnvironment } from './config.ts'
import type { Core, GatewayHooks } from './gateway-core.ts'
import type { Catalog, CatalogView } from './catalog/catalog.ts'
import type { Deployment, Endpoint } from './canonical/endpoint.ts'
import type { ExecutionDependencies } from './execution/dependencies.ts'
import { operations } from './execution/operations.ts'
import type { Activity } from './http/activity.ts'
import type { Batches } from './batches/batches.ts'
import { toCredits } from './core/money.ts'
import { registerGauges } from './telemetry/gauges.ts'
import { createFeedbackRepository } from './insight/feedback-repository.ts'
import type { Insight } from './insight/insight.ts'
import { createPostingsRepository } from './insight/ledger/postings-repository.ts'
import { createRequestLog, type RequestLog } from './insight/log/request-log.ts'
import { createRequestLogRepository } from './insight/log/request-log-repository.ts'
import { createRequestSearchRepository } from './insight/log/request-search-repository.ts'
import { createNamesRepository } from './insight/names-repository.ts'
import { createSumsRepository } from './insight/spend/sums-repository.ts'
import { createUsersRepository } from './insight/spend/users-repository.ts'
import { createUsersKeeper } from './insight/spend/users.ts'
import { listDeadNames } from './insight/state/dead-names.ts'
import { createOwnDoctor } from './insight/state/own-doctor.ts'
import { createProcessStateRepository } from './insight/state/process-state-repository.ts'
import { createProcessStates, type ProcessStates } from './insight/state/process-states.ts'
import type { DeploymentReport, ProcessReport } from './insight/state/process-report.ts'
import type { WatchedHealth } from './routing/deployment-troubles.ts'
import { createQueueRepository } from './insight/state/queue-repository.ts'

const dayMs = 86_400_000

/** The log of calls. */
export function createLog({ requestLogMs }: Config, { database, clock, log }: Core): RequestLog {
  return createRequestLog({
    repository: createRequestLogRepository(database),
    clock,
    callRoutes: new Set(Object.values(operations).map(({ name }) => name)),
    keptMs: requestLogMs,
    storageQueue: () => database.health().queueLength,
    report: (cause) => log.warn('rows of the log of calls are lost', { cause }),
  })
}

/** The parts of the providers that are looked at. */
export interface WatchedProviders {
  deployments: readonly Deployment[]
  catalog: Pick<Catalog, 'current'>
  simulator: unknown
}

/** The parts of a running gateway that are looked at. */
export interface Watched {
  core: Core
  providers: WatchedProviders
  execution: Pick<ExecutionDependencies, 'limiter'> & { health: WatchedHealth }
  requestLog: RequestLog
  activity: Activity
}

/** What people look at. */
export function createInsight(
  config: Config,
  { core, providers, hooks }: { core: Core; providers: WatchedProviders; hooks: GatewayHooks },
): Insight {
  const { database } = core
  const { deployments } = providers
  return {
    search: createRequestSearchRepository(database),
    names: createNamesRepository(database),
    postings: createPostingsRepository(database),
    sums: createSumsRepository(database),
    users: createUsersRepository(database),
    feedback: createFeedbackRepository(database),
    processes: createProcessStateRepository(database),
    queues: createQueueRepository(database),
    deployments,
    providerNames: new Map([
      ...deployments.map(({ provider, providerName }) => [provider, providerName] as const),
      ...deployments.map(({ id, providerName }) => [id, providerName] as const),
    ]),
    facts: {
      version: core.version,
      database: database.dialect,
      isSandbox: providers.simulator !== null,
      requestLogDays: config.requestLogMs / dayMs,
    },
    diagnose: hooks.diagnose ?? createOwnDoctor(new URL('./main.ts', import.meta.url), processEnvironment()),
  }
}

/** What goes on while the gateway runs, beside its calls. */
export function createWatch(config: Config, watched: Watched): { start(): void; stop(): Promise<unknown> } {
  const parts = [watched.requestLog, tellStates(config, watched), keepUsers(watched.core)]
  return {
    start: () => {
      for (const part of parts) part.start()
    },
    stop: () => Promise.all(parts.map((part) => part.stop())),
  }
}

/** Keeps what the largest users of old days used. */
function keepUsers({ database, clock, log }: Core) {
  return createUsersKeeper({
    repository: createUsersRepository(database),
    nowMs: () => clock.nowMs(),
    report: (cause) => log.warn('the users of a day are not kept', { cause }),
  })
}

/** Tells the other processes, and whoever looks, how this process and its deployments are. */
function tellStates(
  { role, names }: Config,
  { core, providers, execution, requestLog, activity }: Watched,
): ProcessStates {
  const { database, money, clock } = core
  return createProcessStates({
    repository: createProcessStateRepository(database),
    ownerId: database.ownerId,
    startedAtMs: clock.nowMs(),
    report: () => ({
      host: hostname(),
      pid: process.pid,
      version: core.version,
      role,
      requestsRunning: activity.running,
      storageQueue: database.health().queueLength,
      capturesQueued: money.billing.stats().capturesQueued,
      logQueued: requestLog.stats().queued,
      logDropped: requestLog.stats().dropped,
      ...reportProviders(names, providers, execution),
    }),
  })
}

function reportProviders(
  names: Config['names'],
  providers: WatchedProviders,
  execution: Watched['execution'],
): Pick<ProcessReport, 'deployments' | 'deadNames'> {
  const deployments = reportDeployments(providers, execution)
  // A refused credential is tried again after a minute, but the deployment is out until it was accepted.
  const out = new Set(deployments.flatMap(({ id, state }) => (state === 'out' ? [id] : [])))
  const isDead = (endpoint: Endpoint) =>
    out.has(endpoint.deployment.id) || ['out', 'failing'].includes(execution.health.stateOf(endpoint))
  return { deployments, deadNames: listDeadNames(names, providers.catalog.current(), isDead) }
}

function reportDeployments(
  { deployments, catalog }: WatchedProviders,
  { health, limiter }: Watched['execution'],
): DeploymentReport[] {
  const troubles = new Map(health.troubles().map((trouble) => [trouble.deploymentId, trouble]))
  const places = new Map(limiter.states().map((state) => [state.deploymentId, state]))
  const models = modelCounts(catalog.current())
  return deployments.map(({ id }) => {
    const trouble = troubles.get(id)
    const place = places.get(id)
    const failure = trouble?.lastFailure
    return {
      id,
      state: trouble?.state ?? 'healthy',
      sinceMs: trouble?.sinceMs ?? null,
      nextTryMs: trouble?.nextTryMs ?? null,
      lastError: failure
        ? { type: failure.type, status: failure.status, message: failure.said, atMs: failure.atMs }
        : null,
      models: models.get(id) ?? 0,
      running: place?.running ?? 0,
      waiting: place?.waiting ?? 0,
      limit: place === undefined ? null : Math.floor(place.limit),
    }
  })
}

let counted: { view: CatalogView; counts: ReadonlyMap<string, number> } | null = null

/** Models of each deployment; counted once for a view of the catalog. */
function modelCounts(view: CatalogView): ReadonlyMap<string, number> {
  if (counted?.view === view) return counted.counts
  const counts = new Map<string, number>()
  for (const { endpoints } of view.models()) {
    const ids = new Set(endpoints.map(({ deployment }) => deployment.id))
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  counted = { view, counts }
  return counts
}

/** The figures of the metrics that are computed when they are read. */
export function offerGauges(
  { metrics, money, database }: Core,
  dependencies: {
    batches: Batches
    execution: ExecutionDependencies
    requestLog: RequestLog
    activity: Activity
  },
): void {
  registerGauges(metrics, {
    requestsRunning: () => dependencies.activity.running,
    billing() {
      const stats = money.billing.stats()
      return {
        ...stats,
        lostCredits: toCredits(stats.lostNanocredits),
        abandonedCredits: toCredits(stats.abandonedNanocredits),
      }
    },
    storageQueue: () => database.health().queueLength,
    requestLog: () => dependencies.requestLog.stats(),
    batches: () => dependencies.batches.stats(),
    deployments: () => dependencies.execution.limiter.states(),
  })
}
