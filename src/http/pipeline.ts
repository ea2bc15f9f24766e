import { KeyMissing, KeyRefused } from '../access/authenticator.ts'
import { type OpenSession, SessionEnded } from '../access/people/sessions.ts'
import type { Principal } from '../canonical/principal.ts'
import { assert } from '../core/assert.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { noFacts } from '../execution/call/scope.ts'
import type { Asker, CallLine } from '../telemetry/call-line.ts'
import { contractConvention, type ClientConvention } from '../formats/client-convention.ts'
import type { HeldBody } from './body-memory.ts'
import { errorResponse, type RouteGroup } from './error-response.ts'
import { noDescriptors } from '../transport/descriptors.ts'
import { cookiePlaceOf, findSession, showsSession } from './console-call.ts'
import type { HttpDependencies } from './http-dependencies.ts'
import { requireRole } from './role-table.ts'
import { sessionCookie } from './session-cookie.ts'
import { toResponseBody } from './response-body.ts'

/** One request and its progress through the HTTP layer. */
export interface HttpExchange {
  request: Request
  requestId: string
  /** Read at once, because a closed connection has no address. */
  asker: Asker
  /** Whose key it came with, once that is known; null where none is needed or sent. */
  principal: Principal | null
  /** The session that it came with instead of a key; null for most. */
  session: OpenSession | null
  /** Path parameters by name, already decoded. */
  params: Readonly<Record<string, string>>
  /** The query parameters; parsed only when needed. */
  query: () => URLSearchParams
  facts: CallLine
  /** The memory that a large body uses until the exchange is over; null for most. */
  heldBody: HeldBody | null
  /** Runs once the response's body has ended; a streamed answer is logged then and not when it starts. */
  ended: Promise<void> | null
  /** Whether the response already has `commonHeaders`; adding them later costs more. */
  hasCommonHeaders: boolean
}

/**
 * Which key a route requires: one of this kind, any key, or none (`optional`: a key is checked when one is sent). A session
 * does instead of a key where `role-table.ts` lets its role in; `session` requires one.
 */
export type Access = 'inference' | 'management' | 'any' | 'optional' | 'public' | 'session'

/** An exchange of a route that needs a key. */
export interface Authenticated extends HttpExchange {
  principal: Principal
}

/** A method on a path, and the key that it requires. */
export interface HttpRoute {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** The path below the version segment, with `:name` for parameters. */
  path: string
  group: RouteGroup
  /** The conventions of its clients; the contract's by default. */
  convention?: ClientConvention
  /** The label of the log line and the metrics; one of few. */
  name: string
  access: Access
  handle: (exchange: HttpExchange) => Promise<Response> | Response
}

/**
 * A route that needs a key, so the principal is present. The exchange stays the same object, because handlers change
 * it.
 */
export function withPrincipal(
  handle: (exchange: Authenticated) => Promise<Response> | Response,
): HttpRoute['handle'] {
  return (exchange) => {
    assert(isAuthenticated(exchange), 'a route with access to a key has a principal')
    return handle(exchange)
  }
}

function isAuthenticated(exchange: HttpExchange): exchange is Authenticated {
  return exchange.principal !== null
}

/**
 * Authenticates, runs a route and renders whatever it throws, so that every exit has the envelope, a request id, one
 * log line and one count. Authentication precedes validation; a wrong kind of key is 403.
 */
export async function runRoute(
  route: HttpRoute,
  exchange: HttpExchange,
  dependencies: HttpDependencies,
): Promise<Response> {
  const startedMs = dependencies.clock.monotonicMs()
  const { group, convention = contractConvention } = route
  dependencies.activity.begin()
  let response: Response
  let hasLeft = false
  try {
    exchange.principal = await authorize(route, exchange, dependencies)
    response = await route.handle(exchange)
  } catch (thrown) {
    const error = toGatewayError(thrown)
    if (error instanceof KeyRefused && error.owner) Object.assign(exchange.asker, error.owner)
    hasLeft = exchange.request.signal.aborted && error.type !== 'internal'
    if (hasLeft) exchange.facts.isCancelled = true
    else exchange.facts.errorType = error.type
    if (error.status >= 500 && !hasLeft) dependencies.log.failure(error, { ...exchange, route: route.name })
    const { generationId } = exchange.facts
    const { writeError } = convention
    response = errorResponse(error, { group, writeError, generationId }, new Headers())
    if (error instanceof SessionEnded)
      response.headers.set('set-cookie', clearedCookie(exchange, dependencies))
    // Closing the caller's own connection frees a descriptor.
    if (error.type === 'gateway_overloaded') response.headers.set('connection', 'close')
    exchange.hasCommonHeaders = false
  }
  if (exchange.session !== null) response.headers.set('cache-control', 'no-store')
  if (!exchange.hasCommonHeaders) {
    for (const [name, value] of Object.entries(commonHeaders(exchange))) response.headers.set(name, value)
  }
  if (convention.requestIdHeader !== null)
    response.headers.set(convention.requestIdHeader, exchange.requestId)
  const answered = { route: route.name, status: hasLeft ? callerLeft : response.status, startedMs }
  if (exchange.ended) finishAfter(exchange.ended, exchange, answered, dependencies)
  else finish(exchange, answered, dependencies)
  return response
}

interface AnsweredRoute {
  route: string
  status: number
  startedMs: number
}

function finishAfter(
  ended: Promise<void>,
  exchange: HttpExchange,
  answered: AnsweredRoute,
  dependencies: HttpDependencies,
): void {
  void ended.then(() => finish(exchange, answered, dependencies))
}

function finish(
  exchange: HttpExchange,
  { route, status, startedMs }: AnsweredRoute,
  dependencies: HttpDependencies,
): void {
  dependencies.activity.end()
  exchange.heldBody?.release()
  dependencies.onAnswered(exchange.request)
  dependencies.log.request({
    requestId: exchange.requestId,
    route,
    status,
    durationMs: dependencies.clock.monotonicMs() - startedMs,
    asker: exchange.asker,
    facts: exchange.facts,
  })
}

/**
 * The log's status for a caller that left before the answer; other proxies use the same number. The call's error then
 * must not count against the provider, which had no time to answer.
 */
const callerLeft = 499

/** The headers of every response. */
export function commonHeaders({ requestId }: Pick<HttpExchange, 'requestId'>): Record<string, string> {
  return {
    'x-request-id': requestId,
    'access-control-allow-origin': '*',
    'access-control-expose-headers':
      'X-Generation-Id, X-Provider-Name, X-Request-Id, Request-Id, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotent-Replayed, X-OpenRouter-Cache-Status, X-OpenRouter-Cache-Age, X-OpenRouter-Cache-TTL, X-OpenRouter-Cache-Source-Id',
  }
}

async function authorize(
  route: HttpRoute,
  exchange: HttpExchange,
  dependencies: HttpDependencies,
): Promise<Principal | null> {
  // Public routes stay available: a failed health probe would kill a process that is still finishing its streams.
  if (route.access === 'public') return null
  if (dependencies.activity.isStopping) {
    throw new GatewayError('shutting_down', 'The gateway is shutting down; try again in a moment.', {
      retryAfterSeconds: 2,
    })
  }
  if (route.access === 'inference' && !dependencies.descriptors.admit(dependencies.activity.running))
    throw noDescriptors()
  const { headers } = exchange.request
  if (route.access === 'optional' && isAnonymous(headers)) {
    return showsSession(exchange.request, dependencies) ? signedIn(route, exchange, dependencies) : null
  }
  const { asker } = exchange
  const { convention = contractConvention } = route
  let found: Principal | Promise<Principal>
  try {
    found = dependencies.authenticator.authenticate(headers, asker, convention)
  } catch (error) {
    // Only a request without a key is asked for a session, so that sessions cost requests with a key nothing.
    if (error instanceof KeyMissing) return signedIn(route, exchange, dependencies)
    throw error
  }
  const principal = found instanceof Promise ? await found : found
  asker.organizationId = principal.organizationId
  asker.keyId = principal.keyId
  requireKind(route.access, principal)
  if (route.access === 'inference') {
    const admitted = dependencies.rates.admitRequest(principal)
    if (admitted) await admitted
  }
  return principal
}

/** The person of a request without a key, if the role may call the route. */
async function signedIn(
  route: HttpRoute,
  exchange: HttpExchange,
  dependencies: HttpDependencies,
): Promise<Principal> {
  const session = await findSession(exchange.request, dependencies)
  const { principal } = session
  exchange.asker.organizationId = principal.organizationId
  exchange.asker.keyId = principal.keyId
  requireRole(route, principal.person.role)
  if (route.access === 'inference') await dependencies.rates.admitRequest(principal)
  exchange.session = session
  return principal
}

/** Takes the cookie of an ended session away. */
function clearedCookie({ request }: HttpExchange, dependencies: HttpDependencies): string {
  return sessionCookie('', cookiePlaceOf(request, dependencies))
}

function isAnonymous(headers: Headers): boolean {
  return headers.get('authorization') === null && headers.get('x-headrace-key') === null
}

function requireKind(access: Access, principal: Principal): void {
  if (access === 'inference' && principal.keyKind !== 'inference') {
    throw new GatewayError(
      'permission_denied',
      'A management key cannot call inference; use an inference key.',
    )
  }
  if (access === 'session')
    throw new GatewayError('permission_denied', 'This is for people who are signed in, not for keys.')
  if (access === 'management' && principal.keyKind !== 'management') {
    throw new GatewayError('permission_denied', 'A management key is required; this is an inference key.')
  }
}

/** A new exchange for a request. */
export function createExchange(
  request: Request,
  params: Readonly<Record<string, string>>,
  dependencies: HttpDependencies,
): HttpExchange {
  let query: URLSearchParams | null = null
  return {
    request,
    requestId: newId('req', dependencies.clock.nowMs()),
    asker: { organizationId: null, keyId: null, clientAddress: dependencies.clientAddressOf(request) },
    principal: null,
    session: null,
    params,
    query: () => (query ??= new URL(request.url).searchParams),
    facts: noFacts(),
    heldBody: null,
    ended: null,
    hasCommonHeaders: false,
  }
}

/** A JSON answer. */
export function jsonResponse(body: unknown, status = 200): Response {
  const text = JSON.stringify(body)
  return new Response(toResponseBody([text]), { status, headers: { 'content-type': 'application/json' } })
}
