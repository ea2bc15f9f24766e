import type { Credential, UpstreamTarget } from '../canonical/credential.ts'
import type { Login, SigningKeys } from '../canonical/endpoint.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'
import { joinPieces } from '../core/body.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { signedHeaders } from './aws-signature.ts'
import { addressOf } from './credentials.ts'
import type { SendOptions, UpstreamResponse } from './exchange.ts'
import { isWholeBody } from './request-headers.ts'

/** Sends a request whose credential stands in it, or in the headers that were signed. */
type Send = (
  request: UpstreamRequest,
  target: UpstreamTarget,
  options: SendOptions,
  isSigned?: boolean,
) => Promise<UpstreamResponse>

/** One request to be sent. */
interface Sending {
  request: UpstreamRequest
  target: UpstreamTarget
  options: SendOptions
}

/** Credentials with the login of a moment: the same object for the same login, with which prepared heads are kept. */
const withLogin = new WeakMap<Credential, { login: Login; credential: Credential }>()

/**
 * Sends with the login that an identity has now, signed where it is a pair of keys. Where the provider refuses the login, and
 * the identity has another, sends once more with that.
 */
export async function sendIdentified(
  send: Send,
  { request, target, options }: Sending,
  clock: Pick<Clock, 'nowMs'>,
): Promise<UpstreamResponse> {
  const { auth } = target.credential
  const login = auth.type === 'identity' ? await auth.login() : auth
  const sendWith = async (given: Login): Promise<UpstreamResponse> => {
    const identified = { ...target, credential: credentialWith(target.credential, given) }
    return given.type === 'signature'
      ? send(await signed(request, identified, { keys: given, clock }), identified, options, true)
      : send(request, identified, options)
  }
  const response = await sendWith(login)
  if (auth.type !== 'identity' || (response.status !== 401 && response.status !== 403)) return response
  const other = await auth.instead(login)
  // A body that was made while it was sent is used up.
  if (other === null || (request.body !== null && !isWholeBody(request.body))) return response
  await response.readAll(refusalBytesMax)
  return sendWith(other)
}

/** So much of a refusal is read before its connection is used again. */
const refusalBytesMax = 65_536

function credentialWith(credential: Credential, login: Login): Credential {
  const known = withLogin.get(credential)
  if (known?.login === login) return known.credential
  const made = { ...credential, auth: login }
  withLogin.set(credential, { login, credential: made })
  return made
}

/** The request with Amazon's signature over its method, address, body and time. */
async function signed(
  request: UpstreamRequest,
  target: UpstreamTarget,
  { keys, clock }: { keys: SigningKeys; clock: Pick<Clock, 'nowMs'> },
): Promise<UpstreamRequest> {
  const { method, body } = request
  if (body !== null && !isWholeBody(body))
    throw new GatewayError('invalid_request', 'A body that is made while it is sent cannot be signed.')
  const parts = {
    method,
    url: addressOf(request, target),
    headers: {},
    body: body === null ? null : joinPieces(body),
  }
  return { ...request, headers: { ...request.headers, ...(await signedHeaders(parts, keys, clock.nowMs())) } }
}
