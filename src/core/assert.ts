/**
 * Asserts an invariant. A failure is a bug in the gateway and becomes a 500 with a request id. The message is a constant
 * where calls pass by: it would be put together at each call.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** A broken invariant. Never control flow. */
export class AssertionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'AssertionError'
  }
}
