import type { KeyId, MemberId, OrganizationId, WorkspaceId } from '../core/ids.ts'

/** Rules of an organization or key, stored as rows, meaning what they say for every call on every path. */
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

/** What the rules of organization and key together mean for a call: both allow-lists count, prohibitions add up. */
export interface Constraints extends Policy {
  /**
   * The key's list of providers where its organization has one too. A provider goes by several names, so that only an
   * endpoint can tell whether both lists mean it.
   */
  allowedProvidersOfKey?: readonly string[]
  /** The same of models: one list may have a name of the operator's, the other a model behind it. */
  allowedModelsOfKey?: readonly string[]
}

/** A rate in requests per minute; null means unlimited. */
export interface Rates {
  requestsPerMinute: number | null
  batchesPerMinute: number | null
  /** Tokens of live calls, input and output together. */
  tokensPerMinute: number | null
}

/** Who asks. Loaded from a key, immutable, cached for a second or two; never holds the secret itself. */
export interface Principal {
  organizationId: OrganizationId
  /** Where the key belongs: every key is in one workspace of its organization. */
  workspaceId: WorkspaceId
  /** The member of the organization whose key it is; null for one that no member made. */
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
  /** When that limit was set, or got the reset it has; Unix milliseconds. What was spent in the window before counts. */
  keyLimitSinceMs: number
  isFilteredModelCatalogEnabled: boolean
}
