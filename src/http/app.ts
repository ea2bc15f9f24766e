import { Hono } from 'hono'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { errorResponse } from './error-response.ts'
import { createExchange, runRoute, type Route } from './pipeline.ts'
import type { HttpParts } from './parts.ts'
import { routes } from './routes.ts'
import { siteRoutes } from './site.ts'

/** Base paths that reach the same handlers: ours, and the one clients of the public contract have configured. */
const versionPaths = ['/v1', '/api/v1']

/** The whole HTTP surface as one function from request to response; a server or a test calls it. */
export function createApp(parts: HttpParts): { fetch: (request: Request) => Response | Promise<Response> } {
  const app = new Hono({ strict: false })
  const base = parts.basePath
  for (const route of routes(parts)) {
    const prefixes = route.path.startsWith('/batches') ? [...versionPaths, '/api/beta'] : versionPaths
    for (const prefix of prefixes) add(app, { ...route, path: `${base}${prefix}${route.path}` }, parts)
  }
  for (const route of siteRoutes(parts)) add(app, { ...route, path: `${base}${route.path}` }, parts)
  app.options('*', () => new Response(null, { status: 204, headers: preflightHeaders }))
  app.notFound((context) => unknownPath(context.req.raw, parts))
  app.onError((error) => unexpected(error, parts))
  return {
    fetch(request) {
      const addressed = withAddress(request)
      return addressed ? app.fetch(addressed) : unaddressed(request, parts)
    },
  }
}

/**
 * The request with an address that can be parsed; null when its Host is none. HTTP/1.0 needs no Host, and the health
 * checks of some load balancers send none: the server then gives the path alone.
 */
function withAddress(request: Request): Request | null {
  const { url } = request
  if (URL.canParse(url)) return request
  return url.startsWith('/') && URL.canParse(url, 'http://localhost')
    ? new Request(`http://localhost${url}`, request)
    : null
}

function unaddressed(request: Request, parts: HttpParts): Response {
  parts.onAnswered(request)
  const error = new GatewayError('invalid_request', 'The Host header is not the name of a host.', {
    param: 'host',
  })
  return errorResponse(error, 'catalog', new Headers({ 'x-request-id': newId('req', parts.clock.nowMs()) }))
}

function add(app: Hono, route: Route, parts: HttpParts): void {
  app.on(route.method, route.path, async (context) => {
    const exchange = createExchange(context.req.raw, context.req.param(), parts)
    const response = await runRoute(route, exchange, parts)
    response.headers.set('access-control-allow-origin', '*')
    response.headers.set('access-control-expose-headers', exposedHeaders)
    return response
  })
}

const exposedHeaders = 'X-Generation-Id, X-Provider-Name, X-Request-Id, Retry-After'

const preflightHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, OPTIONS, PATCH, DELETE, POST, PUT',
  'access-control-allow-headers':
    '*, Authorization, Content-Type, Idempotency-Key, X-Session-Id, X-Headrace-Metadata, X-OpenRouter-Metadata',
  'access-control-max-age': '86400',
}

function unknownPath(request: Request, parts: HttpParts): Response {
  parts.onAnswered(request)
  const requestId = newId('req', parts.clock.nowMs())
  const path = new URL(request.url).pathname
  const error = new GatewayError(
    'not_found',
    `${request.method} ${shown(path)} does not exist.${hintFor(path, parts.basePath)}`,
  )
  return errorResponse(
    error,
    'catalog',
    new Headers({ 'x-request-id': requestId, 'access-control-allow-origin': '*' }),
  )
}

// What a route throws it renders itself; this is for what breaks before or after, so that even then there is an envelope.
function unexpected(thrown: Error, parts: HttpParts): Response {
  const error = toGatewayError(thrown)
  parts.log.failure(error, { requestId: '', route: 'none' })
  return errorResponse(error, 'catalog', new Headers({ 'access-control-allow-origin': '*' }))
}

function shown(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path
}

// The commonest mistakes with a base URL: the version twice, or not at all.
function hintFor(path: string, basePath: string): string {
  if (path.includes('/v1/v1')) return ' The base URL names /v1 twice; end it in one /v1.'
  if (basePath !== '' && !path.startsWith(basePath)) return ` This gateway lives below ${basePath}.`
  if (!path.includes('/v1')) return ` The API is below ${basePath}/v1; end the base URL in /v1.`
  return ' The paths are listed at /openapi.json.'
}
