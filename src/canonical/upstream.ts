import type { GatewayError } from '../core/errors.ts'
import type { BodyPiece, BodyPieces } from '../core/body.ts'
import type { AuthScheme } from './endpoint.ts'
import type { Usage, UsageSource } from './usage.ts'

/** A body that is written as it is read; opened anew for every attempt. */
export interface StreamedBody {
  contentLength: number
  open(): ReadableStream<Uint8Array>
}

/** An HTTP request for an upstream, as data. Transport adds the base URL and the credential, and sends it. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Appended to the deployment's base URL; begins with a slash. */
  path: string
  /** An ending of the base URL that the path takes the place of. */
  inPlaceOf?: string
  /** Where a credential travels in this request, by the header in which it travels otherwise. */
  auth?: Readonly<Record<string, AuthScheme>>
  headers: Readonly<Record<string, string>>
  body: BodyPieces | StreamedBody | null
}

/** Stages of an attempt, by the names that callers see. */
export type StageMark =
  | 'adapter_request'
  | 'upstream_headers_received'
  | 'first_token_received'
  | 'upstream_body_ended'

/**
 * What is shown of the exchange with a provider to the caller who asked for it. It never has a secret of the
 * operator.
 */
export interface ShownDebug {
  /** The body that the provider was sent. Absent where it was shown before, or is too large. */
  sentBody?: Readonly<Record<string, unknown>>
  /** A stage was reached: milliseconds from the beginning of the call, and in Unix time. Whole. */
  stage: { event: StageMark; startMs: number; epochMs: number }
}

/** What an answer must say about itself to the caller. */
export interface AnswerContext {
  generationId: string
  /** The public id of the model that answered. */
  model: string
  /** Display name of the provider that answered. */
  provider: string
  /** Its slug, by which what it has sealed finds the way back to it. */
  providerSlug: string
  /** Unix seconds. */
  created: number
  /** What the model that was asked is called here and at its provider; these names are no secrets. */
  modelNames: readonly string[]
  /** Fields of the request, of which a failure that is told inside an answer may name one. */
  parameterNames?: readonly string[]
  /** A provider's words without what they repeat of the deployment's own secrets. */
  hideSecrets(text: string): string
  /** What the beginning of a stream shows of the exchange, in this order; absent where the caller did not ask for it. */
  debug?: () => readonly ShownDebug[]
  /** What the answer's text must be, where its provider does not hold it to that. */
  promised?: PromisedOutput
  /** As the call says it. */
  hiddenThoughts?: 'all' | 'words'
}

/**
 * A form of an answer that is checked when it has come. `tool` is the name of the tool that stands for the answer, where
 * the provider is asked for its form in that way: what the model gives it is the answer's text.
 */
export type PromisedOutput = (
  | { kind: 'json' }
  | { kind: 'schema'; schema: Readonly<Record<string, unknown>> }
) & { tool?: string }

/** Tokens of files and videos read and of images written, by their names in the contract; only those above zero. */
export interface MediaTokens {
  file_tokens?: number
  video_tokens?: number
  image_tokens?: number
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
  /** Counts of tokens that have no price of their own and that a batch shows in its sum; null when there are none. */
  mediaTokens: MediaTokens | null
  /** The service tier the upstream says it used. */
  serviceTier: string | null
  /** Bytes of answer text seen, for estimating an answer that was cut off. */
  outputBytes: number
  /** Pieces of output seen, at least one token each. */
  outputPieces: number
  /** A cost the upstream itself reported, in nanocredits. */
  reportedCostNanocredits: bigint | null
  /**
   * How often the answer shows that its provider searched or ran a tool of its own: it asks the model again with what was
   * found, and counts the prompt each time. Absent when it shows none.
   */
  providerCalls?: number
}

/** What a call was charged, as the caller's `usage` object shows it. */
export interface ShownCharge {
  /** Null when no price was known. */
  costNanocredits: bigint | null
  promptNanocredits: bigint
  completionNanocredits: bigint
  isByok: boolean
  /** Usage that was charged: to show where the upstream gave none. */
  usage: Usage
  /** The upstream's own figures were missing or not believed, so that the charged ones are to be shown. */
  isEstimated: boolean
  /** The `headrace_metadata` object, or null when none is due. */
  metadata: Readonly<Record<string, unknown>> | null
  /** True when the caller also asked for the same object as `openrouter_metadata`. */
  metadataAlias: boolean
  /** What the end of the answer shows of the exchange; absent where the caller did not ask for it. */
  debug?: ShownDebug
}

/** A whole JSON answer, read; encoded for the caller once the charge is known. */
export interface DecodedAnswer {
  reading: MeterReading
  /** The caller's body, with everything the contract requires and the charge in `usage`. */
  encode(charge: ShownCharge): BodyPieces
}

/**
 * Rewrites an upstream event stream into the caller's, synchronously and read by read. Feed it every chunk, then call
 * `end` once. It never throws for what an upstream may send: a broken stream is reported by `failure`. What follows
 * from the first frame with a finish reason on is kept back and given by `encodeEnding`, so that nobody holds a whole
 * answer before its capture is durable.
 */
export interface StreamRewriter {
  /** What the caller may have at once; null when there is nothing yet. Text is ASCII. */
  push(chunk: Uint8Array): BodyPiece | null
  /** The upstream's body ended. */
  end(): void
  /** The kept-back frames, usage with its charge, and the terminator. */
  encodeEnding(charge: ShownCharge): Uint8Array
  /** What an error looks like inside this stream once it has begun; ends the stream. */
  encodeError(error: GatewayError): Uint8Array
  /** Set once the upstream reported an error inside the stream, or broke the format. */
  readonly failure: GatewayError | null
  /** The readings so far; final after `end`. */
  reading(): MeterReading
  /** Whether `push` has given out anything that a provider wrote, beyond frames that only begin an answer. */
  readonly hasShownOutput: boolean
  /** Answers that have their finish reason. */
  readonly choicesFinished: number
  readonly stage: StreamStage
}

/**
 * How far an upstream's stream is. `accounted`: usage stands by itself behind the ends of all answers that have begun, and
 * none is expected to begin any more. `terminated`: the format's own terminator was seen, and nothing that matters follows,
 * though the body may not have ended. `failed`: see `failure`.
 */
export type StreamStage = 'running' | 'accounted' | 'terminated' | 'failed'

/** A response that is not a success, and what of the request helps to explain it. */
export interface UpstreamErrorResponse {
  status: number
  headers: Headers
  body: Uint8Array
  /** The model as the caller named it, for messages. */
  requestedModel: string
  /** What the model that was asked is called here and there; these names are no secrets. */
  modelNames?: readonly string[]
  /** Contract names of the parameters that were sent; only these may be named as the parameter at fault. */
  parameterNames: readonly string[]
}

/** A successful response that was read to its end. */
export interface UpstreamReply {
  headers: Headers
  bytes: Uint8Array
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
