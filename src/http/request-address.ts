import { GatewayError } from '../core/errors.ts'

/**
 * The request with an address that can be parsed; null when its Host is none, or when it has two, of which a proxy before
 * the gateway may have judged another one than is read here: the runtime joins them with a comma. HTTP/1.0 needs no Host, and the health
 * checks of some load balancers send none: the server then gives the path alone.
 */
export function withAddress(request: Request): Request | null {
  const { url } = request
  if (request.headers.get('host')?.includes(',')) return null
  if (URL.canParse(url)) return request
  return url.startsWith('/') && URL.canParse(url, 'http://localhost')
    ? new Request(`http://localhost${url}`, request)
    : null
}

/** What a request whose Host is none is told. */
export function hostError(): GatewayError {
  return new GatewayError('invalid_request', 'The Host header is not the name of one host; send one name.', {
    param: 'host',
  })
}
