import { ApiError } from '../../errors.ts'
import { lettersOf } from '../../random.ts'

export function refused(message: string, status = 400): ApiError {
  return new ApiError({ status, message })
}

/** The header with the id of the call. */
export function generationId(kind: 'stt' | 'tts', key: string): Record<string, string> {
  return { 'x-generation-id': `gen-${kind}-1763800000-${lettersOf(`generation ${key}`, 20)}` }
}
