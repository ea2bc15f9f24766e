import type { UpstreamAuth } from '../canonical/endpoint.ts'
import type { Credential, UpstreamTarget } from '../canonical/credential.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'

/** The whole address of a request, with a credential that belongs there and with what the operator adds to it. */
export function addressOf(
  { path, inPlaceOf = '', auth: own }: Pick<UpstreamRequest, 'path' | 'inPlaceOf' | 'auth'>,
  { baseUrl, credential }: UpstreamTarget,
): string {
  const auth = authOf(credential, own)
  const { additions } = credential
  const whole = baseUrl.slice(0, baseUrl.length - inPlaceOf.length) + path
  if (auth.type !== 'query' && additions === undefined) return whole
  const secret = auth.type === 'query' ? { [auth.name]: auth.secret } : {}
  const added = new URLSearchParams({ ...secret, ...additions?.query }).toString()
  if (added === '') return whole
  return `${whole}${path.includes('?') ? '&' : '?'}${added}`
}

/** The headers that carry a credential. */
export function authHeaders(
  { auth: own }: Pick<UpstreamRequest, 'auth'>,
  { credential }: UpstreamTarget,
): Record<string, string> {
  const auth = authOf(credential, own)
  return auth.type === 'header' ? { [auth.name]: auth.prefix + auth.secret } : {}
}

/** A credential in the deployment's way, or in the request's own where it has one for it. */
function authOf({ auth }: Credential, own: UpstreamRequest['auth']): UpstreamAuth {
  const scheme = auth.type === 'header' ? own?.[auth.name] : undefined
  return scheme === undefined || auth.type === 'none' ? auth : { ...scheme, secret: auth.secret }
}

/** A value that is shorter could stand in any text, and taking it out would hide what is wrong. */
const secretLengthMin = 4

/**
 * What a provider says of a request that it refused, without what it may repeat of the secrets it was sent. It is done
 * here, before anybody has read it, so that no message, log line or command can show them.
 */
export function withoutSecrets(bytes: Uint8Array, credential: Credential): Uint8Array {
  const secrets = secretsOf(credential)
  if (secrets.length === 0) return bytes
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  let shown = text
  for (const secret of new Set(secrets)) shown = shown.replaceAll(latin1(secret), '[secret]')
  return shown === text ? bytes : Buffer.from(shown, 'latin1')
}

/** The same of a text that was read already, such as an error inside a stream. */
export function hideSecrets(text: string, credential: Credential): string {
  let shown = text
  for (const secret of new Set(secretsOf(credential))) shown = shown.replaceAll(secret, '[secret]')
  return shown
}

function secretsOf({ auth, additions }: Credential): string[] {
  const values = [
    ...(auth.type === 'none' ? [] : [auth.secret]),
    ...Object.values(additions?.headers ?? {}),
    ...Object.values(additions?.query ?? {}),
  ]
  return values.flatMap(formsOf).filter((value) => value.length >= secretLengthMin)
}

/** A value as it stands in a header, in an address and in JSON. */
function formsOf(value: string): string[] {
  const inForm = new URLSearchParams({ '': value }).toString().slice(1)
  return [value, encodeURIComponent(value), inForm, JSON.stringify(value).slice(1, -1)]
}

/** As its UTF-8 stands in a text that was read as Latin-1. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}
