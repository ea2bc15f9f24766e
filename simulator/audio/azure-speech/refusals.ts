import { ApiError } from '../../errors.ts'
import type { Refusal } from '../speech-api.ts'

/**
 * By status. The documentation names the members of a refusal but no codes; here each code is the name of its status.
 */
export const usual: Readonly<Record<number, Refusal>> = {
  400: { code: 'BadRequest', message: 'The request is not valid.' },
  401: { code: 'Unauthorized', message: 'The subscription key is missing or not valid.' },
  403: { code: 'Forbidden', message: 'The resource must not be used in this way.' },
  404: { code: 'NotFound', message: 'The resource was not found.' },
  429: { code: 'TooManyRequests', message: 'There are too many requests.' },
  500: { code: 'InternalServerError', message: 'The service failed.' },
  503: { code: 'ServiceUnavailable', message: 'The service is not available at present.' },
}

/** The refusal of a form. */
export function refusal(message: string): ApiError {
  return new ApiError({ status: 400, code: 'BadRequest', message })
}
