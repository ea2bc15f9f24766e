import type { Availability, GatewayError } from '../core/errors.ts'

/** An error that is the whole answer, and the call's data that its envelope shows. */
export interface ShownError {
  error: GatewayError
  /** The HTTP status of the answer; it may differ from the error's own. */
  status: number
  /** The call's id; null when no call began. */
  generationId: string | null
}

/** Makes the body of an error that is the whole answer. */
export type WriteError = (shown: ShownError) => Readonly<Record<string, unknown>>

/**
 * What clients of a format expect besides the body of an answer. The contract's convention stands here, that of
 * `/openai/v1` (audio too) in `openai-convention.ts`, that of `/messages` in its row of `text/operations.ts`.
 */
export interface ClientConvention {
  writeError: WriteError
  /**
   * The lower-case header in which clients look for the request's id, besides the gateway's own header; null for none.
   */
  requestIdHeader: string | null
  /** Whether clients send their key in `x-api-key`. */
  acceptsApiKeyHeader: boolean
}

/** The contract's envelope: `code` equals the HTTP status, both members always present. */
export function writeContractError({ error, status }: ShownError): Record<string, unknown> {
  return { error: contractErrorOf(error, status) }
}

/** The members of the contract's envelope; the envelopes of other formats have them too. */
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

/** The availability, with the two members that the contract adds: where to read on, and how long to wait. */
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

/** The contract's convention, used by every route whose operation has no other. */
export const contractConvention: ClientConvention = {
  writeError: writeContractError,
  requestIdHeader: null,
  acceptsApiKeyHeader: false,
}
