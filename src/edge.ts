import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Batches } from './batches/batches.ts'
import type { AudioIntake } from './canonical/audio.ts'
import type { Config } from './config.ts'
import { atMost } from './core/at-most.ts'
import type { Clock } from './core/clock.ts'
import { hangUps } from './core/hang-ups.ts'
import { liveBodyBytesMax } from './core/limits/http.ts'
import type { Executor } from './execution/executor.ts'
import type { Activity } from './http/activity.ts'
import { type App, createApp } from './http/app.ts'
import { clientAddress, isTrusted } from './http/client-address.ts'
import { type ConsolePlaces, createConsoleFiles } from './http/console/console-files.ts'
import { type MetricsAddress, openMetricsAddress } from './http/metrics-address.ts'
import type { HttpDependencies, HttpLog } from './http/http-dependencies.ts'
import { originBehindProxy, originOf } from './http/request-address.ts'
import type { SocketConnection } from './http/sockets/socket-connection.ts'
import { Sockets } from './http/sockets/open-sockets.ts'
import type { createAccess, createMoney } from './stores.ts'
import { askerFields, type Logger } from './telemetry/logger.ts'
import type { Metrics } from './telemetry/metrics.ts'
import type { RequestLog } from './insight/log/request-log.ts'

/** Where the program is. */
const rootFolder = fileURLToPath(new URL('../', import.meta.url))
/** How long a stop waits for running calls before it ends them. */
const stopWaitMs = 30_000
/** How long a connection may rest after an answer, or go on sending a body that was refused; load balancers rest for 60 s. */
const connectionRestSeconds = 120
/** How long a stop waits for WebSockets to close after their last turns. */
const socketsStopMs = 1_000
/** How long a stop waits for calls that it has cut off to end. */
const cutCallsMs = 1_000
/** After so long without a byte from a WebSocket's client, pongs included, its connection is taken for broken. */
const socketSilenceSeconds = 120

/** What the surface is built from. */
export interface EdgeDependencies {
  access: ReturnType<typeof createAccess>
  money: ReturnType<typeof createMoney>
  catalog: HttpDependencies['catalog']
  figuresOf: HttpDependencies['figuresOf']
  batches: Batches
  signingSecrets: HttpDependencies['signingSecrets']
  executor: Executor
  responseCache: HttpDependencies['responseCache']
  compactor: HttpDependencies['compactor']
  audioIntake: AudioIntake
  /** Why no request can be served right now; null when all is well. */
  notReady: () => string | null
  files: HttpDependencies['files']
  descriptors: HttpDependencies['descriptors']
  bodyMemory: HttpDependencies['bodyMemory']
  log: Logger
  metrics: Metrics
  requestLog: RequestLog
  activity: Activity
  insight: HttpDependencies['insight']
  clock: Clock
  /** The program's version. */
  version: string
  /** How long a stop waits for running calls, if not as long as usual. */
  callsStopMs?: number | undefined
  /** Where the console is, if elsewhere than beside the program. */
  consolePlaces?: Partial<ConsolePlaces> | undefined
}

/** Puts the HTTP surface together. It opens no port before `listen` is called. */
export function createEdge(config: Config, dependencies: EdgeDependencies) {
  const { activity } = dependencies
  const peers = createPeers()
  const sockets = new Sockets()
  let server: ReturnType<typeof listen> | null = null
  let metricsAddress: MetricsAddress | null = null
  const peerAddressOf = (request: Request) => peers.addressOf(request, server)
  const httpParts: HttpDependencies = {
    ...servingParts(config, dependencies),
    activity,
    peerAddressOf,
    onReaddressed: peers.readdress,
    clientAddressOf: (request) =>
      clientAddress(peerAddressOf(request), request.headers.get('x-forwarded-for'), config.trustedProxies),
    originOf: (request) =>
      isTrusted(peerAddressOf(request), config.trustedProxies)
        ? originBehindProxy(request)
        : originOf(request),
    // The server has no timeouts of its own for calls that run; from here on the connection only rests.
    onAnswered: (request) => server?.timeout(peers.receivedFor(request), connectionRestSeconds),
    sockets,
    upgrade: (request, connection) =>
      server?.upgrade(peers.receivedFor(request), { data: connection }) ?? false,
  }
  const app = createApp(httpParts)
  return {
    async fetch(request: Request, peer = '127.0.0.1') {
      peers.set(request, peer)
      return app.fetch(request)
    },
    listen() {
      metricsAddress = listenForMetrics(config, httpParts, peers.set)
      server = listen(config, app)
      const host = config.host.includes(':') ? `[${config.host}]` : config.host
      const port = server.port ?? config.port
      const metricsUrl = metricsAddress?.url ?? null
      if (metricsUrl !== null) dependencies.log.info('metrics of this process', { url: metricsUrl })
      return { url: `http://${host}:${port}${config.basePath}/v1`, port, metricsUrl }
    },
    async close() {
      const left = sockets.leave()
      await activity.drain(dependencies.callsStopMs ?? stopWaitMs)
      // Their last messages and their close codes are on their way.
      await atMost(socketsStopMs, left)
      await server?.stop(true)
      // Calls that this has cut off give their money back before storage is closed.
      hangUps.look()
      await activity.drain(cutCallsMs)
      await metricsAddress?.stop()
    },
  }
}

/** What requests are answered with, whatever the server. */
function servingParts(
  config: Config,
  dependencies: EdgeDependencies,
): Omit<
  HttpDependencies,
  | 'activity'
  | 'peerAddressOf'
  | 'onReaddressed'
  | 'clientAddressOf'
  | 'originOf'
  | 'onAnswered'
  | 'sockets'
  | 'upgrade'
> {
  const { access, money } = dependencies
  return {
    authenticator: access.authenticator,
    rates: access.rates,
    organizations: access.organizations,
    keys: access.keys,
    ...access.people,
    accounts: money.accounts,
    insight: dependencies.insight,
    catalog: dependencies.catalog,
    figuresOf: dependencies.figuresOf,
    batches: dependencies.batches,
    files: dependencies.files,
    signingSecrets: dependencies.signingSecrets,
    executor: dependencies.executor,
    responseCache: dependencies.responseCache,
    compactor: dependencies.compactor,
    audioIntake: dependencies.audioIntake,
    clock: dependencies.clock,
    log: createHttpLog(dependencies),
    notReady: dependencies.notReady,
    descriptors: dependencies.descriptors,
    bodyMemory: dependencies.bodyMemory,
    renderMetrics: () => dependencies.metrics.render(),
    metricsToken: config.metrics.token,
    version: dependencies.version,
    consoleFiles: createConsoleFiles({
      source: join(rootFolder, 'dashboard'),
      lock: join(rootFolder, 'package-lock.json'),
      packaged: join(rootFolder, 'dashboard/dist'),
      cache: join(config.dataFolder, 'console'),
      ...dependencies.consolePlaces,
    }),
    basePath: config.basePath,
  }
}

/** An address for the metrics alone, where one is configured or the port of the callers belongs to several processes. */
function listenForMetrics(
  { metrics, sharePort }: Config,
  dependencies: HttpDependencies,
  onPeer: (request: Request, address: string) => void,
): MetricsAddress | null {
  const port = metrics.port ?? (sharePort ? 0 : null)
  if (port === null) return null
  return openMetricsAddress({ host: metrics.host, port, isShared: sharePort, dependencies, onPeer })
}

function listen(config: Config, { fetch, posts }: App) {
  return Bun.serve<SocketConnection>({
    hostname: config.host,
    port: config.port,
    reusePort: config.sharePort,
    // Streams have deadlines of their own; the server's would cut off a model that thinks for a minute.
    idleTimeout: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
    routes: posts,
    fetch,
    websocket: {
      maxPayloadLength: liveBodyBytesMax,
      // A larger one would be left out silently; the largest event is half as large.
      backpressureLimit: liveBodyBytesMax,
      idleTimeout: socketSilenceSeconds,
      sendPings: true,
      perMessageDeflate: false,
      open: (socket) => socket.data.opened(socket),
      message: (socket, data) => socket.data.message(data),
      drain: (socket) => socket.data.drained(),
      close: (socket) => socket.data.closed(),
    },
    error: () =>
      Response.json(
        { error: { code: 500, message: 'Internal server error.', error_type: 'server' } },
        { status: 500 },
      ),
  })
}

/** Where the edge tells of its requests: a line, a count, and for calls a row each. */
export function createHttpLog({
  log,
  metrics,
  requestLog,
}: Pick<EdgeDependencies, 'log' | 'metrics' | 'requestLog'>): HttpLog {
  return {
    request: (line) => {
      log.request(line)
      metrics.recordRequest(line)
      requestLog.request(line)
    },
    failure: (error, { requestId, route, asker, facts }) =>
      log.warn('request failed', {
        request_id: requestId,
        route,
        ...askerFields(asker),
        cause: error,
        said: facts.tried.findLast(({ said }) => said !== null)?.said,
      }),
  }
}

/** Which address a request came from. */
export interface Peers {
  /** For a request that no server of ours received, such as one of a test. */
  set(request: Request, address: string): void
  /** A route may have replaced the request that the server received; the server knows only its own. */
  readdress(made: Request, received: Request): void
  receivedFor(request: Request): Request
  /** Empty when nobody knows it. */
  addressOf(request: Request, server: Pick<Bun.Server<undefined>, 'requestIP'> | null): string
}

/** Forgets a request with the request itself. */
export function createPeers(): Peers {
  const addresses = new WeakMap<Request, string>()
  const received = new WeakMap<Request, Request>()
  const receivedFor = (request: Request): Request => received.get(request) ?? request
  return {
    set: (request, address) => void addresses.set(request, address),
    readdress: (made, original) => void received.set(made, original),
    receivedFor,
    addressOf(request, server) {
      const original = receivedFor(request)
      return addresses.get(original) ?? server?.requestIP(original)?.address ?? ''
    },
  }
}
