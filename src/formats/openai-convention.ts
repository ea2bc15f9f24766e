import type { ClientConvention, ShownError } from './client-convention.ts'

/**
 * OpenAI's error types, by status; for other statuses `invalid_request_error` below 500 and `server_error` from 500.
 */
const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** OpenAI's error codes, for the errors where its clients read one. */
const codeOfType: Readonly<Record<string, string>> = {
  authentication: 'invalid_api_key',
  payment_required: 'insufficient_quota',
  rate_limit_exceeded: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
  quota_used_up: 'rate_limit_exceeded',
  context_length_exceeded: 'context_length_exceeded',
}

/**
 * OpenAI's envelope: `type`, `param` and `code` are always present, the latter two null when they do not apply. The
 * contract's other members go into `metadata`.
 */
function writeOpenAiError({ error, status }: ShownError): Record<string, unknown> {
  const isUnknownModel = (status === 404 || status === 400) && error.param === 'model'
  return {
    error: {
      message: error.message,
      type: typeOfStatus[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
      param: error.param,
      code: isUnknownModel ? 'model_not_found' : (codeOfType[error.type] ?? null),
      metadata: { error_type: error.contractType, ...error.metadata },
    },
  }
}

/** The convention of clients made for OpenAI, at the address that they use (`/openai/v1`), for audio too. */
export const openAiConvention: ClientConvention = {
  writeError: writeOpenAiError,
  requestIdHeader: null,
  acceptsApiKeyHeader: false,
}
