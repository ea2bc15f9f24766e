import type { UpstreamTarget } from '../canonical/credential.ts'
import type { ResponseHeaders, UpstreamRequest } from '../canonical/upstream.ts'
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
  /** A redirect is a response like any other; otherwise it is a failure. It is never followed. */
  takesRedirect?: true
}

/** An upstream's response, whatever its status; a redirect gets this far only where it was asked for. */
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
