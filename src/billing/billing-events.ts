/** A mishap of which somebody should hear. After `call_lost` comes `call_freed` once the database says that nobody pays. */
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

/** Hears of mishaps. A caller who is refused waits a moment for the promise that it gives for `call_lost`, if it does. */
export type Report = (event: BillingEvent) => unknown
