import { ApiError } from '../../errors.ts'

/** A refusal with ElevenLabs' own word for it. */
export function refusal(status: number, code: string, message: string): ApiError {
  return new ApiError({ status, code, message })
}

/** Checks before any work refuse field by field. */
export function invalidField(name: string, message: string): ApiError {
  return new ApiError({ status: 422, param: name, message, type: 'value_error' })
}
