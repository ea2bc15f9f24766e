/** What is known of a call once it has ended. Numbers and names only: no content, no secret, no address. */
export interface CallLine {
  generationId: string | null
  operation: string | null
  model: string | null
  /** Display name of the provider that answered. */
  provider: string | null
  attempts: number
  inputTokens: number
  outputTokens: number
  /** Null when nothing was charged or no price was known. */
  costNanocredits: bigint | null
  isEstimated: boolean
  isCancelled: boolean
  /** Milliseconds from the request to the first byte; null when there was none. */
  firstByteMs: number | null
  errorType: string | null
}

/** One request that has ended, for its log line and for the metrics. */
export interface RequestLine {
  requestId: string
  /** Name of the route, one of few; never the path as it was sent. */
  route: string
  status: number
  durationMs: number
  facts: CallLine
}
