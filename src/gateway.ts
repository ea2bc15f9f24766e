import type { Endpoint } from './canonical/endpoint.ts'
import type { Bootstrapped } from './access/bootstrap.ts'
import { recognizeSound } from './audio/recognize.ts'
import { createSpool } from './audio/spool.ts'
import { type Batches, createBatches } from './batches/batches.ts'
import type { Callbacks } from './delivery/callbacks.ts'
import { chooseLane } from './batches/lanes/choose-lane.ts'
import { createJobItems } from './batches/lanes/native/live-items.ts'
import { createCatalog } from './catalog/catalog.ts'
import { createDiscovery, type DiscoveryOptions } from './catalog/discovery.ts'
import { pricePackage } from './catalog/prices/price-package.gen.ts'
import { createPriceFollower, loadPrices } from './catalog/price-lists/price-follower.ts'
import { createPriceListsRepository } from './catalog/price-lists/price-lists-repository.ts'
import { createInspector } from './catalog/inspection.ts'
import type { ProviderCheck } from './cli/context.ts'
import { describeLogin, describeProvider } from './cli/doctor/provider-checks.ts'
import { type Config, processEnvironment } from './config.ts'
import { assert } from './core/assert.ts'
import { atMost } from './core/at-most.ts'
import { newId } from './core/ids.ts'
import { audioBodyBytesMax } from './core/limits/audio.ts'
import { uncountedInputTokens } from './core/limits/billing.ts'
import { countedBodyBytesMin, textBodyCopies } from './core/limits/http.ts'
import { SharedTurns } from './core/shared-turns.ts'
import { createEdge } from './edge.ts'
import { Activity } from './http/activity.ts'
import { executeBatchItem } from './execution/items/batch-item.ts'
import { Compactor } from './execution/compaction/compactor.ts'
import { createCachedAnswerRepository } from './execution/cached/cached-answer-repository.ts'
import { ResponseCache } from './execution/cached/response-cache.ts'
import { createExecutor, type Executor } from './execution/executor.ts'
import type { ExecutionDependencies } from './execution/dependencies.ts'
import { seekingModel } from './execution/preparing/missing-model.ts'
import { routeBatch } from './execution/items/route-batch.ts'
import { sendRemoval } from './execution/resources/removal.ts'
import { createRemovalPlaces } from './execution/resources/removal-places.ts'
import { createResourceSweeper } from './execution/resources/sweeper.ts'
import { createUpstreamResourceRepository } from './execution/resources/upstream-resource-repository.ts'
import { createUpstreamResources } from './execution/resources/upstream-resources.ts'
import { createServing } from './execution/serving.ts'
import { noFacts } from './execution/call/scope.ts'
import { StreamWatch } from './execution/streams/stream-watch.ts'
import {
  type ConfiguredDeployment,
  inspectionOf,
  listingPathOf,
  potentialProviders,
  presetOf,
  type ProviderSettings,
  simulatorSettings,
  targetOf,
  toDeploymentSource,
} from './providers/deployments.ts'
import { watchDeployments, type WatchedHealth } from './routing/deployment-troubles.ts'
import { createHealth } from './routing/health.ts'
import { createLimiter } from './routing/limiter.ts'
import { createQuotas } from './routing/quotas.ts'
import { toLogLine } from './routing/troubles.ts'
import { createStickyRoutes } from './routing/sticky.ts'
import { createBatchLines } from './telemetry/batch-lines.ts'
import { askServer } from './transport/ask-server.ts'
import { fetchListing } from './transport/fetch-listing.ts'
import { createTransport } from './transport/http-client.ts'
import { createIdentities, type Identities } from './transport/identities/identities.ts'
import type { Transport } from './transport/exchange.ts'
import { createPublicFetch } from './transport/public-fetch.ts'
import type { RequestLog } from './insight/log/request-log.ts'
import { createInsight, createLog, createWatch, offerGauges } from './insights.ts'
import { createMp3Codec } from './audio/mp3-codec.ts'
import {
  type Closer,
  type Core,
  createCore,
  type GatewayHooks,
  notReady,
  restoreLearned,
  saveRegularly,
  stopSaved,
  storageStopMs,
} from './gateway-core.ts'
import { createTelling } from './telling.ts'

/** The share of one turn of the event loop that the pieces of all speech streams may use together. */
const speechTurnMs = 4

/** How long it waits for batches to leave off, their results included: longer than `workerStopMs`. */
const batchesStopMs = 30_000

/** How long a call for an unknown model waits while listings are read because of it. */
const discoveryMissWaitMs = 1_000

/** After so much silence a stream sends its caller a comment, so that proxies keep the connection open. */
const keepAliveMs = 10_000

/** How long a stop waits for the log of calls, whose last second may be lost. */
const watchStopMs = 2_000

/** How long a stop goes on removing what the last calls left. */
const resourcesStopMs = 5_000

/** A gateway that has been put together: answers requests, with or without a port of its own. */
export interface Gateway {
  /** In-process; `peer` is the client's address. */
  fetch(request: Request, peer?: string): Promise<Response>
  /** Listens. Throws the system's error when it cannot, such as EADDRINUSE. `metricsUrl` is where only metrics are, if anywhere. */
  listen(): { url: string; port: number; metricsUrl: string | null }
  /**
   * Refuses new work, finishes running work within `stopWaitMs`, gives leases back and closes. Call it once. When storage
   * does not answer, it waits for `storageStopMs` at most and then leaves storage open.
   */
  stop(): Promise<void>
  /** Says in the log that the configuration is read at the start alone: what SIGHUP asks for is not there yet. */
  refuseReload(): void
  /**
   * The token of the link with which the first admin signs in; null when the organization has, or had, people. Call it when
   * the token can be shown, because nobody can read it later.
   */
  makeFirstLink(): Promise<{ token: string; expiresAtMs: number } | null>
  /** What the first start created; the secrets are shown once. */
  readonly bootstrapped: Bootstrapped
  /** True when the simulator is used because no provider is configured. */
  readonly isSandbox: boolean
  /** Models without a known price, which tracked accounts are served unpriced. */
  unpricedModels(): readonly string[]
  /** Models with a surcharge of unknown amount that is not billed; empty when such calls are refused. */
  withUnknownSurcharges(): readonly string[]
  /** The operator's names and aliases that nothing serves, a sentence each. */
  unservedNames(): readonly string[]
  /** Reads every provider's listing; one line each. */
  checkProviders(): Promise<readonly ProviderCheck[]>
}

/**
 * Puts the parts together. Rejects with `storage_unavailable`, SchemaMismatch, SchemaOccupied, BlobStoreMismatch, or the
 * system's error for the folder, and leaves nothing open then.
 */
export async function createGateway(config: Config, hooks: GatewayHooks = {}): Promise<Gateway> {
  const opened: Closer[] = []
  try {
    return await startGateway(config, hooks, opened)
  } catch (error) {
    for (const close of opened.toReversed()) await close()
    throw error
  }
}

/** Adds everything that it opens to `opened`. */
async function startGateway(config: Config, hooks: GatewayHooks, opened: Closer[]): Promise<Gateway> {
  const core = await createCore(config, hooks, opened)
  const providers = await createProviders(config, core, opened)
  const { executor, execution, sweeper } = createExecution(config, { core, providers, hooks })
  const { callbacks, ...telling } = createTelling(config, { core, hooks })
  const requestLog = createLog(config, core)
  const activity = new Activity()
  const engine = { core, executor, execution, callbacks, requestLog, activity, hooks }
  const batches = createBatchEngine(config, engine)
  const responseCache = createResponseCache(core, execution)
  const edge = createEdge(config, {
    ...core,
    requestLog,
    activity,
    insight: createInsight(config, { core, providers, hooks }),
    catalog: providers.catalog,
    figuresOf: execution.health.figuresOf,
    audioIntake: execution.audioIntake,
    notReady: () => notReady(core),
    executor,
    responseCache,
    compactor: new Compactor(telling.seal),
    batches,
    signingSecrets: telling.secrets,
    callsStopMs: hooks.callsStopMs,
  })
  const { money, log } = core
  offerGauges(core, { batches, execution, requestLog, activity })
  await restoreLearned(core)
  opened.push(() => money.billing.stop())
  await money.billing.start()
  money.rollup.start()
  const watch = createWatch(config, { core, providers, execution, requestLog, activity })
  watch.start()
  if (config.role !== 'api') batches.start()
  telling.start()
  void providers.identities.start()
  providers.discovery.start()
  providers.prices.start()
  sweeper.start()
  const stopSaving = saveRegularly(core)
  const stop = async () => {
    stopSaving()
    providers.discovery.stop()
    providers.identities.stop()
    providers.prices.stop()
    // Together: a batch must not begin new items for as long as some live stream takes to end.
    await Promise.all([edge.close(), atMost(batchesStopMs, batches.stop())])
    await Promise.all([telling.stop(), responseCache.stop()])
    execution.mp3Codec.close()
    await atMost(resourcesStopMs, sweeper.stop())
    core.access.rates.stop()
    core.metrics.stop()
    await atMost(watchStopMs, watch.stop())
    // What storage does not accept now is repaired by the next process that starts, as after a crash.
    const isSaved = await atMost(hooks.storageStopMs ?? storageStopMs, stopSaved(core))
    if (!isSaved) log.warn('stopped without storage, which does not answer')
    await log.flush()
    await providers.simulator?.stop()
  }
  let stopping: Promise<void> | null = null
  return {
    ...describeGateway(config, core, providers),
    fetch: edge.fetch,
    listen: edge.listen,
    stop: () => (stopping ??= stop()),
  }
}

/** What a gateway tells of itself. */
function describeGateway(
  config: Config,
  { bootstrapped, access, log }: Core,
  providers: Providers,
): Omit<Gateway, 'fetch' | 'listen' | 'stop'> {
  return {
    makeFirstLink: () => access.people.members.makeFirstLink(bootstrapped.organizationId),
    bootstrapped,
    isSandbox: providers.simulator !== null,
    refuseReload: () =>
      log.warn('SIGHUP changes nothing: the configuration is read at the start; restart to change it'),
    unpricedModels: () => modelsOf(providers.catalog.current().unpriced()),
    withUnknownSurcharges: () =>
      config.refusesUnknownPrices ? [] : modelsOf(providers.catalog.current().surcharged()),
    unservedNames: () => providers.catalog.current().unservedNames(),
    async checkProviders() {
      await providers.discovery.refreshStale()
      const origin = { env: processEnvironment(), file: config.file }
      const listed = providers.discovery
        .states()
        .map((state) => describeProvider(state, providers.settings.get(state.deploymentId), origin))
      const logins = providers.deployments.flatMap(({ id }) => {
        const reason = providers.identities.reasonOf(id)
        return reason === undefined ? [] : [describeLogin(id, reason)]
      })
      return [...listed, ...logins]
    },
  }
}

function modelsOf(endpoints: readonly Endpoint[]): string[] {
  return [...new Set(endpoints.map(({ model }) => model))]
}

/** The configured providers, or the simulator when there is none. */
async function createProviders(
  config: Config,
  { clock, log, database, descriptors }: Core,
  opened: Closer[],
) {
  const simulator = config.providers.length === 0 ? await startSandbox() : null
  if (simulator) opened.push(() => simulator.stop().catch(() => undefined))
  const configured: readonly ProviderSettings[] = simulator
    ? [simulatorSettings(simulator.url)]
    : config.providers
  const transport = createTransport({ clock, descriptors, environment: processEnvironment() })
  const identities = createLogins({ clock, log }, transport)
  const sources = configured.map((provider) => toDeploymentSource(provider, identities))
  const priceLists = createPriceListsRepository(database)
  const onPricesFailure = (cause: unknown) => log.warn('default prices not read', { cause })
  const { version, table } = await loadPrices(priceLists, pricePackage, onPricesFailure)
  const settings = new Map(configured.map((provider) => [provider.id ?? provider.preset, provider]))
  const listings = listingsOf(sources, configured)
  const catalog = createCatalog({
    deployments: sources,
    askedDeployments: new Set(listings.keys()),
    table,
    prices: config.prices,
    names: config,
    potential: potentialProviders(configured, processEnvironment()),
    nowMs: () => clock.nowMs(),
  })
  const inspect = createInspection(sources, configured, transport)
  const discovery = createDiscovery({
    catalog,
    inspect,
    deploymentIds: [...listings.keys()],
    fetchListing: (deploymentId, signal) => {
      const listing = listings.get(deploymentId)
      assert(listing, `there is no deployment ${deploymentId}`)
      return fetchListing({ ...listing, transport, signal })
    },
    clock,
    onFailure: (deploymentId, failure) =>
      log.warn('listing not read', { deployment: deploymentId, cause: failure }),
  })
  const serving = createServing(catalog, sources, presetOf)
  const prices = createPriceFollower({
    repository: priceLists,
    catalog,
    shipped: pricePackage,
    version,
    nowMs: () => clock.nowMs(),
    onTaken: (taken) =>
      log.info('other default prices count', { version: taken.version, source: taken.source }),
    onFailure: onPricesFailure,
  })
  const removalPlaceOf = createRemovalPlaces(sources, presetOf)
  const deployments = sources.map(({ deployment }) => deployment)
  return {
    deployments,
    simulator,
    transport,
    catalog,
    serving,
    removalPlaceOf,
    discovery,
    prices,
    settings,
    identities,
  }
}

/** Where each deployment lists its models, by its id. */
function listingsOf(sources: readonly ConfiguredDeployment[], configured: readonly ProviderSettings[]) {
  return new Map(
    sources.flatMap((source, index) => {
      const path = configured[index] ? listingPathOf(configured[index]) : null
      return path === null ? [] : [[source.deployment.id, { target: targetOf(source), path }] as const]
    }),
  )
}

/** The logins of providers that have no key; nothing is fetched before they start. */
function createLogins({ clock, log }: Pick<Core, 'clock' | 'log'>, transport: Transport): Identities {
  return createIdentities({
    transport,
    clock,
    environment: processEnvironment(),
    report: (deployment, reason) =>
      reason === null
        ? log.info('a login was fetched again', { deployment })
        : log.warn('no login could be fetched', { deployment, reason }),
  })
}

/** Asks servers that can tell what their models are. */
function createInspection(
  sources: readonly ConfiguredDeployment[],
  configured: readonly ProviderSettings[],
  transport: Transport,
): NonNullable<DiscoveryOptions['inspect']> {
  const inspectors = new Map(
    sources.flatMap((source, index) => {
      const inspection = configured[index] ? inspectionOf(configured[index]) : null
      return inspection
        ? [
            [
              source.deployment.id,
              { target: targetOf(source), inspector: createInspector(inspection) },
            ] as const,
          ]
        : []
    }),
  )
  return async (deploymentId, models, signal) => {
    const found = inspectors.get(deploymentId)
    if (!found) return models
    const { target, inspector } = found
    return inspector.complete(models, (question) => askServer({ ...question, target, transport, signal }))
  }
}

type Providers = Awaited<ReturnType<typeof createProviders>>

function createExecution(
  config: Config,
  dependencies: { core: Core; providers: Providers; hooks: GatewayHooks },
) {
  const { core, providers, hooks } = dependencies
  const { clock, log, money } = core
  const { serving, transport, discovery } = providers
  const warn = (message: string, facts: Readonly<Record<string, unknown>>) => log.warn(message, facts)
  const repository = createUpstreamResourceRepository(core.database)
  const resources = createUpstreamResources({ repository, clock, warn })
  const execution: ExecutionDependencies & { health: WatchedHealth } = {
    serving,
    readListings: (isEnough) => atMost(discoveryMissWaitMs, discovery.refreshStale(isEnough)),
    billing: money.billing,
    spendTokens: (principal, tokens) => core.access.rates.spendTokens(principal, tokens),
    learning: money.learning,
    health: watchDeployments(
      createHealth({ clock, report: (change) => log.warn(...toLogLine(change)) }),
      clock,
    ),
    limiter: createLimiter({ clock }),
    quotas: createQuotas(core.access.rates.shared),
    sticky: createStickyRoutes({ clock }),
    transport,
    publicFetch: hooks.publicFetch ?? createPublicFetch({ allowedHosts: config.fetchHosts }),
    files: core.files,
    audioIntake: {
      createSpool: () => createSpool({ folder: core.spoolFolder, bytesMax: audioBodyBytesMax }),
      recognize: recognizeSound,
    },
    transcriptionMs: config.transcriptionMs,
    refusesUnknownPrices: config.refusesUnknownPrices,
    uncountedInputTokens: config.uncountedInputTokens ?? uncountedInputTokens,
    streamWatch: new StreamWatch(hooks.keepAliveMs ?? keepAliveMs),
    mp3Codec: createMp3Codec({ startsAtOnce: core.descriptors.isSmall }),
    speechTurns: new SharedTurns(speechTurnMs, clock),
    resources,
    clock,
    random: hooks.random ?? Math.random,
    warn,
  }
  const sweeper = createResourceSweeper({
    repository,
    resources,
    placeOf: providers.removalPlaceOf,
    send: (request, target) => sendRemoval(request, target, transport),
    warn,
  })
  return { execution, executor: createExecutor(execution), sweeper }
}

/** Answers that are given again to callers who ask for it. */
function createResponseCache({ database, blobs }: Core, execution: ExecutionDependencies): ResponseCache {
  const cache = new ResponseCache({ repository: createCachedAnswerRepository(database), blobs, execution })
  cache.start()
  return cache
}

function createBatchEngine(
  { batchLimits: limits }: Config,
  dependencies: {
    core: Core
    executor: Executor
    execution: ExecutionDependencies
    callbacks: Callbacks
    requestLog: RequestLog
    activity: Activity
    hooks: GatewayHooks
  },
): Batches {
  const { core, executor, execution, callbacks, requestLog, activity, hooks } = dependencies
  const { money, access, log } = core
  const batchLines = createBatchLines(core)
  return createBatches({
    keepAliveMs: hooks.keepAliveMs,
    live: activity,
    callbacks,
    limits,
    database: core.database,
    blobs: core.blobs,
    billing: money.billing,
    ledger: money.ledger,
    readBalance: async (organizationId) => (await money.accounts.readCredits(organizationId)).balance,
    async runItem(item) {
      const facts = noFacts()
      const requestId = newId('req', core.clock.nowMs())
      const startedMs = core.clock.monotonicMs()
      const held = core.bodyMemory.open(item.signal)
      const counted: Executor = {
        ...executor,
        async text(call, scope) {
          if (item.body.length >= countedBodyBytesMin) await held.grow(item.body.length * textBodyCopies)
          return executor.text(call, scope)
        },
      }
      try {
        return await executeBatchItem({ ...item, requestId }, counted, execution, facts)
      } finally {
        held.release()
        core.metrics.recordCall(facts)
        batchLines.record(item.batchId, facts)
        const { organizationId, keyId } = item.principal
        const durationMs = core.clock.monotonicMs() - startedMs
        requestLog.item({ requestId, batchId: item.batchId, organizationId, keyId, durationMs }, facts)
      }
    },
    resolveBatch: (question) =>
      seekingModel(question.model, () => chooseLane(question, routeBatch(question, execution)), execution),
    jobItems: createJobItems(execution, ({ principal, batchId }, { requestId, facts }) => {
      const { organizationId, keyId } = principal
      return requestLog.itemOfJob({ requestId, batchId, organizationId, keyId }, facts)
    }),
    spoolFolder: core.spoolFolder,
    loadPrincipal: ({ keyId }) => access.authenticator.principalOf(keyId),
    clock: core.clock,
    crash: hooks.crash ?? null,
    report: (event, { batchId, cause }) => log.warn(event, { batch_id: batchId, cause }),
  })
}

async function startSandbox() {
  const { startSimulator } = await import('../simulator/server.ts')
  // Of all English a recogniser hears a synthetic voice wrong; `headrace try` says a sentence of this language.
  return startSimulator({ port: 0, quiet: true, knowsFewSentences: true })
}
