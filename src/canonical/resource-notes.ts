import type { UpstreamReply, UpstreamRequest } from './upstream.ts'

/**
 * A note about something that a request creates at its provider and that stays there: a job, a file. The note is written
 * before the request is sent, so that the thing is removed even if the call fails or this process dies.
 */
export interface ResourceIntent {
  /** The kind of thing, such as `assemblyai.transcript`; stored, so a used name must keep its meaning. */
  kind: string
  /**
   * A mark that the provider's listing shows, to find the thing when the reply with its id never came. It is stored, so it
   * is never a secret or a caller's address. Null when the listing cannot tell.
   */
  marker: string | null
  /** Kinds of things that the same attempt created before, and that the provider removes together with this one. */
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
  /** The creation time of its oldest entry; null when it has none or does not tell. */
  oldestAtMs: number | null
  /** The parameter for the next page, of older entries; null on the last page. */
  older: string | null
}

/** How a provider's listing of one kind is read. */
export interface ResourceListing {
  /** The request for the newest page with null, else for the page that `older` names. */
  request(older: string | null): UpstreamRequest
  /** Throws `provider_failed` when this is no listing. */
  read(reply: UpstreamReply, marker: string): ResourcePage
}

/** How to identify, find and remove one kind of thing, at any time and by any process. Pure. */
export interface ResourceKind {
  /** The id in the reply to the creating request; null when the reply names none, which means that nothing was created. */
  readId(reply: UpstreamReply): string | null
  /**
   * The request that removes it; null when the provider documents none. A 404 or 410 means that the resource no longer
   * exists.
   */
  remove: ((id: string) => UpstreamRequest) | null
  /** Further statuses of that request's answer that mean the thing does nothing any more; absent when there are none. */
  isGone?(status: number): boolean
  /** How to find a thing whose id is not known; null when the provider has no listing. */
  listing: ResourceListing | null
  /** What its removal itself makes at the provider, as a cancelled job has files of results; absent where it makes nothing. */
  remains?: ResourceRemains
}

/** How the things are found and removed that the removal of another thing makes. */
export interface ResourceRemains {
  look(id: string): UpstreamRequest
  /** The requests that remove them; null while they are still being made. Throws `provider_failed` for an unreadable reply. */
  read(reply: UpstreamReply): readonly UpstreamRequest[] | null
  /** Further statuses of those requests' answers that mean that there is nothing to remove; absent when there are none. */
  isGone?(status: number): boolean
}
