import { type ApiStyle, bearerKeyOf } from '../../api-style.ts'
import { ApiError } from '../../errors.ts'
import type { JsonObject } from '../../json.ts'

/** Rev AI's errors by status: the title of a problem. */
const usual: Readonly<Record<number, string>> = {
  400: "Your request parameters didn't validate",
  401: 'Authorization has been denied for this request',
  403: 'You do not have permission to access this deployment',
  404: 'could not find job',
  409: 'Job is in invalid state',
  413: 'The media is too large',
  429: 'Too many requests',
  500: 'Internal server error',
}

const outOfCredit = 'https://www.rev.ai/api/v1/errors/out-of-credit'

/** A refusal in Rev AI's form; `details` are further members. */
export function refusal(
  status: number,
  title = usual[status] ?? `Status ${status}`,
  details?: JsonObject,
): ApiError {
  return new ApiError({ status, message: title, ...(details === undefined ? {} : { details }) })
}

/** The refusal of a wrong option; Rev AI names the option and the reason. */
export function wrongOption(name: string, why: string): ApiError {
  return refusal(400, usual[400], { parameters: { [name]: [why] } })
}

/** How Rev AI takes keys and words refusals. */
export const revAiStyle: ApiStyle = {
  authenticate({ authorization }) {
    const key = bearerKeyOf(authorization)
    if (key === null || key.startsWith('bad-key')) throw refusal(401)
  },
  errorBody: ({ status, message, details }) => JSON.stringify({ ...details, title: message, status }),
  // Rev AI answers 403 to an account without credit.
  errorOf: ({ status, kind, message }) =>
    status === 402
      ? refusal(403, "You don't have enough credits", { type: outOfCredit, current_balance: 0 })
      : refusal(status ?? (kind === 'overloaded' ? 503 : 400), message),
  headers: () => ({}),
}
