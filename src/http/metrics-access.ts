import { createHash, timingSafeEqual } from 'node:crypto'
import { GatewayError } from '../core/errors.ts'

/** A request for the metrics. */
export interface MetricsRequest {
  headers: Headers
  /** The address of the connection, whatever headers say; empty when unknown. */
  peer: string
  /** The required token; null when none is configured. */
  token: string | null
}

/**
 * Throws unless the request may read the metrics. With a configured token the request must send it; without one the
 * request must come from this machine. A request through a proxy counts as remote, even if the proxy runs here.
 */
export function requireMetricsAccess({ headers, peer, token }: MetricsRequest): void {
  if (token === null) {
    if (isLoopback(peer) && !wasForwarded(headers)) return
    throw new GatewayError(
      'permission_denied',
      'Only programs of this machine read the metrics, and not through a proxy. To read them from elsewhere set HEADRACE_METRICS_TOKEN and send it as "Authorization: Bearer <token>".',
    )
  }
  const shown = /^bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1]
  if (shown !== undefined && isSame(shown, token)) return
  throw new GatewayError(
    'authentication',
    'The metrics want "Authorization: Bearer <token>" with what HEADRACE_METRICS_TOKEN says.',
  )
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/i.test(address)
}

const forwarding: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-forwarded-for',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-envoy-external-address',
])

/** Whether a proxy says that it sent the request on. */
function wasForwarded(headers: Headers): boolean {
  for (const name of headers.keys()) if (name.startsWith('x-forwarded-') || forwarding.has(name)) return true
  return false
}

/** Compares in constant time, whatever the lengths. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right))
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
