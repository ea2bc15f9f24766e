import { KeyMissing } from '../access/authenticator.ts'
import { type OpenSession, SessionEnded } from '../access/people/sessions.ts'
import { GatewayError } from '../core/errors.ts'
import type { HttpDependencies } from './http-dependencies.ts'
import { type CookiePlace, readSessionCookie } from './session-cookie.ts'

/**
 * The header that says that a script of ours made the request. A page of another site cannot add it without asking the
 * gateway first, and the gateway allows no such page to send cookies.
 */
const consoleHeader = 'x-headrace-console'
/** Methods that change nothing. */
const reading: ReadonlySet<string> = new Set(['GET', 'HEAD'])

type Needed = Pick<HttpDependencies, 'originOf' | 'basePath' | 'sessions' | 'clientAddressOf'>

/** Whether a script of the console made the request, by what it says, and a session is shown. */
export function showsSession(request: Request, dependencies: Needed): boolean {
  if (request.headers.get(consoleHeader) === null) return false
  return readSessionCookie(request.headers, cookiePlaceOf(request, dependencies)) !== null
}

/**
 * Throws unless a script of the console made the request, from a page of this origin. Cookies of localhost go to every
 * port, and `SameSite` does not tell ports apart; what the browser says about the page does.
 */
export function requireConsoleCall(request: Request, dependencies: Pick<Needed, 'originOf'>): void {
  const { headers, method } = request
  if (headers.get(consoleHeader) === null) throw new KeyMissing()
  const site = headers.get('sec-fetch-site')
  if (site === 'same-origin') return
  // Browsers say the site only to HTTPS and to this machine; by plain HTTP in a network there is the origin.
  const origin = headers.get('origin')
  const isOwn = origin === null ? reading.has(method) : isSameOrigin(origin, dependencies.originOf(request))
  if (site === null && isOwn) return
  throw new GatewayError(
    'permission_denied',
    'A session counts only for pages of the gateway itself: "Sec-Fetch-Site" must be "same-origin", or "Origin" the address of the request. Behind a proxy, let it pass the Host header on.',
  )
}

/** A proxy that ends TLS may not say so; then the page's scheme is believed. */
function isSameOrigin(origin: string, own: string): boolean {
  return origin === own || (own.startsWith('http://') && origin === `https://${own.slice('http://'.length)}`)
}

/** Where the cookie of a request belongs. */
export function cookiePlaceOf(
  request: Request,
  dependencies: Pick<Needed, 'originOf' | 'basePath'>,
): CookiePlace {
  const origin = dependencies.originOf(request)
  const isSecure =
    origin.startsWith('https://') || (request.headers.get('origin')?.startsWith('https://') ?? false)
  return { origin, basePath: dependencies.basePath, isSecure }
}

/** The session of a request without a key. Rejects with `authentication` when the request shows none that is open. */
export async function findSession(request: Request, dependencies: Needed): Promise<OpenSession> {
  requireConsoleCall(request, dependencies)
  const secret = readSessionCookie(request.headers, cookiePlaceOf(request, dependencies))
  if (secret === null) throw new SessionEnded()
  return dependencies.sessions.authenticate(secret, () => dependencies.clientAddressOf(request))
}
