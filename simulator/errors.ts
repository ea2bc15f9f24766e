import type { JsonObject } from './json.ts'

/** The members of OpenAI's error; `param` and `code` are null where OpenAI sends null. */
interface ApiErrorOptions {
  status: number
  message: string
  type?: string
  param?: string | null
  code?: string | null
  /** Further members of Anthropic's envelope. */
  details?: JsonObject
}

/** A refusal in OpenAI's envelope. Thrown by handlers, rendered in one place. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  readonly param: string | null
  readonly code: string | null
  readonly details: JsonObject | undefined

  constructor(options: ApiErrorOptions) {
    super(options.message)
    this.name = 'ApiError'
    this.status = options.status
    this.type = options.type ?? 'invalid_request_error'
    this.param = options.param ?? null
    this.code = options.code ?? null
    this.details = options.details
  }
}

/** A 400 that names the member at fault. */
export function invalidRequest(
  message: string,
  param: string | null = null,
  code: string | null = null,
): ApiError {
  return new ApiError({ status: 400, message, param, code })
}

/** A 400 for a member that the operation does not know. */
export function unknownParameter(param: string): ApiError {
  return invalidRequest(`Unknown parameter: '${param}'.`, param, 'unknown_parameter')
}

/** The 404 for a model that is not served, or not by this operation. */
export function modelNotFound(model: string): ApiError {
  return new ApiError({
    status: 404,
    message: `The model '${model}' does not exist or is not available to you.`,
    param: null,
    code: 'model_not_found',
  })
}

/** OpenAI's error body. */
export function errorBody(error: ApiError): string {
  const { message, type, param, code } = error
  return JSON.stringify({ error: { message, type, param, code } }, null, 2)
}
