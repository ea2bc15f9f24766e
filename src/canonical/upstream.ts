import type { GatewayError } from '../core/errors.ts'
import type { Usage, UsageSource } from './usage.ts'

/** A body that is written as it is read; opened anew for every attempt. */
export interface StreamedBody {
  contentLength: number
  open(): ReadableStream<Uint8Array>
}

/** An HTTP request for an upstream, as data. Transport adds the base URL and the credential, and sends it. */
export interface UpstreamRequest {
  method: 'GET' | 'POST'
  /** Appended to the deployment's base URL; begins with a slash. */
  path: string
  headers: Readonly<Record<string, string>>
  body: Uint8Array | StreamedBody | null
}

/** What an answer must say about itself to the caller. */
export interface AnswerContext {
  generationId: string
  /** The public id of the model that answered. */
  model: string
  /** Display name of the provider that answered. */
  provider: string
  /** Unix seconds. */
  created: number
}

/** What the meter read. `usage` null means the upstream said nothing usable, never zero. */
export interface MeterReading {
  usage: Usage | null
  source: UsageSource
  finishReason: string | null
  nativeFinishReason: string | null
  /** The upstream's own id of the answer. */
  upstreamId: string | null
  /** The model version the upstream says it used. */
  upstreamModel: string | null
  /** Bytes of answer text seen, for estimating an answer that was cut off. */
  outputBytes: number
  /** Pieces of output seen, at least one token each. */
  outputPieces: number
  /** A cost the upstream itself reported, in nanocredits. */
  reportedCostNanocredits: bigint | null
}

/** A whole JSON answer, in the caller's format. */
export interface DecodedAnswer {
  body: Uint8Array
  reading: MeterReading
}

/** What one read of an upstream stream gives: what the caller may have at once, and what waits until the money is durable. */
export interface StreamPiece {
  /** May be shown at once; null when there is nothing. */
  bytes: Uint8Array | null
  /** From the first frame with a finish reason on; shown after the capture is durable. */
  ending: Uint8Array | null
}

/**
 * Rewrites an upstream event stream into the caller's, synchronously and read by read. Feed it every chunk, then call
 * `end` once. It never throws for what an upstream may send: a broken stream is reported by `end` or `failure`.
 */
export interface StreamRewriter {
  push(chunk: Uint8Array): StreamPiece
  /** The upstream's body ended; returns what is left, terminator included. */
  end(): StreamPiece
  /** Set once the upstream reported an error inside the stream, or broke the format. */
  readonly failure: GatewayError | null
  /** What an error looks like inside this stream once it has begun; ends the stream. */
  encodeError(error: GatewayError, requestId: string): Uint8Array
  /** The readings so far; final after `end`. */
  reading(): MeterReading
  /** True once the frame that ends the answer was seen. */
  readonly isComplete: boolean
}

/** Why an attempt failed and what may follow. */
export interface UpstreamFailure {
  error: GatewayError
  /** Another endpoint may succeed. */
  retryElsewhere: boolean
  /** The same endpoint may succeed after a moment. */
  retrySame: boolean
  /** The credential is at fault: take the deployment out until the operator acts. */
  credentialFault: boolean
  /** Provider's own wait, in milliseconds, null when it named none. */
  retryAfterMs: number | null
}
