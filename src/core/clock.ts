/** The source of time. Tests pass their own. */
export interface Clock {
  /** Wall clock, Unix milliseconds; may jump. For timestamps shown to people, never for durations. */
  nowMs(): number
  /** Monotonic milliseconds with a fraction; for durations, deadlines and lease arithmetic. */
  monotonicMs(): number
}

/** The machine's clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
