import { askerFields, type Logger } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { HttpLog } from './http-dependencies.ts'

/** Where the edge tells of its requests: a line and a count each. */
export function createHttpLog({ log, metrics }: { log: Logger; metrics: Metrics }): HttpLog {
  return {
    request: (line) => {
      log.request(line)
      metrics.recordRequest(line)
    },
    failure: (error, { requestId, route, asker, facts }) =>
      log.warn('request failed', {
        request_id: requestId,
        route,
        ...askerFields(asker),
        cause: error,
        said: facts.tried.findLast(({ said }) => said !== null)?.said,
      }),
  }
}
