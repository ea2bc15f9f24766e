import type { UpstreamTarget } from '../canonical/credential.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'
import { lengthOfPieces } from '../core/body.ts'
import type { Clock } from '../core/clock.ts'
import type { OutgoingRequest } from './connection.ts'
import { Connections } from './connections.ts'
import type { Descriptors } from './descriptors.ts'
import type { SendOptions, Transport, UpstreamResponse } from './exchange.ts'
import { FetchBodies } from './fetch-body.ts'
import { FetchExchange, type FetchParts } from './fetch-exchange.ts'
import { sendIdentified } from './identified.ts'
import { RequestHeads, type PreparedHead } from './request-heads.ts'
import { isWholeBody } from './request-headers.ts'
import { SocketExchange, type SocketParts } from './socket-exchange.ts'

/** What `createTransport` needs. */
export interface TransportOptions {
  clock: Clock
  /** Tells whether a connection failed because the provider is unreachable or because this process has no descriptors. */
  descriptors?: (Pick<Descriptors, 'areUsedUp'> & Partial<Pick<Descriptors, 'isSmall'>>) | null
  /** The variables of this process, for those that only the runtime's own client honours. */
  environment?: Readonly<Record<string, string | undefined>>
}

/**
 * Sends over connections of its own. The runtime's `fetch` takes what they do not do: requests through an outbound proxy,
 * bodies that are made while they are sent, addresses with a user, and targets whose operator has chosen it.
 */
export function createTransport({
  clock,
  descriptors = null,
  environment = {},
}: TransportOptions): Transport {
  const byFetch: FetchParts = { clock, descriptors, bodies: new FetchBodies() }
  const connections = new Connections({ areDescriptorsFew: descriptors?.isSmall === true })
  const bySocket: SocketParts = { clock, descriptors, connections }
  const heads = new RequestHeads()
  const needsFetch = fetchVariables.some((name) => environment[name])
  const plain = (
    request: UpstreamRequest,
    target: UpstreamTarget,
    options: SendOptions,
    isSigned = false,
  ): Promise<UpstreamResponse> => {
    const { body } = request
    const isForFetch = needsFetch || target.client === 'fetch' || (body !== null && !isWholeBody(body))
    const prepared = isForFetch ? null : headOf(request, target, isSigned)
    if (prepared === null) return new FetchExchange(options, byFetch).send(request, target)
    const outgoing = toOutgoing(prepared, request)
    const exchange = new SocketExchange(outgoing, target, { options, parts: bySocket })
    prepared.origin ??= connections.originOf(prepared.url)
    return exchange.send(prepared.origin)
  }
  const headOf = (request: UpstreamRequest, target: UpstreamTarget, isSigned: boolean) =>
    isSigned ? RequestHeads.once(request, target) : heads.of(request, target)
  return {
    send(request, target, options) {
      const { type } = target.credential.auth
      return type === 'identity' || type === 'signature'
        ? sendIdentified(plain, { request, target, options }, clock)
        : plain(request, target, options)
    },
  }
}

/** Variables for outbound proxies, and the one that switches the check of certificates off. */
const fetchVariables = [
  'HTTP_PROXY',
  'http_proxy',
  'HTTPS_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NODE_TLS_REJECT_UNAUTHORIZED',
]

function toOutgoing({ text }: PreparedHead, { method, body }: UpstreamRequest): OutgoingRequest {
  if (body === null || !isWholeBody(body)) {
    const head = method === 'GET' ? `${text}\r\n` : `${text}content-length: 0\r\n\r\n`
    return { head, body: null, bodyBytes: 0 }
  }
  const bodyBytes = lengthOfPieces(body)
  return { head: `${text}content-length: ${bodyBytes}\r\n\r\n`, body, bodyBytes }
}
