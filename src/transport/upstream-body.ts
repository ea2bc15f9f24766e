import type { ResponseHeaders } from '../canonical/upstream.ts'
import { GatewayError } from '../core/errors.ts'

/** One read of a body, as a stream reader gives it. */
export type BodyRead = { done: false; value: Uint8Array } | { done: true; value: Uint8Array | undefined }

/** A response body, read piece by piece. The caller reads it to its end or cancels it. */
export interface UpstreamBody {
  /** Rejects with a GatewayError when the connection breaks, stalls, or the exchange is ended. */
  read(): Promise<BodyRead>
  /** Closes the upstream connection. May be called at any time, more than once, and never rejects. */
  cancel(): void
}

/** How much of a body to read, and what to do with a larger one. */
export interface ReadWholeOptions {
  limitBytes: number
  /** True: the rest is dropped. False: a larger body is a failure. */
  cutOff: boolean
  headers: ResponseHeaders
}

/** Reads a body as one piece. Unless it was read to its end, it is cancelled. */
export async function readWhole(body: UpstreamBody, options: ReadWholeOptions): Promise<Uint8Array> {
  const { limitBytes, cutOff } = options
  if (!cutOff && Number(options.headers.get('content-length') ?? 0) > limitBytes)
    throw refused(body, limitBytes)
  const pieces: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await body.read()
    if (done) break
    pieces.push(value)
    length += value.length
    if (length <= limitBytes) continue
    if (!cutOff) throw refused(body, limitBytes)
    body.cancel()
    break
  }
  const [only] = pieces
  const whole = pieces.length === 1 && only ? only : Buffer.concat(pieces)
  return whole.length > limitBytes ? whole.subarray(0, limitBytes) : whole
}

function refused(body: UpstreamBody, limitBytes: number): GatewayError {
  body.cancel()
  return tooLarge(limitBytes)
}

/** The error for a successful answer that is longer than the gateway reads. */
export function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('provider_failed', `The provider's answer is longer than ${limitBytes} bytes.`)
}
