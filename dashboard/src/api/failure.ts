/** An answer that is not 2xx, or none: what a panel shows of it. */
export class ApiFailure extends Error {
  readonly status: number
  /** The stable type, such as `payment_required`; `network` when no answer came. */
  readonly type: string
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  /** The field that is wrong, where the API names one. */
  readonly param: string | null
  readonly metadata: Readonly<Record<string, unknown>>

  constructor(given: {
    status: number
    type: string
    message: string
    requestId?: string | null
    retryAfterMs?: number | null
    param?: string | null
    metadata?: Readonly<Record<string, unknown>>
  }) {
    super(given.message)
    this.name = 'ApiFailure'
    this.status = given.status
    this.type = given.type
    this.requestId = given.requestId ?? null
    this.retryAfterMs = given.retryAfterMs ?? null
    this.param = given.param ?? null
    this.metadata = given.metadata ?? {}
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

interface Envelope {
  error?: {
    message?: string
    type?: string
    error_type?: string
    param?: string | null
    metadata?: Record<string, unknown>
  }
}

/** What an answer's error envelope says; a body that is none gives the status alone. */
export function toFailure(status: number, headers: Headers, body: string): ApiFailure {
  const error = parseEnvelope(body)?.error
  const inMetadata = error?.metadata?.['error_type']
  const type = error?.error_type ?? (typeof inMetadata === 'string' ? inMetadata : error?.type)
  return new ApiFailure({
    status,
    type: type ?? `http_${status}`,
    message: error?.message ?? `The gateway answered ${status} without a reason.`,
    requestId: headers.get('x-request-id'),
    retryAfterMs: parseRetryAfter(headers.get('retry-after')),
    param: error?.param ?? null,
    metadata: error?.metadata ?? {},
  })
}

/** A request that got no answer. */
export function networkFailure(cause: unknown): ApiFailure {
  const detail = cause instanceof Error && cause.message !== '' ? ` (${cause.message})` : ''
  return new ApiFailure({
    status: 0,
    type: 'network',
    message: `The gateway did not answer${detail}. It may be restarting, or this machine is offline.`,
  })
}

/** Any thrown value as a failure that a panel can show. */
export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ApiFailure({ status: 0, type: 'console', message })
}

function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

function parseEnvelope(body: string): Envelope | null {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
