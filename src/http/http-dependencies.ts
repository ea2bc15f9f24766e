import type { Authenticator } from '../access/authenticator.ts'
import type { Keys } from '../access/keys.ts'
import type { Organizations } from '../access/organization.ts'
import type { Members } from '../access/people/members.ts'
import type { Sessions } from '../access/people/sessions.ts'
import type { SignIn } from '../access/people/sign-in.ts'
import type { RateGate } from '../access/rates.ts'
import type { Batches } from '../batches/batches.ts'
import type { Accounts } from '../billing/ledger/accounts.ts'
import type { AudioIntake } from '../canonical/audio.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { FiguresOf } from '../catalog/endpoint-json.ts'
import type { Files } from '../files/file-store.ts'
import type { Clock } from '../core/clock.ts'
import type { SigningSecrets } from '../delivery/signing-secrets.ts'
import type { GatewayError } from '../core/errors.ts'
import type { ResponseCache } from '../execution/cached/response-cache.ts'
import type { Compactor } from '../execution/compaction/compactor.ts'
import type { Executor } from '../execution/executor.ts'
import type { Asker, CallLine, RequestLine } from '../telemetry/call-line.ts'
import type { Insight } from '../insight/insight.ts'
import type { Descriptors } from '../transport/descriptors.ts'
import type { Activity } from './activity.ts'
import type { BodyMemory } from './body-memory.ts'
import type { SocketConnection } from './sockets/socket-connection.ts'
import type { Sockets } from './sockets/open-sockets.ts'
import type { ConsoleFiles } from './console/console-files.ts'

/** Receives the log lines of requests. */
export interface HttpLog {
  request(line: RequestLine): void
  failure(error: GatewayError, facts: FailedRequest): void
}

/** A request that failed through the gateway's or the provider's fault. */
export interface FailedRequest {
  requestId: string
  route: string
  asker: Asker
  facts: CallLine
}

/** The parts that the HTTP layer is built from. */
export interface HttpDependencies {
  authenticator: Authenticator
  rates: RateGate
  organizations: Organizations
  keys: Keys
  members: Members
  sessions: Sessions
  signIn: SignIn
  accounts: Accounts
  insight: Insight
  catalog: Pick<Catalog, 'current'>
  /** The measured performance of an endpoint in this process. */
  figuresOf: FiguresOf
  batches: Batches
  files: Files
  signingSecrets: Pick<SigningSecrets, 'rotate'>
  executor: Executor
  responseCache: Pick<ResponseCache, 'takes' | 'answer'>
  compactor: Compactor
  audioIntake: AudioIntake
  activity: Activity
  /** The memory that large bodies share. */
  bodyMemory: BodyMemory
  /** Whether this process has descriptors left for another call. */
  descriptors: Pick<Descriptors, 'admit'>
  /** The open WebSockets. */
  sockets: Sockets
  /** Makes a WebSocket of the request's connection; false when its handshake is not valid. */
  upgrade: (request: Request, connection: SocketConnection) => boolean
  clock: Clock
  log: HttpLog
  /** The address that the request's connection comes from; empty when unknown. */
  peerAddressOf: (request: Request) => string
  /** Called when one request replaces the one that the server received: both have the same connection. */
  onReaddressed: (made: Request, received: Request) => void
  /** The client's address as throttles should see it. */
  clientAddressOf: (request: Request) => string
  /** Scheme and host as the caller used them, also behind a trusted proxy. */
  originOf: (request: Request) => string
  /** Called for every request whose answer has ended, so that idle connections can be closed. */
  onAnswered: (request: Request) => void
  /** Checks all that must work before traffic may come: null, or the name of the failing part. */
  notReady: () => string | null
  renderMetrics: () => Promise<string>
  /** The token for reading the metrics; null: only programs on this machine may read them. */
  metricsToken: string | null
  /** The program's version. */
  version: string
  /** The files of the console. */
  consoleFiles: ConsoleFiles
  /** Prefix of every path, without a trailing slash; empty by default. */
  basePath: string
}
