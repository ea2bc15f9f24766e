import type { KeyId, MemberId, OrganizationId, SessionId, WorkspaceId } from '../core/ids.ts'

/** Rules of an organization or key, stored as rows; they apply to every call on every path. */
export interface Policy {
  /** Model ids, and names of the operator's own, that may be used; null means all. */
  allowedModels: readonly string[] | null
  ignoredModels: readonly string[]
  /** Provider slugs that may be used; null means all. */
  allowedProviders: readonly string[] | null
  ignoredProviders: readonly string[]
  /** Only endpoints with zero data retention. */
  requireZdr: boolean
  /** Only endpoints that neither store nor train on data. */
  denyDataCollection: boolean
}

/** The rules of organization and key together, for a call: a model must be in both allow-lists, and prohibitions add up. */
export interface Constraints extends Policy {
  /**
   * The key's list of providers, when its organization has a list too. A provider has several names, so whether both
   * lists mean it can be decided only for an endpoint.
   */
  allowedProvidersOfKey?: readonly string[]
  /** The key's list of models: one list may name an operator's own name, the other a model behind it. */
  allowedModelsOfKey?: readonly string[]
}

/** A rate in requests per minute; null means unlimited. */
export interface Rates {
  requestsPerMinute: number | null
  batchesPerMinute: number | null
  /** Tokens of live calls, input and output together. */
  tokensPerMinute: number | null
}

/** All roles; a later one may do all that an earlier one may. */
export const roles = ['viewer', 'member', 'admin'] as const

/** What a person may do in an organization. */
export type Role = (typeof roles)[number]

/** Whoever signed in, and in which session. */
export interface Person {
  memberId: MemberId
  role: Role
  sessionId: SessionId
}

/**
 * The owner of a request. Loaded from a key or from a session, immutable; never holds a secret. One of a key is cached for
 * a second or two.
 */
export interface Principal {
  organizationId: OrganizationId
  /** Where the key belongs: every key is in one workspace of its organization. */
  workspaceId: WorkspaceId
  /** The member of the organization that made the key; null when no member did. */
  memberId: MemberId | null
  keyId: KeyId
  /** 64 hex digits, SHA-256 of the secret. */
  keyHash: string
  keyKind: 'inference' | 'management'
  accountMode: 'prepaid' | 'tracked'
  constraints: Constraints
  rates: { organization: Rates; key: Rates }
  /** The key's own spending limit; null means none. */
  keyLimitNanocredits: bigint | null
  keyLimitReset: 'daily' | 'weekly' | 'monthly' | null
  /** When that limit was set, or got its present reset; Unix milliseconds. Spending earlier in the same window counts. */
  keyLimitSinceMs: number
  isFilteredModelCatalogEnabled: boolean
  /**
   * The signed-in person of a session; absent for the principal of a key. What a session may do is decided by the person's
   * role and not by `keyKind`; its key is the person's own, which pays for the calls of the session.
   */
  person?: Person
}
