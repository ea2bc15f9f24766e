import type { BodyPieces } from '../core/body.ts'
import type { UpstreamTarget } from '../canonical/credential.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'
import { authHeaders } from './credentials.ts'

/** The headers of a request, apart from those about its body and its connection; a later one replaces an earlier one. */
export function requestHeaders(request: UpstreamRequest, target: UpstreamTarget): Record<string, string> {
  return {
    // A compressed answer would only be unpacked here to be read or packed again, and bandwidth to providers is not scarce.
    'accept-encoding': 'identity',
    'user-agent': 'headrace',
    ...request.headers,
    ...authHeaders(request, target),
    ...target.credential.additions?.headers,
  }
}

/** Whether a body is in memory, and not made while it is sent. */
export function isWholeBody(body: UpstreamRequest['body']): body is BodyPieces {
  return Array.isArray(body)
}
