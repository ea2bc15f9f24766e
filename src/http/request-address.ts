import { GatewayError } from '../core/errors.ts'

/** Whether it has two Hosts: the runtime joins them with a comma, and a proxy in front may have checked another one than this process reads. */
function hasSeveralHosts(request: Request): boolean {
  return request.headers.get('host')?.includes(',') === true
}

/**
 * The request with a URL that can be parsed. Null when its Host is invalid, or when it has several. HTTP/1.0 needs no
 * Host, and the health checks of some load balancers send none or an empty one; the server's URL is then only the path.
 */
export function withAddress(request: Request): Request | null {
  const { url } = request
  if (hasSeveralHosts(request)) return null
  if (URL.canParse(url)) return request
  const hasHost = (request.headers.get('host') ?? '') !== ''
  return !hasHost && url.startsWith('/') && URL.canParse(url, 'http://localhost')
    ? new Request(`http://localhost${url}`, request)
    : null
}

/**
 * The scheme and host that the caller used. An ingress forwards requests without TLS even when the caller used https.
 */
export function originOf(request: Request): string {
  const { protocol, host } = new URL(request.url)
  const isSecure = protocol === 'https:' || request.headers.get('x-forwarded-proto') === 'https'
  return `${isSecure ? 'https' : 'http'}://${host}`
}

/**
 * The same behind a trusted proxy that asks for another host than the caller did and says so in `X-Forwarded-Host`.
 */
export function originBehindProxy(request: Request): string {
  const origin = originOf(request)
  const host = request.headers.get('x-forwarded-host')?.split(',')[0]?.trim() ?? ''
  const forwarded = `${new URL(origin).protocol}//${host}`
  return host !== '' && URL.parse(forwarded)?.origin === forwarded ? forwarded : origin
}

/** The answer to a request with an invalid Host. */
export function hostError(): GatewayError {
  return new GatewayError('invalid_request', 'The Host header is not the name of one host; send one name.', {
    param: 'host',
  })
}
