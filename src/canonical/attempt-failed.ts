import type { UpstreamFailure } from './upstream.ts'

/**
 * Thrown when an attempt's provider failed; `failure` tells whether another attempt may help. Readers of answers throw it
 * too, for an error inside a response with a success status.
 */
export class AttemptFailed extends Error {
  readonly failure: UpstreamFailure

  constructor(failure: UpstreamFailure) {
    super(failure.error.message)
    this.failure = failure
  }
}
