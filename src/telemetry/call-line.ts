/** How one attempt at a deployment ended. `cancelled`: the caller left before its end, which says nothing of the provider. */
export interface AttemptLine {
  deployment: string
  /** A model of the catalog, never the caller's text. */
  model: string
  /** Of the provider's answer; null when there was none. */
  status: number | null
  outcome: 'answered' | 'failed' | 'cancelled'
  errorType: string | null
  /**
   * The provider's own words, bounded, without what looks like a secret and is no model's name, and without what the
   * caller wrote; null when it said nothing.
   */
  said: string | null
}

/** What is known of a call once it has ended. Numbers and names only: no content, no secret, no address. */
export interface CallLine {
  generationId: string | null
  operation: string | null
  /** As the caller named it, until the first attempt; then the model of the catalog that was asked last. */
  model: string | null
  /** Display name of the provider that answered. */
  provider: string | null
  attempts: number
  /** Every attempt in its order, also of a call that nobody answered. */
  tried: AttemptLine[]
  inputTokens: number
  outputTokens: number
  /** Null when nothing was charged or no price was known. */
  costNanocredits: bigint | null
  isEstimated: boolean
  /** What the provider counted above the hold and no balance or limit covered, which nobody is charged; 0 for nearly all. */
  uncoveredNanocredits: bigint
  isCancelled: boolean
  /** Milliseconds from the request to the first byte; null when there was none. */
  firstByteMs: number | null
  errorType: string | null
}

/** Who sent a request, as far as it was found out: never the key itself. */
export interface Asker {
  organizationId: string | null
  keyId: string | null
  /** The forwarded address behind a trusted proxy; empty when unknown. */
  clientAddress: string
}

/** One request that has ended, for its log line and for the metrics. */
export interface RequestLine {
  requestId: string
  /** Name of the route, one of few; never the path as it was sent. */
  route: string
  status: number
  durationMs: number
  asker: Asker
  facts: CallLine
}
