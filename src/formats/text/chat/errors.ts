import { keepAliveComment, type StreamFrames } from '../halves.ts'
import type { ClientConvention, ShownError } from '../../client-convention.ts'

/** OpenAI's words for what went wrong, by status; others are `invalid_request_error` below 500 and `server_error` from there. */
const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** OpenAI's codes where its clients look for one. */
const codeOfType: Readonly<Record<string, string>> = {
  authentication: 'invalid_api_key',
  payment_required: 'insufficient_quota',
  rate_limit_exceeded: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
  context_length_exceeded: 'context_length_exceeded',
}

/**
 * OpenAI's envelope: `type`, `param` and `code` are always there, the latter two null where there is nothing to say. What
 * the contract tells besides stands in `metadata`.
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

/** What clients that were made for OpenAI expect, at the address that is theirs. */
export const openAiConvention: ClientConvention = {
  writeError: writeOpenAiError,
  requestIdHeader: null,
  acceptsApiKeyHeader: false,
}

/** What a stream shows that nobody has begun. */
export const chatFrames: StreamFrames = {
  keepAlive: keepAliveComment,
  writeError(error, { generationId, model, created }) {
    const frame = {
      id: generationId,
      object: 'chat.completion.chunk',
      created,
      model,
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      error: { code: error.status, message: error.message, metadata: { error_type: error.contractType } },
    }
    return `data: ${JSON.stringify(frame)}\n\n`
  },
}
