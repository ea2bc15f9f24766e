import { GatewayError } from '../core/errors.ts'
import { errorResponse } from './error-response.ts'
import type { HttpDependencies } from './http-dependencies.ts'
import { createExchange, runRoute } from './pipeline.ts'
import { hostError, withAddress } from './request-address.ts'
import { metricsRoute } from './site.ts'

/**
 * The number of ports that a process tries for its metrics, from the configured one on, when several processes share
 * the port for callers.
 */
const metricsPortsMax = 100

/** The address where one process serves its metrics and nothing else. */
export interface MetricsAddress {
  url: string
  stop(): Promise<void>
}

/** The settings of the metrics address. */
export interface MetricsAddressOptions {
  host: string
  /** 0 for any free port. */
  port: number
  /** Whether several processes have the same setting; a taken port is then skipped. */
  isShared: boolean
  dependencies: HttpDependencies
  /** Receives the peer's address of every request before it is answered. */
  onPeer: (request: Request, address: string) => void
}

/**
 * Listens at the address. Throws `conflict` when the port is taken, and the system's error when the address does not
 * exist.
 */
export function openMetricsAddress(options: MetricsAddressOptions): MetricsAddress {
  const { host, dependencies, onPeer } = options
  // This server closes its own idle connections.
  const own = { ...dependencies, onAnswered: () => undefined }
  const route = metricsRoute(own)
  const server = listenNear(options, (received, address) => {
    const request = withAddress(received)
    if (!request) return errorResponse(hostError(), { group: 'catalog' }, new Headers())
    onPeer(request, address)
    const { pathname } = new URL(request.url)
    if (request.method === 'GET' && [route.path, `${dependencies.basePath}${route.path}`].includes(pathname))
      return runRoute(route, createExchange(request, {}, own), own)
    return errorResponse(
      new GatewayError('not_found', 'Here is only GET /metrics.'),
      { group: 'catalog' },
      new Headers(),
    )
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}${route.path}`,
    stop: () => server.stop(true),
  }
}

type Answer = (request: Request, address: string) => Response | Promise<Response>

function listenNear({ host, port, isShared }: MetricsAddressOptions, answer: Answer) {
  const tries = isShared && port !== 0 ? metricsPortsMax : 1
  for (let offset = 0; offset < tries; offset += 1) {
    try {
      return Bun.serve({
        hostname: host,
        port: port + offset,
        // By default Bun 1.4 lets several processes listen on one port.
        reusePort: false,
        development: false,
        fetch: (request, server) => answer(request, server.requestIP(request)?.address ?? ''),
      })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    }
  }
  const ports = tries === 1 ? `port ${port}` : `every port from ${port} to ${port + tries - 1}`
  throw new GatewayError(
    'conflict',
    `For the metrics ${ports} on ${host} is taken. Choose another: HEADRACE_METRICS_PORT=0 npx headrace serve`,
  )
}
