import type { Credential } from '../canonical/credential.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'
import type { Transport, UpstreamResponse } from './exchange.ts'

/** A request that carries its own authorization. */
export interface SignedRequest {
  method: UpstreamRequest['method']
  url: URL
  headers: Readonly<Record<string, string>>
  body: Uint8Array | null
}

const signed: Credential = { reference: { id: 'signed', isByok: false }, auth: { type: 'none' } }

/** Sends signed requests over the connections of a transport, each within `deadlineMs` with its answer's body. */
export function createSignedSend(
  transport: Transport,
): (request: SignedRequest, deadlineMs: number) => Promise<UpstreamResponse> {
  return ({ method, url, headers, body }, deadlineMs) =>
    transport.send(
      { method, path: `${url.pathname}${url.search}`, headers, body: body === null ? null : [body] },
      { baseUrl: url.origin, credential: signed },
      { signal: new AbortController().signal, deadlineMs, firstByteTimeoutMs: deadlineMs },
    )
}
