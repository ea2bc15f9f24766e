/**
 * Expected failures. The layer that knows the reason throws a GatewayError, and the HTTP layer renders it; no layer
 * between wraps it again. The type knows nothing of HTTP: only `statusOf` and `contractTypeOf` relate types to statuses
 * and to the contract's `error_type` values.
 */
const statusOf = {
  invalid_request: 400,
  upload_broken: 400,
  context_length_exceeded: 400,
  max_tokens_exceeded: 400,
  string_too_long: 400,
  content_policy_violation: 400,
  model_not_found: 400,
  authentication: 401,
  payment_required: 402,
  permission_denied: 403,
  not_found: 404,
  no_matching_endpoint: 404,
  conflict: 409,
  payload_too_large: 413,
  unprocessable: 422,
  unfit_answer: 422,
  no_socket: 426,
  rate_limit_exceeded: 429,
  upstream_rate_limited: 429,
  quota_used_up: 429,
  internal: 500,
  settings_unavailable: 500,
  provider_failed: 502,
  batch_unavailable: 502,
  upstream_cleanup_failed: 502,
  no_healthy_endpoint: 503,
  storage_unavailable: 503,
  shutting_down: 503,
  gateway_overloaded: 503,
  balance_set_aside: 503,
  deadline: 504,
  provider_timeout: 524,
  provider_overloaded: 529,
  batch_expired: 408,
  batch_cancelled: 409,
} as const satisfies Record<string, number>

/** Stable, finer than the contract's `error_type`. */
export type ErrorType = keyof typeof statusOf

const contractTypeOf = {
  invalid_request: 'invalid_request',
  upload_broken: 'invalid_request',
  context_length_exceeded: 'context_length_exceeded',
  max_tokens_exceeded: 'max_tokens_exceeded',
  string_too_long: 'string_too_long',
  content_policy_violation: 'content_policy_violation',
  model_not_found: 'invalid_request',
  authentication: 'authentication',
  payment_required: 'payment_required',
  permission_denied: 'permission_denied',
  not_found: 'not_found',
  no_matching_endpoint: 'not_found',
  conflict: 'precondition_failed',
  payload_too_large: 'payload_too_large',
  unprocessable: 'unprocessable',
  no_socket: 'invalid_request',
  unfit_answer: 'unprocessable',
  rate_limit_exceeded: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
  quota_used_up: 'rate_limit_exceeded',
  internal: 'server',
  settings_unavailable: 'server',
  provider_failed: 'provider_unavailable',
  batch_unavailable: 'provider_unavailable',
  upstream_cleanup_failed: 'provider_unavailable',
  no_healthy_endpoint: 'provider_overloaded',
  storage_unavailable: 'provider_overloaded',
  shutting_down: 'provider_overloaded',
  // The contract's `error_type` for 503 would blame a provider, but none was asked.
  gateway_overloaded: 'server',
  balance_set_aside: 'server',
  deadline: 'timeout',
  provider_timeout: 'timeout',
  provider_overloaded: 'provider_overloaded',
  batch_expired: 'timeout',
  batch_cancelled: 'precondition_failed',
} as const satisfies Record<ErrorType, string>

/** The optional members of an error. */
export interface GatewayErrorOptions {
  /** For the log only; never shown to the caller. */
  cause?: unknown
  /** The request field at fault, as the caller wrote it, such as `requests[3].custom_id`. */
  param?: string
  /** Seconds after which trying again may help; rendered as `Retry-After`. */
  retryAfterSeconds?: number
  /** The gateway's own limit that refused the call; rendered as `X-RateLimit-*`. Never set for a provider's limit. */
  rateLimit?: RateLimit
  /** Why no model could be served, in the contract's form. */
  availability?: Availability
  /** Additional machine-readable facts for the caller; listed members only, never upstream text. */
  metadata?: Record<string, unknown>
}

/** A used-up limit: the number of calls it allows, and when it allows the next, in Unix milliseconds. */
export interface RateLimit {
  limit: number
  resetAtMs: number
}

/** Why no model could be served; members and values are the contract's. */
export interface Availability {
  code:
    | 'model_not_found'
    | 'no_endpoints'
    | 'privacy_restricted'
    | 'constraint_filtered'
    | 'capacity_exhausted'
    | 'temporarily_unavailable'
  /** Whether the same request may be served later. */
  retryable: boolean
  requested_models: readonly string[]
  excluded_by?: string
  /** Display names of the providers that were tried. */
  affected_providers?: readonly string[]
}

/** An expected failure with a stable type and a message for the caller. */
export class GatewayError extends Error {
  readonly type: ErrorType
  readonly param: string | null
  readonly retryAfterSeconds: number | null
  readonly rateLimit: RateLimit | null
  readonly availability: Availability | null
  readonly metadata: Record<string, unknown> | null

  constructor(type: ErrorType, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GatewayError'
    this.type = type
    this.param = options.param ?? null
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
    this.rateLimit = options.rateLimit ?? null
    this.availability = options.availability ?? null
    this.metadata = options.metadata ?? null
  }

  /** The same failure with other or additional members. */
  with(more: GatewayErrorOptions): GatewayError {
    const { param, retryAfterSeconds, rateLimit, availability } = this
    return new GatewayError(this.type, this.message, {
      cause: this.cause,
      ...(param === null ? {} : { param }),
      ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
      ...(rateLimit === null ? {} : { rateLimit }),
      ...(availability === null ? {} : { availability }),
      ...more,
      metadata: { ...this.metadata, ...more.metadata },
    })
  }

  /** The HTTP status of this failure. */
  get status(): number {
    return statusOf[this.type]
  }

  /** The contract's canonical `error_type`, stable across formats. */
  get contractType(): string {
    return contractTypeOf[this.type]
  }
}

/** A type as callers see it: its status and the contract's name for it. */
export function shownType(type: ErrorType): { code: number; error_type: string } {
  return { code: statusOf[type], error_type: contractTypeOf[type] }
}

/** The HTTP status of a type of error that was kept as a word; that of an internal failure for a word that is none. */
export function statusOfWord(word: string): number {
  return Object.entries(statusOf).find(([type]) => type === word)?.[1] ?? statusOf.internal
}

/** All types with their status, for the documentation test. */
export function listErrorTypes(): { type: ErrorType; status: number; contractType: string }[] {
  return (Object.keys(statusOf) as ErrorType[]).map((type) => ({
    type,
    status: statusOf[type],
    contractType: contractTypeOf[type],
  }))
}

/**
 * Any thrown value as a GatewayError. A value of another kind is a bug and becomes `internal`, with the original as
 * cause.
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return new GatewayError('internal', 'Internal server error.', { cause: thrown })
}

/** An `invalid_request` about one field: its path, what is wrong with it, and what to do. */
export function fieldError(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `"${param}" ${problem}`, { param })
}
