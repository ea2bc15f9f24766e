/** The cookie with the secret of a session. */
export interface CookiePlace {
  /** Scheme and host as the caller used them. */
  origin: string
  /** Prefix of every path, without a trailing slash. */
  basePath: string
  /** Whether the browser surely came by HTTPS. */
  isSecure: boolean
}

/** The longest `Cookie` header that is searched. */
const cookieLengthMax = 16_384
/** A browser accepts a cookie with this name only by HTTPS, for this host alone and without a path. */
const hostPrefix = '__Host-'

/**
 * Browsers give the cookies of a host to all its ports, and those with the prefix to all its paths. So port and path are
 * in the name, and several gateways on one host do not sign each other's people out.
 */
function plainName({ origin, basePath }: CookiePlace): string {
  const { port } = new URL(origin)
  const suffix = `${port}${basePath}`.replace(/[^0-9A-Za-z]+/g, '_')
  return suffix === '' ? 'headrace_session' : `headrace_session_${suffix}`
}

/** The header that gives the browser the secret; an empty secret takes the cookie away. */
export function sessionCookie(secret: string, place: CookiePlace): string {
  const name = plainName(place)
  const age = secret === '' ? '; Max-Age=0' : ''
  if (place.isSecure) return `${hostPrefix}${name}=${secret}; Path=/; Secure; HttpOnly; SameSite=Strict${age}`
  return `${name}=${secret}; Path=${place.basePath}/; HttpOnly; SameSite=Strict${age}`
}

/**
 * The secret in a request's cookies; null without one. Another site of the same domain can set a cookie without the prefix
 * for this host too, so by HTTPS only the one with the prefix counts.
 */
export function readSessionCookie(headers: Headers, place: CookiePlace): string | null {
  const cookies = headers.get('cookie')?.slice(0, cookieLengthMax) ?? ''
  const name = plainName(place)
  const secret = valueOf(cookies, `${hostPrefix}${name}`)
  return secret ?? (place.isSecure ? null : valueOf(cookies, name))
}

function valueOf(cookies: string, name: string): string | null {
  for (const cookie of cookies.split(';')) {
    const [written = '', value = ''] = cookie.trim().split('=', 2)
    if (written === name && value !== '') return value
  }
  return null
}
