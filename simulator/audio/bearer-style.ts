import { type ApiStyle, openAiStyle } from '../api-style.ts'
import type { ApiError } from '../errors.ts'

/** The style of a provider that takes bearer keys, as OpenAI does, but has its own form of refusals. */
export function bearerStyle(
  errorBody: (error: ApiError, key: string) => unknown,
  headers: ApiStyle['headers'] = openAiStyle.headers,
): ApiStyle {
  return { ...openAiStyle, headers, errorBody: (error, key) => JSON.stringify(errorBody(error, key)) }
}
