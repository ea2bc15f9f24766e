import type { ParamIndexMap, Params, ParamStash } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import { getPathNoStrict, tryDecodeURIComponent } from 'hono/utils/url'
import { systemClock } from '../core/clock.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { operations } from '../execution/operations.ts'
import { noFacts } from '../execution/call/scope.ts'
import { type ClientConvention, contractConvention } from '../formats/client-convention.ts'
import { errorResponse } from './error-response.ts'
import { commonHeaders, createExchange, type HttpRoute, runRoute } from './pipeline.ts'
import type { HttpDependencies } from './http-dependencies.ts'
import { hostError, withAddress } from './request-address.ts'
import { openAiConvention } from '../formats/openai-convention.ts'
import { openAiRoutes, routes } from './routes.ts'
import { siteRoutes } from './site.ts'
import { noSocketHere, offersSocket, socketRoute } from './sockets/socket-door.ts'

/** The base paths of the same handlers: the gateway's own, and the one that clients of the public contract use. */
const versionPaths = ['/v1', '/api/v1']

/** Hosts that are kept, and the longest of them; callers use few, unless one of them looks for room to fill. */
const keptHostsMax = 256
const keptHostLengthMax = 256

/** From a request to its response. */
type Respond = (request: Request) => Response | Promise<Response>

/** The whole HTTP surface; a server or a test calls it. */
export interface App {
  fetch: Respond
  /** The same for POST to each path without parameters, for a server that finds these paths itself: it need not write the URL. */
  posts: Record<string, { POST: Respond }>
}

/** Puts the HTTP surface together. */
export function createApp(dependencies: HttpDependencies): App {
  const { find, literal } = createFinder(dependencies)
  /** Hosts with which a URL could be parsed. */
  const hosts = new Set<string>()
  const keepHost = (host: string | null): void => {
    if (host !== null && hosts.size < keptHostsMax && host.length <= keptHostLengthMax) hosts.add(host)
  }
  const respond: Respond = (request) => {
    const addressed = withAddress(request)
    if (!addressed) return unaddressed(request, dependencies)
    if (addressed === request) keepHost(request.headers.get('host'))
    else dependencies.onReaddressed(addressed, request)
    if (request.method === 'OPTIONS') return preflight(request, dependencies)
    if (request.method === 'GET' && offersSocket(request)) return answerOffer(addressed, find, dependencies)
    // Answers like GET; the server sends the length of the body without the body.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const found = find(method, getPathNoStrict(addressed))
    if (found === null) return unknownPath(addressed, find, dependencies)
    return answerAt(found, addressed, dependencies)
  }
  const guarded =
    (answer: Respond): Respond =>
    (request) => {
      try {
        return answer(request)
      } catch (thrown) {
        return unexpected(thrown, dependencies)
      }
    }
  const post = (place: Place): Respond =>
    guarded((request) =>
      hosts.has(request.headers.get('host') ?? '')
        ? answerAt(place, request, dependencies)
        : respond(request),
    )
  const posted = literal.filter(({ method }) => method === 'POST')
  return {
    fetch: guarded(respond),
    posts: Object.fromEntries(posted.map(({ path, place }) => [path, { POST: post(place) }])),
  }
}

/** The route of a method and path; `params` are decoded. */
interface Place {
  route: HttpRoute
  params: Readonly<Record<string, string>>
}

/** A route of a path without parameters, which always means it. */
interface LiteralPlace {
  method: HttpRoute['method']
  path: string
  place: Place
}

/** Null when there is no such route. */
type FindPlace = (method: string, path: string) => Place | null

/**
 * The library's router without its application, which would cost more for every request than the routing. The route of
 * a path without parameters never changes, so it is cached.
 */
function createFinder(dependencies: HttpDependencies): { find: FindPlace; literal: readonly LiteralPlace[] } {
  const router = new SmartRouter<HttpRoute>({ routers: [new RegExpRouter(), new TrieRouter()] })
  const paths: [HttpRoute['method'], string][] = []
  const add = (path: string, route: HttpRoute) => {
    router.add(route.method, path, route)
    if (!path.includes(':') && !path.includes('*')) paths.push([route.method, path])
  }
  const base = dependencies.basePath
  for (const route of routes(dependencies)) {
    const prefixes = route.path.startsWith('/batches') ? [...versionPaths, '/api/beta'] : versionPaths
    for (const prefix of prefixes) add(`${base}${prefix}${route.path}`, route)
  }
  for (const route of openAiRoutes(dependencies)) add(`${base}/openai/v1${route.path}`, route)
  // Requests are looked up without their last slash; so is the page at the root of a base path.
  for (const route of siteRoutes(dependencies))
    add(route.path === '/' && base !== '' ? base : `${base}${route.path}`, route)
  const match: FindPlace = (method, path) => {
    const [[found], stash] = router.match(method, path)
    return found ? { route: found[0], params: paramsOf(found[1], stash) } : null
  }
  const known: Record<string, Map<string, Place>> = {}
  const literal: LiteralPlace[] = []
  for (const [method, path] of paths) {
    const place = match(method, path)
    if (place === null) continue
    ;(known[method] ??= new Map()).set(path, place)
    literal.push({ method, path, place })
  }
  return { find: (method, path) => known[method]?.get(path) ?? match(method, path), literal }
}

function answerAt(
  { route, params }: Place,
  request: Request,
  dependencies: HttpDependencies,
): Promise<Response> {
  const exchange = createExchange(request, params, dependencies)
  return runRoute(route, exchange, dependencies).catch((thrown: unknown) => unexpected(thrown, dependencies))
}

/** A client asks for a WebSocket: it gets one where the turns of an operation go over one. */
function answerOffer(
  request: Request,
  find: FindPlace,
  dependencies: HttpDependencies,
): Response | Promise<Response> {
  const path = getPathNoStrict(request)
  const post = find('POST', path)
  const route = post === null ? null : socketRoute(post.route, dependencies)
  if (route !== null) return answerAt({ route, params: {} }, request, dependencies)
  const response = withoutRoute(request, noSocketHere(path), dependencies, conventionAt(path))
  response.headers.set('upgrade', 'websocket')
  return response
}

/** One of the library's routers returns the values of parameters, the other returns their indexes in a list. */
function paramsOf(
  found: Params | ParamIndexMap,
  stash: ParamStash | undefined,
): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(found)) {
    params[name] = tryDecodeURIComponent(typeof value === 'number' ? (stash?.[value] ?? '') : value)
  }
  return params
}

function unaddressed(request: Request, dependencies: HttpDependencies): Response {
  return withoutRoute(request, hostError(), dependencies)
}

/** An error before any route. It is logged like every other request, because the log then shows a wrong base URL. */
function withoutRoute(
  request: Request,
  error: GatewayError,
  dependencies: HttpDependencies,
  { writeError, requestIdHeader }: ClientConvention = contractConvention,
): Response {
  dependencies.onAnswered(request)
  const requestId = newId('req', dependencies.clock.nowMs())
  const facts = { ...noFacts(), errorType: error.type }
  const asker = { organizationId: null, keyId: null, clientAddress: dependencies.clientAddressOf(request) }
  dependencies.log.request({ requestId, route: 'none', status: error.status, durationMs: 0, asker, facts })
  const headers = new Headers(commonHeaders({ requestId }))
  if (requestIdHeader !== null) headers.set(requestIdHeader, requestId)
  return errorResponse(error, { group: 'catalog', writeError }, headers)
}

/** Clients of an operation expect its error format even for paths below it that do not exist. */
function conventionAt(path: string): ClientConvention {
  if (path.includes('/openai/v1/')) return openAiConvention
  const below = /\/v1(\/.*)$/.exec(path)?.[1] ?? ''
  const found = Object.values(operations).find(
    ({ path: own, text }) => text !== null && (below === own || below.startsWith(`${own}/`)),
  )
  return found?.text?.convention ?? contractConvention
}

const preflightHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, OPTIONS, PATCH, DELETE, POST, PUT',
  'access-control-allow-headers':
    '*, Authorization, Content-Type, Idempotency-Key, X-Session-Id, X-Headrace-Key, X-Headrace-Metadata, X-OpenRouter-Metadata',
  'access-control-max-age': '86400',
}

function preflight(request: Request, dependencies: HttpDependencies): Response {
  dependencies.onAnswered(request)
  const headers = { ...preflightHeaders, 'x-request-id': newId('req', dependencies.clock.nowMs()) }
  return new Response(null, { status: 204, headers })
}

function unknownPath(request: Request, find: FindPlace, dependencies: HttpDependencies): Response {
  const path = new URL(request.url).pathname
  const allowed = methods.filter((method) => find(method, getPathNoStrict(request)) !== null)
  const hint =
    allowed.length > 0 ? ` This path takes ${allowed.join(' and ')}.` : hintFor(path, dependencies.basePath)
  const error = new GatewayError('not_found', `${request.method} ${shown(path)} does not exist.${hint}`)
  const response = withoutRoute(request, error, dependencies, conventionAt(path))
  if (allowed.length > 0) response.headers.set('allow', allowed.join(', '))
  return response
}

const methods: readonly HttpRoute['method'][] = ['GET', 'POST', 'PATCH', 'DELETE']

// A route renders its own errors. This handles errors before or after a route, so that these have the envelope too.
function unexpected(thrown: unknown, dependencies: HttpDependencies): Response {
  const error = toGatewayError(thrown)
  // Does not use the injected clock, because that may be the broken part.
  const requestId = newId('req', systemClock.nowMs())
  const asker = { organizationId: null, keyId: null, clientAddress: '' }
  dependencies.log.failure(error, { requestId, route: 'none', asker, facts: noFacts() })
  return errorResponse(error, { group: 'catalog' }, new Headers(commonHeaders({ requestId })))
}

function shown(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path
}

// The most common mistakes with a base URL: the version stands twice, or not at all.
function hintFor(path: string, basePath: string): string {
  if (path.includes('/v1/v1')) return ' The base URL names /v1 twice; end it in one /v1.'
  if (basePath !== '' && !path.startsWith(basePath)) return ` This gateway lives below ${basePath}.`
  if (!path.includes('/v1')) return ` The API is below ${basePath}/v1; end the base URL in /v1.`
  return ` The paths are listed at ${basePath}/openapi.json.`
}
