import type { UpstreamReply, UpstreamRequest } from './upstream.ts'

/**
 * What a request is about to make at its provider and what stays there afterwards: a job, a file. It is written down before
 * the request is sent, so that it is removed whatever becomes of the call or of this process.
 */
export interface ResourceIntent {
  /** What it is, such as `assemblyai.transcript`; stored, so that a name once used keeps its meaning. */
  kind: string
  /**
   * What the provider's listing shows of it, by which it is found when the reply that names its id never came; stored, and
   * therefore never a secret or an address of a caller's. Null where nothing finds it.
   */
  marker: string | null
  /** Kinds of what the same attempt has made before and what the provider removes together with this. */
  takesIn?: readonly string[]
}

/** One entry of a provider's listing that fits a marker. */
export interface FoundResource {
  id: string
  /** Epoch milliseconds by the provider's clock; null where the listing does not say. */
  createdAtMs: number | null
}

/** A page of a provider's listing, as far as it matters to one marker. */
export interface ResourcePage {
  found: readonly FoundResource[]
  /** When the oldest of all its entries was made; null when it has none or does not say. */
  oldestAtMs: number | null
  /** What the next page, of older ones, is asked with; null when this is the last. */
  older: string | null
}

/** How a provider's listing of one kind is read. */
export interface ResourceListing {
  /** Asks for the newest page with null, else for the one that `older` names. */
  request(older: string | null): UpstreamRequest
  /** Throws `provider_failed` when this is no listing. */
  read(reply: UpstreamReply, marker: string): ResourcePage
}

/** What can be done about one kind of resource, at any time and by any process. Pure. */
export interface ResourceKind {
  /** The id in the reply of the request that makes it; null when the reply names none, and then nothing was made. */
  readId(reply: UpstreamReply): string | null
  /** The request that removes it; null where the provider documents no such call. 404 and 410 say that it is gone. */
  remove: ((id: string) => UpstreamRequest) | null
  /** How one is found whose id is not known; null where the provider lists none. */
  listing: ResourceListing | null
}
