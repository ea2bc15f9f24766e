/**
 * A mishap for the log or an alert. `call_freed` follows `call_lost` once the database confirms that the caller pays
 * nothing.
 */
export interface BillingEvent {
  type:
    | 'dead_letter'
    | 'captures_failing'
    | 'captures_recovered'
    | 'capture_refused'
    | 'call_lost'
    | 'call_freed'
    | 'refund_failed'
    | 'maintenance_failed'
  /** For the log; never shown to callers. */
  cause?: unknown
  generationId?: string
}

/** Receives mishaps. It may return a promise for `call_lost`; the refused caller gets its error after that promise, or after a short bound. */
export type Report = (event: BillingEvent) => unknown
