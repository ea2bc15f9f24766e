import { GatewayError } from '../core/errors.ts'
import { requireMetricsAccess } from './metrics-access.ts'
import type { HttpDependencies } from './http-dependencies.ts'
import { consoleRoutes, redirectToConsole } from './console/console-routes.ts'
import { jsonResponse, type HttpRoute } from './pipeline.ts'
import type { PagePlace } from './site-pages.ts'

const common = { method: 'GET', group: 'catalog', access: 'public' } as const

/** The metrics of this process, for clients that may read them. */
export function metricsRoute(dependencies: HttpDependencies): HttpRoute {
  return {
    ...common,
    path: '/metrics',
    name: 'metrics',
    async handle({ request }) {
      const { headers } = request
      requireMetricsAccess({
        headers,
        peer: dependencies.peerAddressOf(request),
        token: dependencies.metricsToken,
      })
      return text(await dependencies.renderMetrics(), 'text/plain; version=0.0.4')
    },
  }
}

/** Routes outside the versioned API: health, metrics, the description with its page, and the console. */
export function siteRoutes(dependencies: HttpDependencies): HttpRoute[] {
  return [
    { ...common, path: '/healthz', name: 'healthz', handle: () => jsonResponse({ status: 'ok' }) },
    { ...common, path: '/readyz', name: 'readyz', handle: () => readiness(dependencies) },
    metricsRoute(dependencies),
    {
      ...common,
      path: '/openapi.json',
      name: 'openapi',
      handle: async () => jsonResponse(await describe(dependencies)),
    },
    {
      ...common,
      path: '/docs',
      name: 'docs',
      handle: async ({ request }) =>
        page((await loadPages()).docsPage(await describe(dependencies), placeOf(request, dependencies))),
    },
    {
      ...common,
      path: '/',
      name: 'home',
      handle: async ({ request }) =>
        dependencies.consoleFiles.isThere
          ? redirectToConsole(dependencies)
          : page((await loadPages()).homePage(placeOf(request, dependencies))),
    },
    ...consoleRoutes(dependencies),
  ]
}

/** Written by `scripts/generate.ts`. */
const generated = Bun.file(new URL('openapi.gen.json', import.meta.url))

// Loaded on demand: most processes never show these pages, and they take a megabyte.
const loadPages = () => import('./site-pages.ts')

function placeOf(request: Request, { basePath, originOf }: HttpDependencies): PagePlace {
  return { origin: originOf(request), basePath }
}

/** The generated description, whose paths begin below the base path. */
async function describe({ basePath }: HttpDependencies): Promise<Record<string, unknown>> {
  const document = (await generated.json()) as Record<string, unknown>
  return { ...document, servers: [{ url: `${basePath}/v1` }] }
}

function readiness(dependencies: HttpDependencies): Response {
  const problem = dependencies.activity.isStopping ? 'shutting down' : dependencies.notReady()
  if (problem === null) return jsonResponse({ status: 'ready' })
  throw new GatewayError('storage_unavailable', `Not ready: ${problem}.`, { retryAfterSeconds: 2 })
}

function text(body: string, contentType: string): Response {
  return new Response(body, { headers: { 'content-type': contentType } })
}

// The pages load and run nothing, so the policy forbids all but the inline style.
function page(html: string): Response {
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}
