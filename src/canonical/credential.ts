import type { RequestAdditions, UpstreamAuth } from './endpoint.ts'

/**
 * What a call authenticates with at its provider, and what is added to its requests besides. Chosen when a call is
 * prepared. Any value in it may be a secret: what is shown or stored of it is its reference.
 */
export interface Credential {
  reference: CredentialReference
  auth: UpstreamAuth
  additions?: RequestAdditions
}

/** Names a credential without its secret. */
export interface CredentialReference {
  /** `operator:` and a deployment's id for the operator's own; `caller` for a login of the caller's that is only passed on. */
  id: string
  /** The provider bills somebody else than the operator: the call costs no credits. */
  isByok: boolean
}

/** Where requests go, and with what they authenticate there. */
export interface UpstreamTarget {
  /** Without a trailing slash. */
  baseUrl: string
  credential: Credential
}
