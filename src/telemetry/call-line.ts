/** The end of one attempt at a deployment. `cancelled`: the caller left first, which says nothing about the provider. */
export interface AttemptLine {
  deployment: string
  /** A model of the catalog, never the caller's text. */
  model: string
  /** Status of the provider's answer; null when there was none. */
  status: number | null
  outcome: 'answered' | 'failed' | 'cancelled'
  errorType: string | null
  /**
   * The provider's own words, bounded; without the caller's text, and without anything that looks like a secret unless it
   * is a model's name. Null when the provider said nothing.
   */
  said: string | null
}

/**
 * What the log of requests keeps of a call beyond its line: read once, when the request has ended. It is the call's own
 * state, so a call without a log pays nothing for it.
 */
export interface CallStory {
  readonly call: { readonly sessionId: string | null; readonly userId: string | null }
  /** Times are milliseconds since the call began; null when a stage was not reached. */
  readonly attempts: readonly {
    readonly endpoint: { readonly deployment: { readonly provider: string; readonly providerName: string } }
    readonly startedMs: number
    readonly headersMs: number | null
    readonly firstTokenMs: number | null
    readonly endedMs: number | null
    /** Of the provider's answer; null when there was none. */
    readonly status: number | null
    readonly line: AttemptLine
  }[]
  /** Endpoints that were left out, and why. */
  readonly excluded: readonly { provider: string; model: string; step: string; reason: string }[]
  /** Null when the call was refused before money was set aside. */
  readonly prepared: {
    readonly isStreamed: boolean
    readonly hold: { readonly amountNanocredits: bigint }
  } | null
}

/** The facts about a call that has ended. Numbers and names only: no content, no secret, no address. */
export interface CallLine {
  generationId: string | null
  operation: string | null
  /** As the caller named it, until the first attempt; then the model of the catalog that was asked last. */
  model: string | null
  /** Display name of the provider that answered. */
  provider: string | null
  attempts: number
  /** Every attempt in order, also of a call without an answer. */
  tried: AttemptLine[]
  inputTokens: number
  /** Of them, those that the provider read from its prompt cache. */
  cachedInputTokens: number
  outputTokens: number
  /** Null when nothing was charged or no price was known. */
  costNanocredits: bigint | null
  isEstimated: boolean
  /** Usage above the hold that no balance or limit covered, and that is charged to no caller; 0 for nearly all calls. */
  uncoveredNanocredits: bigint
  isCancelled: boolean
  /** Milliseconds from the request to the first byte; null when there was none. */
  firstByteMs: number | null
  errorType: string | null
  /** Null when the request failed before it was a call. */
  story: CallStory | null
}

/** The sender of a request, as far as it is known: never the key itself. */
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
