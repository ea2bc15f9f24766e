import { type ApiStyle, openAiStyle } from '../api-style.ts'
import type { ApiError } from '../errors.ts'

/** A provider that takes keys as OpenAI does and words its refusals in its own way. */
export function bearerStyle(
  errorBody: (error: ApiError, key: string) => unknown,
  headers: ApiStyle['headers'] = openAiStyle.headers,
): ApiStyle {
  return { ...openAiStyle, headers, errorBody: (error, key) => JSON.stringify(errorBody(error, key)) }
}
