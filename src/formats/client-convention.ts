import type { Availability, GatewayError } from '../core/errors.ts'

/** An error that is the whole answer, and what its envelope tells of the call. */
export interface ShownError {
  error: GatewayError
  /** The HTTP status it goes out with, which may be another than the error's own. */
  status: number
  /** The call's id; null where none began. */
  generationId: string | null
}

/** The body of an error that is the whole answer. */
export type WriteError = (shown: ShownError) => Readonly<Record<string, unknown>>

/** What clients of a format expect around the answers themselves. */
export interface ClientConvention {
  writeError: WriteError
  /** The lower-case header in which they look for the request's id, besides the gateway's own; null for none. */
  requestIdHeader: string | null
  /** Whether they send their key in `x-api-key`. */
  acceptsApiKeyHeader: boolean
}

/** The contract's envelope: `code` equals the HTTP status, both members always present. */
export function writeContractError({ error, status }: ShownError): Record<string, unknown> {
  return { error: contractErrorOf(error, status) }
}

/** What stands in the contract's envelope, of which other formats' envelopes have the members too. */
export function contractErrorOf(error: GatewayError, status: number): Record<string, unknown> {
  return {
    code: status,
    message: error.message,
    ...(error.param === null ? {} : { param: error.param }),
    error_type: error.contractType,
    metadata: { error_type: error.contractType, ...error.metadata },
    ...(error.availability === null ? {} : { availability: availabilityOf(error, error.availability) }),
  }
}

/** With what the contract wants besides: where to read on, and how long to wait. */
function availabilityOf(
  { retryAfterSeconds: seconds }: GatewayError,
  availability: Availability,
): Record<string, unknown> {
  return {
    ...availability,
    docs_url: '/docs',
    ...(seconds === null ? {} : { retry_after: Math.max(1, Math.ceil(seconds)) }),
  }
}

/** The contract's own, for every route whose operation has no other. */
export const contractConvention: ClientConvention = {
  writeError: writeContractError,
  requestIdHeader: null,
  acceptsApiKeyHeader: false,
}
