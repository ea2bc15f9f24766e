import type { Credential } from '../../canonical/credential.ts'
import type { Deployment } from '../../canonical/endpoint.ts'

/** The id of a caller's own login, in usage rows and stored calls. */
export const callerCredentialId = 'caller'

const callerReference = { id: callerCredentialId, isByok: true }

/**
 * A caller's own login at the provider, such as the subscription of a coding agent: it only passes through, for this one
 * call. Null where the call has none, or where the deployment takes none.
 */
export function callerCredential(
  { callerLogins }: Deployment,
  login: string | null | undefined,
): Credential | null {
  if (!login || !callerLogins) return null
  return {
    reference: callerReference,
    auth: { type: 'header', name: 'authorization', prefix: 'Bearer ', secret: login },
    additions: { headers: callerLogins.headers, query: {} },
  }
}
