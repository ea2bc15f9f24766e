import type { UpstreamFailure } from './upstream.ts'

/**
 * What an attempt throws when its provider failed: the failure says whether another attempt may help. Readers of answers
 * throw it too, for a failure that stood in an answer with a status of success.
 */
export class AttemptFailed extends Error {
  readonly failure: UpstreamFailure

  constructor(failure: UpstreamFailure) {
    super(failure.error.message)
    this.failure = failure
  }
}
