import { ApiError } from '../../errors.ts'

/** A refusal with ElevenLabs' own code. */
export function refusal(status: number, code: string, message: string): ApiError {
  return new ApiError({ status, code, message })
}

/** The refusal of a form that fails validation, which lists a fault for each field. */
export function invalidField(name: string, message: string): ApiError {
  return new ApiError({ status: 422, param: name, message, type: 'value_error' })
}
