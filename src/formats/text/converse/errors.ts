import type { UpstreamErrorResponse, UpstreamFailure } from '../../../canonical/upstream.ts'
import { parseErrorBody } from '../../upstream-error-body.ts'
import { readUpstreamFailure } from '../../upstream-errors.ts'

/** Words of 400 for a model that the account or the region does not have; another provider may. */
const noModel =
  /^the provided model identifier is invalid|^invocation of model id \S+ with on-demand throughput|^(?:the )?model .{0,200} (?:is not supported|not found|does not exist)|^this model version has reached the end of its life/i

/** The statuses that errors should have had: a quota is told with 400. */
const statusOfClass: Readonly<Record<string, number>> = {
  ServiceQuotaExceededException: 429,
  ThrottlingException: 429,
  ModelNotReadyException: 503,
  ModelTimeoutException: 504,
}

/**
 * Why Bedrock refused a call. The class of the error stands in a header, sometimes with an address after it; its own status
 * is not always that of its meaning.
 */
export function readConverseFailure(response: UpstreamErrorResponse): UpstreamFailure {
  const [name = ''] = (response.headers.get('x-amzn-errortype') ?? '').split(':', 1)
  const { message } = parseErrorBody(response.body)
  if (response.status === 400 && noModel.test(message))
    return readUpstreamFailure({ ...response, status: 404 })
  const status = Object.hasOwn(statusOfClass, name)
    ? (statusOfClass[name] ?? response.status)
    : response.status
  return readUpstreamFailure({ ...response, status })
}
