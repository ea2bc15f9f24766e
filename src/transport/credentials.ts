import type { Login } from '../canonical/endpoint.ts'
import type { Credential, UpstreamTarget } from '../canonical/credential.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'

/** The whole address of a request: with the credential, if it belongs there, and with the operator's additions. */
export function addressOf(
  {
    path,
    inPlaceOf = '',
    rebase,
    auth: own,
  }: Pick<UpstreamRequest, 'path' | 'inPlaceOf' | 'rebase' | 'auth'>,
  { baseUrl: configured, credential }: UpstreamTarget,
): string {
  const baseUrl = rebase === undefined ? configured : rebased(configured, rebase)
  const auth = authOf(credential, own)
  const { additions } = credential
  const whole = baseUrl.slice(0, baseUrl.length - inPlaceOf.length) + path
  if (auth.type !== 'query' && additions === undefined) return whole
  const secret = auth.type === 'query' ? { [auth.name]: auth.secret } : {}
  const added = new URLSearchParams({ ...secret, ...additions?.query }).toString()
  if (added === '') return whole
  return `${whole}${path.includes('?') ? '&' : '?'}${added}`
}

function rebased(baseUrl: string, endings: Readonly<Record<string, string>>): string {
  const [ending, other] = Object.entries(endings).find(([each]) => baseUrl.endsWith(each)) ?? ['', '']
  return baseUrl.slice(0, baseUrl.length - ending.length) + other
}

/** The headers that carry a credential. */
export function authHeaders(
  { auth: own }: Pick<UpstreamRequest, 'auth'>,
  { credential }: UpstreamTarget,
): Record<string, string> {
  const auth = authOf(credential, own)
  return auth.type === 'header' ? { [auth.name]: auth.prefix + auth.secret } : {}
}

/** How a credential is sent: as the request says for itself, else as the deployment says. */
function authOf(credential: Credential, own: UpstreamRequest['auth']): Login {
  const auth = loginOf(credential)
  const scheme = auth.type === 'header' ? own?.[auth.name] : undefined
  return scheme === undefined || auth.type !== 'header' ? auth : { ...scheme, secret: auth.secret }
}

/** The login of a moment. `identified.ts` has replaced an identity by its login before a request is written. */
function loginOf({ auth }: Credential): Login {
  return auth.type === 'identity' ? auth.last : auth
}

/** A shorter value may occur in any text by chance, and removing it would make error messages unreadable. */
const secretLengthMin = 4

/**
 * Removes secrets that a provider repeats in its error. It happens here, before any other code reads the body, so that no
 * message, log line or command can show them.
 */
export function withoutSecrets(bytes: Uint8Array, credential: Credential): Uint8Array {
  const secrets = secretsOf(credential)
  if (secrets.length === 0) return bytes
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  let shown = text
  for (const secret of new Set(secrets)) shown = shown.replaceAll(latin1(secret), '[secret]')
  return shown === text ? bytes : Buffer.from(shown, 'latin1')
}

/** Does the same for a text that was read already, such as an error inside a stream. */
export function hideSecrets(text: string, credential: Credential): string {
  let shown = text
  for (const secret of new Set(secretsOf(credential))) shown = shown.replaceAll(secret, '[secret]')
  return shown
}

function secretsOf(credential: Credential): string[] {
  const { additions } = credential
  const auth = loginOf(credential)
  const values = [
    ...(auth.type === 'none' ? [] : [auth.secret]),
    ...(auth.type === 'signature' && auth.sessionToken !== null ? [auth.sessionToken] : []),
    ...Object.values(additions?.headers ?? {}),
    ...Object.values(additions?.query ?? {}),
  ]
  return values.flatMap(formsOf).filter((value) => value.length >= secretLengthMin)
}

/** The forms of a value in a header, in an address and in JSON. */
function formsOf(value: string): string[] {
  const inForm = new URLSearchParams({ '': value }).toString().slice(1)
  return [value, encodeURIComponent(value), inForm, JSON.stringify(value).slice(1, -1)]
}

/** The form of a value's UTF-8 bytes when they are read as Latin-1. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}
