import type { RequestAdditions, UpstreamAuth } from './endpoint.ts'

/**
 * The key with which a call authenticates at its provider, and the additions to its requests. Chosen when a call is
 * prepared. Any value in it may be a secret: show or store only its `reference`.
 */
export interface Credential {
  reference: CredentialReference
  auth: UpstreamAuth
  additions?: RequestAdditions
}

/** Names a credential without its secret. */
export interface CredentialReference {
  /** `operator:` and a deployment's id for the operator's own; `caller` for a caller's login that is only passed on. */
  id: string
  /** The provider bills the key's owner and not the operator, so the call costs no credits. */
  isByok: boolean
}

/** The address that requests go to, and the credential for it. */
export interface UpstreamTarget {
  /** Without a trailing slash. */
  baseUrl: string
  /** Requests to it go through the runtime's own HTTP client; absent where the transport chooses. */
  client?: 'fetch' | undefined
  credential: Credential
}
