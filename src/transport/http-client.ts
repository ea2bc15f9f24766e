import type { UpstreamTarget } from '../canonical/credential.ts'
import type { ResponseHeaders, UpstreamRequest } from '../canonical/upstream.ts'
import { lengthOfPieces } from '../core/body.ts'
import type { Clock } from '../core/clock.ts'
import type { OutgoingRequest } from './connection.ts'
import { Connections } from './connections.ts'
import type { Descriptors } from './descriptors.ts'
import { FetchBodies } from './fetch-body.ts'
import { FetchExchange, type FetchParts } from './fetch-exchange.ts'
import { RequestHeads, type PreparedHead } from './request-heads.ts'
import { isWholeBody } from './request-headers.ts'
import { SocketExchange, type SocketParts } from './socket-exchange.ts'
import type { UpstreamBody } from './upstream-body.ts'

/** The time limits of one exchange, and the signal that ends it. */
export interface SendOptions {
  /** Ends the exchange at any point; its upstream connection is closed. */
  signal: AbortSignal
  /** Milliseconds from now until the whole exchange must be over, body included. */
  deadlineMs: number
  /** Longest wait for the response's headers, in milliseconds. */
  firstByteTimeoutMs: number
  /** Longest silence between two reads of the body, in milliseconds. Default five minutes. */
  idleTimeoutMs?: number
}

/** An upstream's response, whatever its status; redirects never get this far. */
export interface UpstreamResponse {
  status: number
  headers: ResponseHeaders
  body: UpstreamBody
  /**
   * The whole body. When a successful response is larger than `limitBytes`, it rejects with `provider_failed`, because half
   * an answer is useless. An error's body is cut off there, because its beginning explains enough.
   */
  readAll(limitBytes: number): Promise<Uint8Array>
}

/** The only way to send requests to upstreams. */
export interface Transport {
  /**
   * Sends a request to its target and resolves when the response's headers have arrived. Rejects with a GatewayError:
   * `provider_timeout` when the headers are late; `deadline` when the exchange's time is over or its signal aborted it;
   * `provider_failed` when the upstream cannot be reached, breaks off or redirects. The credential goes to the target's
   * own base URL and nowhere else.
   */
  send(request: UpstreamRequest, target: UpstreamTarget, options: SendOptions): Promise<UpstreamResponse>
}

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
  return {
    send(request, target, options) {
      const { body } = request
      const isForFetch = needsFetch || target.client === 'fetch' || (body !== null && !isWholeBody(body))
      const prepared = isForFetch ? null : heads.of(request, target)
      if (prepared === null) return new FetchExchange(options, byFetch).send(request, target)
      const outgoing = toOutgoing(prepared, request)
      const exchange = new SocketExchange(outgoing, target, { options, parts: bySocket })
      return exchange.send(connections.originOf(prepared.url))
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
