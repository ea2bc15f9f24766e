import type { GatewayError } from '../core/errors.ts'
import type { BodyPiece, BodyPieces } from '../core/body.ts'
import type { AuthScheme } from './endpoint.ts'
import type { Usage, UsageSource } from './usage.ts'

/** A body that is written while it is read; opened anew for every attempt. */
export interface StreamedBody {
  contentLength: number
  open(): ReadableStream<Uint8Array>
}

/** An HTTP request for an upstream, as data. Transport adds the base URL and the credential, and sends it. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Appended to the deployment's base URL; begins with a slash. */
  path: string
  /** An ending of the base URL that the path replaces. */
  inPlaceOf?: string
  /** Other endings for the base URL in this request, by the ending that it may have; absent where it stays as it is. */
  rebase?: Readonly<Record<string, string>>
  /**
   * A whole address that the provider named in an answer, in place of the base URL and the path. No credential goes there.
   */
  at?: string
  /** A redirect is the answer to this request, and not followed; for any other request it is a failure. */
  answersRedirect?: true
  /** The place of the credential in this request, by the header that otherwise carries it. */
  auth?: Readonly<Record<string, AuthScheme>>
  headers: Readonly<Record<string, string>>
  body: BodyPieces | StreamedBody | null
}

/** The headers of an upstream's answer. Names are asked for in lower case; the values of one name are joined by commas. */
export interface ResponseHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | null
  /** False where no value begins with a zero; nothing can have run out then. Missing where that is not known. */
  readonly hasZero?: boolean
}

/** Stages of an attempt, by the names that callers see. */
export type StageMark =
  | 'adapter_request'
  | 'upstream_headers_received'
  | 'first_token_received'
  | 'upstream_body_ended'

/**
 * The facts about the exchange with a provider that a caller can ask to see. It never has a secret of the operator.
 */
export interface ShownDebug {
  /** The body that was sent to the provider. Absent when it was shown before, or is too large. */
  sentBody?: Readonly<Record<string, unknown>>
  /** A reached stage: whole milliseconds since the beginning of the call, and in Unix time. */
  stage: { event: StageMark; startMs: number; epochMs: number }
}

/** The facts that an answer states about itself to the caller. */
export interface AnswerContext {
  generationId: string
  /** The public id of the model that answered. */
  model: string
  /** Display name of the provider that answered. */
  provider: string
  /** Its slug; sealed thoughts carry it, so that they go back to this provider. */
  providerSlug: string
  /** The requested model's names, here and at its provider; they are not secrets. */
  created: number
  /** The requested model's names, here and at its provider; they are no secrets. */
  modelNames: readonly string[]
  /** The request's fields. An error inside an answer may name one of them. */
  parameterNames?: readonly string[]
  /** Removes the deployment's own secrets from a provider's words. */
  hideSecrets(text: string): string
  /** The facts about the exchange that a stream shows at its beginning, in this order; absent unless the caller asked for them. */
  debug?: () => readonly ShownDebug[]
  /** The required form of the answer's text, when its provider does not enforce it. */
  promised?: PromisedOutput
  /** As in the call. */
  hiddenThoughts?: 'all' | 'words'
}

/**
 * A form of the answer that is checked when the answer is complete. `tool`: the provider was asked for the form by a
 * tool of this name, and the tool's arguments are the answer's text.
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

/** The meter's readings. `usage` null means that the upstream reported nothing usable, never zero. */
export interface MeterReading {
  usage: Usage | null
  source: UsageSource
  finishReason: string | null
  nativeFinishReason: string | null
  /** The upstream's own id of the answer. */
  upstreamId: string | null
  /** The model version the upstream says it used. */
  upstreamModel: string | null
  /** Counts of tokens without a price of their own, which a batch shows in its sum; null when there are none. */
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
   * How often the answer shows that its provider searched or ran one of its own tools. After each, the provider calls the
   * model again with the result and counts the whole prompt again. Absent when it shows none.
   */
  providerCalls?: number
}

/** A call's charge, as the caller's `usage` object shows it. */
export interface ShownCharge {
  /** Null when no price was known. */
  costNanocredits: bigint | null
  promptNanocredits: bigint
  completionNanocredits: bigint
  isByok: boolean
  /** The charged usage, to be shown when the upstream reported none. */
  usage: Usage
  /** The upstream's own figures were missing or not believed, so the charged ones are shown. */
  isEstimated: boolean
  /** The `headrace_metadata` object; null when none is shown. */
  metadata: Readonly<Record<string, unknown>> | null
  /** True when the caller also asked for the same object as `openrouter_metadata`. */
  metadataAlias: boolean
  /** The facts about the exchange that the answer's end shows; absent unless the caller asked for them. */
  debug?: ShownDebug
}

/** A whole JSON answer, read; encoded for the caller once the charge is known. */
export interface DecodedAnswer {
  reading: MeterReading
  /** The caller's body, with everything the contract requires and the charge in `usage`. */
  encode(charge: ShownCharge): BodyPieces
}

/**
 * Rewrites an upstream's event stream into the caller's, synchronously and chunk by chunk. Pass every chunk, then call
 * `end` once. It never throws for data of an upstream: `failure` reports a broken stream. All output from the first
 * frame with a finish reason on is kept back and returned by `encodeEnding`, so that no caller has a whole answer
 * before its capture is durable.
 */
export interface StreamRewriter {
  /** The text that the caller may have at once; null when there is none yet. It is ASCII. */
  push(chunk: Uint8Array): BodyPiece | null
  /** The upstream's body ended. */
  end(): void
  /** The kept-back frames, usage with its charge, and the terminator. */
  encodeEnding(charge: ShownCharge): Uint8Array
  /** An error as a frame of this stream, after the stream has begun; it ends the stream. */
  encodeError(error: GatewayError): Uint8Array
  /** Set once the upstream reported an error inside the stream, or broke the format. */
  readonly failure: GatewayError | null
  /** The readings so far; final after `end`. */
  reading(): MeterReading
  /** Whether `push` has given out anything that a provider wrote, beyond frames that only begin an answer. */
  readonly hasShownOutput: boolean
  /** The number of choices that have their finish reason. */
  readonly choicesFinished: number
  readonly stage: StreamStage
}

/**
 * The state of an upstream's stream. `accounted`: all answers that have begun have ended, none is expected to begin, and
 * the usage has come. `terminated`: the format's own terminator came; nothing that matters follows, though the body may
 * not have ended. `failed`: see `failure`.
 */
export type StreamStage = 'running' | 'accounted' | 'terminated' | 'failed'

/** An unsuccessful response, and the parts of the request that help to explain it. */
export interface UpstreamErrorResponse {
  status: number
  headers: ResponseHeaders
  body: Uint8Array
  /** The model as the caller named it, for messages. */
  requestedModel: string
  /** The requested model's names, here and at its provider; they are not secrets. */
  modelNames?: readonly string[]
  /** Contract names of the parameters that were sent; only these may be named as the parameter at fault. */
  parameterNames: readonly string[]
}

/** A successful response that was read to its end. */
export interface UpstreamReply {
  headers: ResponseHeaders
  bytes: Uint8Array
}

/** Why an attempt failed, and whether another may follow. */
export interface UpstreamFailure {
  error: GatewayError
  /** Another endpoint may succeed. */
  retryElsewhere: boolean
  /** The same endpoint may succeed after a moment. */
  retrySame: boolean
  /** The credential is at fault: take the deployment out until the operator acts. */
  credentialFault: boolean
  /** The wait that the provider named, in milliseconds; null when it named none. */
  retryAfterMs: number | null
}
